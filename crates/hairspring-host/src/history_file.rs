//! The files in which the latest runs on this machine are kept: where they are, how long a line
//! counts, and how one is added.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Lines count for a week, because cooling, power limits and other tenants change.
pub const MOST_SECONDS: u64 = 7 * 24 * 3600;
/// Lines within this many seconds count as one run, because they show the same state of the
/// machine: a program has many benchmarks, and a command is often repeated at once. They would
/// displace all other runs.
pub const ONE_RUN_SECONDS: u64 = 10;
/// A longer file is written anew, with what counts.
pub const MOST_BYTES: u64 = 64 * 1024;

/// Seconds since 1970.
pub fn now() -> Option<u64> {
    Some(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs())
}

/// The folder of the history, if it is wanted.
pub fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match variable("HAIRSPRING_HISTORY") {
        Some(off) if off == "off" => None,
        Some(folder) => Some(folder.into()),
        None => {
            let state =
                variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
            let state =
                state.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".local/state")))?;
            Some(state.join("hairspring"))
        }
    }
}

/// The name of something measured, as the files have it. Another version of the program, or one
/// without optimisation, may measure it differently.
pub fn key(name: &str) -> String {
    format!(
        "{name}-{}{}",
        env!("CARGO_PKG_VERSION"),
        if cfg!(debug_assertions) { "-debug" } else { "" }
    )
}

/// Whether a line of this time counts now.
pub fn counts(time: u64, now: u64) -> bool {
    time <= now && now - time <= MOST_SECONDS
}

/// Adds a line to the runs before it, oldest first; `merge` adds it to the line of the same run.
pub fn with_line<T>(
    mut runs: Vec<(u64, T)>,
    (time, value): (u64, T),
    merge: impl Fn(&mut T, T),
) -> Vec<(u64, T)> {
    match runs.last_mut() {
        Some((begin, run)) if (*begin..*begin + ONE_RUN_SECONDS).contains(&time) => {
            merge(run, value)
        }
        _ => runs.push((time, value)),
    }
    runs
}

/// The text of a file: nothing if it cannot be read, and no more than its beginning if it is too
/// long.
pub fn text_of(path: &Path) -> String {
    let mut text = Vec::new();
    let _ = fs::File::open(path).and_then(|file| file.take(2 * MOST_BYTES).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// Adds a line to a file; one that is too long is written anew as `whole`, which ends with the
/// line. A history that cannot be kept is no reason to fail: the run still has the lines that were
/// read.
pub fn keep(path: &Path, line: &str, whole: impl FnOnce() -> String) {
    let is_long = fs::metadata(path).is_ok_and(|file| file.len() > MOST_BYTES);
    let _ = if is_long { replace(path, &whole()) } else { append(path, line) };
}

/// Adds a line in one write, so that lines of several processes do not mix.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

/// Writes the file anew; a reader sees the old one or the new one.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension(std::process::id().to_string());
    fs::write(&new, text)?;
    fs::rename(&new, path)
}
