//! Platforms without tracing.

use crate::error::{Error, Result};
use crate::result::{MeasuredFunction, Request};

/// Reports that this platform is not supported.
///
/// # Errors
/// Always.
pub fn measure(_: &Request) -> Result<MeasuredFunction> {
    Err(Error::BadRequest(format!(
        "blocks are traced on x86-64 Linux only, and this is {} {}: counts from elsewhere can be solved with `hairspring fit`",
        std::env::consts::ARCH,
        std::env::consts::OS
    )))
}
