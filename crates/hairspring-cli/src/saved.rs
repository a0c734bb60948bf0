//! Files that options ask to write beside the report.

use crate::AnyError;
use crate::misuse::Misuse;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Files that are read, or written for another option: what each is.
#[derive(Default)]
pub struct Taken(Vec<(String, Metadata)>);

impl Taken {
    /// Adds a file. One that does not exist cannot be lost.
    pub fn add(&mut self, what: &str, path: &Path) {
        self.0.extend(std::fs::metadata(path).ok().map(|metadata| (what.to_owned(), metadata)));
    }

    /// Refuses a file that is taken.
    ///
    /// # Errors
    /// It is one of these.
    pub fn keep(&self, option: &str, path: &Path) -> Result<(), AnyError> {
        std::fs::metadata(path).map_or(Ok(()), |metadata| self.refuse(option, path, &metadata))
    }

    fn refuse(&self, option: &str, path: &Path, metadata: &Metadata) -> Result<(), AnyError> {
        let found = self.0.iter().find(|(_, other)| is_same(metadata, other));
        let complaint = |what: &str| {
            format!(
                "{option} {}: it is {what}, which would be lost; give another file",
                path.display()
            )
        };
        found.map_or(Ok(()), |(what, _)| Err(Misuse(complaint(what)).into()))
    }
}

/// A file of an option. It is opened before anything is measured, and keeps what is in it until its
/// new contents are known.
pub struct Output {
    option: &'static str,
    file: File,
}

impl Output {
    /// Opens the file of an option.
    ///
    /// # Errors
    /// Standard output, which the report has; a file that is taken; the system's error.
    pub fn open(option: &'static str, path: &Path, taken: &mut Taken) -> Result<Output, AnyError> {
        let shown = path.display();
        if path == Path::new("-") {
            let reason = format!(
                "{option} -: the report goes to standard output; give a file (./- for one of that \
                 name)"
            );
            return Err(Misuse(reason).into());
        }
        if let Ok(metadata) = std::fs::metadata(path) {
            taken.refuse(option, path, &metadata)?;
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| format!("{option} {shown}: {e}"))?;
        taken.0.push((format!("the file of {option}"), file.metadata()?));
        Ok(Output { option, file })
    }

    /// Replaces the contents of the file by what `write` writes.
    ///
    /// # Errors
    /// The system's error.
    pub fn fill(
        self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), AnyError>,
    ) -> Result<(), AnyError> {
        let option = self.option;
        let filled = || {
            // Devices and pipes cannot be shortened.
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            write(&mut &self.file)
        };
        filled().map_err(|e| format!("{option}: {e}").into())
    }
}

/// Whether two names lead to one file. Devices such as /dev/null may be given several times.
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
}
