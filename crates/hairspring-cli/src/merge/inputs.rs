//! The files that are merged, in the order of their names.

use crate::AnyError;
use crate::misuse::Misuse;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A file, or why a folder could not be read.
type Input = Result<PathBuf, String>;

/// The files: those that are named, those in folders that are named, and those of a list.
pub fn inputs(named: &[PathBuf], list: Option<&Path>) -> Result<Vec<Input>, AnyError> {
    if named.iter().any(|path| path.as_path() == Path::new("-")) {
        let reason = "-: a document cannot be standard input; `--files-from -` reads names of \
                      files there";
        return Err(Misuse(reason.into()).into());
    }
    let mut all = Vec::new();
    named.iter().for_each(|path| add(path, &mut all));
    for path in list.map_or_else(|| Ok(Vec::new()), names)? {
        add(&path, &mut all);
    }
    Ok(all)
}

/// The names in a file: one a line, or parted by NUL characters, as `find -print0` prints them.
fn names(list: &Path) -> Result<Vec<PathBuf>, AnyError> {
    let mut bytes = Vec::new();
    let read = if list == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| format!("--files-from {}: {error}", list.display()))?;
    let mark = if bytes.contains(&0) { 0 } else { b'\n' };
    let lines =
        bytes.split(|byte| *byte == mark).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = lines.filter(|line| !line.is_empty());
    Ok(lines.map(|line| PathBuf::from(OsString::from_vec(line.to_vec()))).collect())
}

/// Adds a file, or the documents in a folder and in the folders below it.
fn add(path: &Path, all: &mut Vec<Input>) {
    if !path.is_dir() {
        return all.push(Ok(path.to_owned()));
    }
    let found = std::fs::read_dir(path).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    match found {
        Err(error) => all.push(Err(format!("{}: {error}", path.display()))),
        Ok(mut found) => {
            found.sort_unstable();
            found.iter().filter(|path| is_taken(path)).for_each(|path| add(path, all));
        }
    }
}

/// Whether a file of a folder may be a document, or a folder below it has some. Links to folders
/// are not followed: they may lead in a circle.
fn is_taken(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_document = name.ends_with(b".json") || name.ends_with(b".json.gz");
    if path.is_dir() { !path.is_symlink() } else { is_document }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_lists_give_their_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("deep/below")).unwrap();
        for name in ["b.json", "a.json.gz", "notes.txt", "deep/below/c.json"] {
            std::fs::write(at(name), "{}").unwrap();
        }
        std::os::unix::fs::symlink(folder.path(), at("deep/circle")).unwrap();
        let found = inputs(&[folder.path().to_owned(), at("notes.txt")], None).unwrap();
        let names: Vec<PathBuf> = found.into_iter().map(Result::unwrap).collect();
        let expected = ["a.json.gz", "b.json", "deep/below/c.json", "notes.txt"].map(at);
        assert_eq!(names, expected);
        for (text, expected) in [("x\r\n\ny\n", ["x", "y"]), ("x\n1\0y", ["x\n1", "y"])] {
            std::fs::write(at("list"), text).unwrap();
            let found = inputs(&[], Some(&at("list"))).unwrap();
            assert_eq!(found, expected.map(|name| Ok(PathBuf::from(name))));
        }
        assert!(inputs(&["-".into()], None).is_err());
        assert!(inputs(&[], Some(&at("missing"))).is_err());
    }
}
