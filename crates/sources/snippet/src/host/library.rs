//! Loading the compiled rows.
#![allow(unsafe_code, reason = "this process exists to call code that was just compiled")]

use super::{Phase, crash};
use crate::source::{SETUP_SYMBOL, symbol};
use hairspring_host::chains::RowFn;
use libloading::Library;
use std::io::Result as IoResult;
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Loads a library and finds its rows.
///
/// A copy of the library is loaded. All processes that load one file share its physical pages, and
/// code that does not fit the first cache takes another time in other pages: `std::sort` differed
/// by 1.5 % from run to run, and by nothing within one.
pub fn load(path: &str, rows: u32) -> Result<(Library, Vec<RowFn>), String> {
    crash::enter(Phase::Loading, 0);
    let copy = in_new_pages(Path::new(path))
        .map_err(|e| format!("the compiled code cannot be copied: {e}"))?;
    let path = copy.path();
    // SAFETY: the library's constructors run here, in a process that has limits and may crash.
    let library = unsafe { Library::new(path) }
        .map_err(|e| format!("the compiled code cannot be loaded: {}", reason(&e)))?;
    crash::enter(Phase::Instrument, 0);
    let functions: Result<Vec<RowFn>, String> = (0..rows as usize)
        .map(|row| {
            // SAFETY: the generated source defines each row with exactly this signature.
            let function = unsafe { library.get::<RowFn>(symbol(row).as_bytes()) };
            function.map(|function| *function).map_err(|e| format!("row {row} is missing: {e}"))
        })
        .collect();
    Ok((library, functions?))
}

/// A copy of a file beside it, in physical pages of its own. It is removed when it goes out of
/// scope, before the system writes it to the disk; a library that was loaded from it stays.
fn in_new_pages(path: &Path) -> IoResult<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let copy = Builder::new().prefix("placed").suffix(".so").tempfile_in(folder)?;
    std::fs::copy(path, copy.path())?;
    Ok(copy)
}

/// The loader's message without the path of the temporary file.
fn reason(error: &libloading::Error) -> String {
    let text =
        std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    const TLS: &str = "; for more than about 1 KiB of thread_local variables, give --cflags='-O2 \
                       -ftls-model=global-dynamic': a call then reaches them";
    let advice = if text.contains("static TLS") { TLS } else { "" };
    text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned()) + advice
}

/// Takes so many bytes from the C library's heap, behind which the code's own allocations lie.
pub fn move_heap(bytes: usize) {
    // SAFETY: a block that nobody uses or frees.
    let _ = unsafe { libc::malloc(bytes) };
}

/// Runs the setup, once.
pub fn setup(library: &Library) -> Result<(), String> {
    // SAFETY: the generated source defines the function with exactly this signature.
    let setup = unsafe { library.get::<extern "C" fn()>(SETUP_SYMBOL.as_bytes()) }
        .map_err(|e| format!("the setup is missing: {e}"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_copy_is_another_file_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.so");
        std::fs::write(&path, b"code").unwrap();
        let (first_pages, second_pages) =
            (in_new_pages(&path).unwrap(), in_new_pages(&path).unwrap());
        assert_ne!(first_pages.path(), second_pages.path());
        assert_eq!(std::fs::read(second_pages.path()).unwrap(), b"code");
        drop((first_pages, second_pages));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(in_new_pages(&folder.path().join("missing.so")).is_err());
    }
}
