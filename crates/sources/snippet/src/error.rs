//! Errors between a piece of source and its observations.

/// Result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, with what was tried, what happened and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A part of the request cannot be understood.
    #[error("{what}: {reason}")]
    BadRequest {
        /// The option.
        what: String,
        /// What is wrong with it and what is expected.
        reason: String,
    },
    /// No working compiler was found.
    #[error(
        "no {language} compiler found (tried {tried}): install one, for instance `apt-get install \
         {package}`, or name it with --cc"
    )]
    NoCompiler {
        /// The language.
        language: &'static str,
        /// The commands that were tried.
        tried: String,
        /// The Debian package that has one.
        package: &'static str,
    },
    /// The compiler refused the code; its own messages.
    #[error("the code does not compile\n{messages}")]
    DoesNotCompile {
        /// The compiler's messages about the user's own lines.
        messages: String,
    },
    /// The compiler ran too long or died.
    #[error("the compiler {0}")]
    CompilerFailed(String),
    /// The code under test ended the child process.
    #[error("{0}")]
    CodeFailed(Failure),
    /// The child process could not be started, or its replies are invalid.
    #[error("the measuring process failed: {0}")]
    Child(String),
    /// The observations cannot be solved.
    #[error(transparent)]
    Core(#[from] hairspring_core::Error),
    /// The machine does not offer the requested clock or CPU.
    #[error(transparent)]
    Host(#[from] hairspring_host::Error),
    /// A file could not be written or read.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// How the code under test ended the measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened: the signal's name, the exit status or the limit.
    pub what: String,
    /// Where it happened: which part of the code was running.
    pub place: String,
    /// A remedy.
    pub hint: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the code under test {} {}", self.what, self.place)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "\n{}", self.hint) }
    }
}

/// Makes an I/O error that says what was being done.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.into();
    move |source| Error::Io { what, source }
}
