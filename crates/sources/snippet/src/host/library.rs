//! Loading the compiled rows.
#![allow(unsafe_code, reason = "this process exists to call code that was just compiled")]

use super::{Phase, crash};
use crate::source::{SETUP_SYMBOL, symbol};
use hairspring_host::chains::RowFn;
use libloading::Library;

/// Loads a library and finds its rows.
pub fn load(path: &str, rows: u32) -> Result<(Library, Vec<RowFn>), String> {
    crash::enter(Phase::Loading, 0);
    // SAFETY: the library's constructors run here, in a process that has limits and may crash.
    let library = unsafe { Library::new(path) }.map_err(|e| format!("the compiled code cannot be loaded: {}", reason(&e)))?;
    crash::enter(Phase::Instrument, 0);
    let found: Result<Vec<RowFn>, String> = (0..rows as usize)
        .map(|row| {
            // SAFETY: the generated source defines each row with exactly this signature.
            let function = unsafe { library.get::<RowFn>(symbol(row).as_bytes()) };
            function.map(|function| *function).map_err(|e| format!("row {row} is missing: {e}"))
        })
        .collect();
    Ok((library, found?))
}

/// The loader's message without the path of the temporary file.
fn reason(error: &libloading::Error) -> String {
    let text = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned())
}

/// Runs the setup, once.
pub fn setup(library: &Library) -> Result<(), String> {
    // SAFETY: the generated source defines the function with exactly this signature.
    let setup = unsafe { library.get::<extern "C" fn()>(SETUP_SYMBOL.as_bytes()) }.map_err(|e| format!("the setup is missing: {e}"))?;
    crash::enter(Phase::Setup, 0);
    setup();
    crash::enter(Phase::Instrument, 0);
    Ok(())
}

/// Flushes the C library's output buffers.
pub fn flush_output() {
    // SAFETY: a null pointer means all open streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
