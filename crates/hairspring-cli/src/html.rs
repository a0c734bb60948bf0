//! The files of `--html` and `--plot`: looked at before anything is measured, and written as a
//! whole or not at all.

use crate::AnyError;
use crate::compare::named;
use crate::misuse::Misuse;
use clap::{ArgMatches, Args};
use hairspring_core::observations::{Observations, read_csv};
use hairspring_import::unpack;
use nix::unistd::{AccessFlags, access};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

// A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Default, Args)]
pub struct PageArguments {
    /// Also write the result to this file as one HTML page, which needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl PageArguments {
    /// Writes the page, if it was asked for.
    ///
    /// # Errors
    /// The page cannot be made or written.
    pub fn write(&self, page: impl FnOnce() -> Result<String, String>) -> Result<(), AnyError> {
        let Some(path) = &self.html else { return Ok(()) };
        let text = page().map_err(|error| format!("--html {}: {error}", path.display()))?;
        write(OPTION, path, text.as_bytes())
    }
}

/// The option of a page, in messages.
pub const OPTION: &str = "--html";

/// The observations of a file.
///
/// # Errors
/// It cannot be read, or holds no observations.
pub fn observations(path: &Path) -> Result<Observations, AnyError> {
    let named = |reason: &dyn std::fmt::Display| named(path, reason);
    let stream = std::fs::File::open(path).and_then(unpack).map_err(|error| named(&error))?;
    Ok(read_csv(stream).map_err(|error| named(&error))?)
}

/// Looks whether the file of `--html` can be written, if a verb has the option and it was given.
///
/// # Errors
/// It cannot, with the reason and a way out.
pub fn check(matches: &ArgMatches) -> Result<(), AnyError> {
    let path = matches.try_get_one::<PathBuf>("html").ok().flatten();
    let is_report = matches.try_contains_id("table").is_ok();
    match path {
        Some(path) if path == Path::new("-") && is_report => Ok(()),
        Some(path) if path == Path::new("-") => Err(Misuse(
            "--html -: the report goes to standard output; give a file (./- for one of that name), \
             or make the page of a saved document (hairspring report DOCUMENT --html -)"
                .into(),
        )
        .into()),
        Some(path) => look(OPTION, path),
        None => Ok(()),
    }
}

/// Looks whether the file of an option can be written.
///
/// # Errors
/// It cannot, with the reason and a way out.
pub fn look(option: &str, path: &Path) -> Result<(), AnyError> {
    open(option, path).map(drop)
}

/// Where a file goes: over a file, by way of a new one in its folder, or into a device or a pipe.
enum Place {
    Over(PathBuf),
    Device(std::fs::File),
}

fn open(option: &str, path: &Path) -> Result<Place, AnyError> {
    let failed = |reason: &dyn std::fmt::Display, next: &str| failed(option, path, reason, next);
    // A link stays one: the file that it names is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(known) = std::fs::metadata(&target) {
        if known.is_dir() {
            return Err(failed(&"is a folder", "give a file in it"));
        }
        let file = std::fs::OpenOptions::new().write(true).open(&target);
        let file = file.map_err(|error| failed(&error, OTHER))?;
        if !known.is_file() {
            return Ok(Place::Device(file));
        }
    }
    let folder = folder(&target);
    if !folder.is_dir() {
        let reason = format!("there is no folder {}", folder.display());
        return Err(failed(&reason, "create it, or give a file in another one"));
    }
    access(folder, AccessFlags::W_OK).map_err(|error| {
        let reason = format!("no file can be made in {}: {}", folder.display(), error.desc());
        failed(&reason, "give a file in another folder")
    })?;
    Ok(Place::Over(target))
}

/// What to do about most errors.
const OTHER: &str = "give a file that can be written";

fn failed(option: &str, path: &Path, reason: &dyn std::fmt::Display, next: &str) -> AnyError {
    format!("{option} {}: {reason}; {next}", path.display()).into()
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes the file of an option: a run that is killed leaves it as it was.
///
/// # Errors
/// The system's error.
pub fn write(option: &str, path: &Path, bytes: &[u8]) -> Result<(), AnyError> {
    let written = match open(option, path)? {
        Place::Device(mut file) => file.write_all(bytes),
        Place::Over(target) => replace(&target, bytes),
    };
    written.map_err(|error| failed(option, path, &error, OTHER))
}

/// Writes a file beside another one, and puts it in its place.
fn replace(target: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mode = std::fs::metadata(target).map_or(0o666, |known| known.permissions().mode());
    let mut beside = tempfile::Builder::new()
        .prefix(".hairspring-")
        .suffix(".new")
        .permissions(std::fs::Permissions::from_mode(mode))
        .tempfile_in(folder(target))?;
    beside.write_all(bytes)?;
    beside.persist(target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_replaces_its_file_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.html"), folder.path().join("link.html"));
        write(OPTION, &file, b"a longer text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(OPTION, &link, b"short").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "short");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        write(OPTION, Path::new("/dev/null"), b"text").unwrap();
    }

    #[test]
    fn errors_name_the_file_and_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/a.html");
        let said = |path: &Path| write(OPTION, path, b"").unwrap_err().to_string();
        assert!(said(&missing).contains("there is no folder"), "{}", said(&missing));
        assert!(said(folder.path()).ends_with("is a folder; give a file in it"));
    }
}
