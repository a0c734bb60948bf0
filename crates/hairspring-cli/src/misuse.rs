//! Which errors are the command line's: what it asks for makes no sense, or cannot be had on any machine like this one.
//! They end with 2, as clap's own do; what goes wrong with files, code or measurements ends with 1.

use std::error::Error;

/// Options that do not go together, in words.
#[derive(Debug)]
pub struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Misuse {}

/// Whether the error ends with the status of wrong usage.
pub fn is_misuse(error: &(dyn Error + 'static)) -> bool {
    use hairspring_host::Error as Host;
    use hairspring_snippet::Error as Snippet;
    match error.downcast_ref::<Snippet>() {
        Some(Snippet::BadRequest { .. }) => true,
        Some(Snippet::Host(error)) => error.is_bad_request(),
        Some(_) => false,
        None if error.is::<hairspring_blocks::Error>() => match error.downcast_ref() {
            Some(hairspring_blocks::Error::BadRequest(_) | hairspring_blocks::Error::NoLines) => true,
            Some(hairspring_blocks::Error::Host(error)) => error.is_bad_request(),
            _ => false,
        },
        None => error.is::<Misuse>() || error.downcast_ref().is_some_and(Host::is_bad_request),
    }
}
