//! Platforms without tracing.

use crate::error::{Error, Result};
use crate::result::{ListedFunction, MeasuredFunction, Request};
use std::path::Path;

/// Reports that this platform is not supported.
///
/// # Errors
/// Always.
pub fn measure(_: &Request) -> Result<MeasuredFunction> {
    Err(unsupported())
}

/// Reports that this platform is not supported.
///
/// # Errors
/// Always.
pub fn functions(_: &Path, _: &Path) -> Result<Vec<ListedFunction>> {
    Err(unsupported())
}

fn unsupported() -> Error {
    Error::BadRequest(format!(
        "blocks are traced on x86-64 Linux only, and this is {} {}: counts from elsewhere can be \
         solved with `hairspring fit`",
        std::env::consts::ARCH,
        std::env::consts::OS
    ))
}
