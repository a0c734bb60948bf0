//! Errors of this crate.

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a function cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid.
    #[error("{0}")]
    BadRequest(String),
    /// There is no line of inputs.
    #[error(
        "there are no inputs: give one line of arguments for each run of the program (`--` for \
         none)"
    )]
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
    /// A repeated call took another path.
    #[error("repeat the call: {0}")]
    PathDiffers(String),
    /// No input gave a row.
    #[error("no input can be used; {0}")]
    NoInput(String),
    /// A step failed.
    #[error("{what}: {reason}")]
    System {
        /// What was being done.
        what: String,
        /// The system's error.
        reason: String,
    },
    /// A step was not reached, because the program or the call ended in its own way before.
    #[error("{what}: {reason}")]
    Ended {
        /// What was being done.
        what: String,
        /// How it ended.
        reason: String,
    },
    /// The observations cannot be solved.
    #[error(transparent)]
    Core(#[from] hairspring_core::Error),
    /// The machine does not offer what is needed.
    #[error(transparent)]
    Host(#[from] hairspring_host::Error),
}

impl Error {
    /// The error of a failed step.
    pub fn system(action: &str, reason: impl std::fmt::Display) -> Error {
        Error::System { what: action.to_owned(), reason: reason.to_string() }
    }

    /// The failure of a step as an end before it.
    #[must_use]
    pub fn into_ended(self) -> Error {
        match self {
            Error::System { what, reason } => Error::Ended { what, reason },
            other => other,
        }
    }
}
