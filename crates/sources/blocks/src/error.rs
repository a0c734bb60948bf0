//! What can go wrong: what was asked, what was found, what to do next.

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request itself makes no sense.
    #[error("{0}")]
    BadRequest(String),
    /// There is no line of inputs.
    #[error("there are no inputs: give one line of arguments for each run of the program (`--` for none)")]
    NoLines,
    /// The program cannot be read or started.
    #[error("{program}: {reason}")]
    Program {
        /// The program.
        program: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such function, or more than one.
    #[error("{0}")]
    Function(String),
    /// One input could not be run as far as needed.
    #[error("input {input} ({text}): {reason}")]
    Input {
        /// Number of the input, from 1.
        input: usize,
        /// The input as it was given.
        text: String,
        /// What happened.
        reason: String,
    },
    /// No input gave a row.
    #[error("no input can be used; {0}")]
    NoInput(String),
    /// A call of the system that should not fail did.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        reason: String,
    },
    /// The observations cannot be solved.
    #[error(transparent)]
    Core(#[from] hairspring_core::Error),
    /// The machine does not offer what was asked.
    #[error(transparent)]
    Host(#[from] hairspring_host::Error),
}

impl Error {
    /// A failed call of the system.
    pub fn system(what: &str, reason: impl std::fmt::Display) -> Error {
        Error::System { what: what.to_owned(), reason: reason.to_string() }
    }
}
