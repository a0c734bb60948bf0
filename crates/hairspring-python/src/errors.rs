//! Errors of the crates below as Python's exceptions.

use hairspring_core::Error as CoreError;
use hairspring_program::Error as ProgramError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(
    hairspring,
    OptionError,
    PyValueError,
    "An unavailable option: it says which, and why."
);

/// What the caller asked for or gave is a `ValueError`.
pub(crate) fn of_core(error: CoreError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An unavailable option is an [`OptionError`]; a failure while the code ran is a `RuntimeError`.
pub(crate) fn of_program(error: ProgramError) -> PyErr {
    match error {
        ProgramError::Host(error) if error.is_bad_request() => {
            OptionError::new_err(error.to_string())
        }
        other => PyRuntimeError::new_err(other.to_string()),
    }
}
