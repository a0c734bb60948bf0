//! The files that the verb writes beside its report.

use super::BlocksArguments;
use crate::AnyError;
use hairspring_blocks::{Error, Input};
use std::fs::{File, Metadata, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file of an option. It is opened before anything is measured, and keeps what is in it until its new contents are known.
pub struct Output {
    option: &'static str,
    file: File,
}

/// The files of `--save` and `--dot`.
///
/// # Errors
/// A file that cannot be written, or that is the program, one of its inputs or the file of the other option.
pub fn outputs(arguments: &BlocksArguments, program: &Path, inputs: &[Input]) -> Result<(Option<Output>, Option<Output>), AnyError> {
    let mut taken: Vec<(String, Metadata)> = Vec::new();
    take(&mut taken, "the program", program);
    arguments.inputs.iter().filter(|path| path.as_os_str() != "-").for_each(|path| take(&mut taken, "the file of --inputs", path));
    inputs.iter().filter_map(|input| input.stdin.as_deref()).for_each(|path| take(&mut taken, "the standard input of a run", path));
    let save = arguments.save.as_deref().map(|path| Output::open("--save", path, &mut taken)).transpose()?;
    let dot = arguments.dot.as_deref().map(|path| Output::open("--dot", path, &mut taken)).transpose()?;
    Ok((save, dot))
}

fn take(taken: &mut Vec<(String, Metadata)>, what: &str, path: &Path) {
    taken.extend(std::fs::metadata(path).ok().map(|metadata| (what.to_owned(), metadata)));
}

impl Output {
    fn open(option: &'static str, path: &Path, taken: &mut Vec<(String, Metadata)>) -> Result<Output, AnyError> {
        let shown = path.display();
        if path == Path::new("-") {
            let reason = format!("{option} -: the report goes to standard output; give a file (./- for one of that name)");
            return Err(Error::BadRequest(reason).into());
        }
        let refuse_taken = |metadata: &Metadata, taken: &[(String, Metadata)]| match taken
            .iter()
            .find(|(_, other)| is_same(metadata, other))
        {
            Some((what, _)) => Err(Error::BadRequest(format!("{option} {shown}: it is {what}, which would be lost; give another file"))),
            None => Ok(()),
        };
        if let Ok(metadata) = std::fs::metadata(path) {
            refuse_taken(&metadata, taken)?;
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(|e| format!("{option} {shown}: {e}"))?;
        taken.push((format!("the file of {option}"), file.metadata()?));
        Ok(Output { option, file })
    }

    /// Replaces the contents of the file by what `write` writes.
    ///
    /// # Errors
    /// The system's error.
    pub fn fill(self, write: impl FnOnce(&mut dyn Write) -> Result<(), AnyError>) -> Result<(), AnyError> {
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
