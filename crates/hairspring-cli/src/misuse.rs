//! Errors of the command line: a request that makes no sense, or that no machine like this one can
//! serve. They exit with 2, as clap's own errors do; failures of files, code or measurements exit
//! with 1.

use std::error::Error;

/// A wrong request, as a message.
#[derive(Debug)]
pub struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Misuse {}

/// Whether the error exits with the status of wrong usage.
pub fn is_misuse(error: &(dyn Error + 'static)) -> bool {
    use hairspring_host::Error as Host;
    use hairspring_snippet::Error as Snippet;
    match error.downcast_ref::<Snippet>() {
        Some(Snippet::BadRequest { .. }) => true,
        Some(Snippet::Host(error)) => error.is_bad_request(),
        Some(_) => false,
        #[cfg(feature = "blocks")]
        None if error.is::<hairspring_blocks::Error>() => match error.downcast_ref() {
            Some(hairspring_blocks::Error::BadRequest(_) | hairspring_blocks::Error::NoLines) => {
                true
            }
            Some(hairspring_blocks::Error::Host(error)) => error.is_bad_request(),
            _ => false,
        },
        None => error.is::<Misuse>() || error.downcast_ref().is_some_and(Host::is_bad_request),
    }
}
