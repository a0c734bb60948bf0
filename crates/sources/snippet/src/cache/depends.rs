//! The files that a compiler and a linker read, and whether they are what they were.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Most bytes of a file that is hashed.
const MOST_BYTES: u64 = 64 << 20;
/// Words in a source with which it reads files that no list has, or is another source each time.
const UNKNOWN: [&[u8]; 6] = [b"incbin", b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"#embed", b".include"];
/// Last parts of a header's path by which sources include it, such as `bits/types.h`.
const MOST_PARTS: usize = 4;

/// A file and the hash of its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependence {
    path: PathBuf,
    hash: [u8; 16],
}

/// Files that were read.
#[derive(Debug, Default)]
pub struct Files(HashMap<PathBuf, Option<[u8; 16]>>);

/// The hash of some bytes.
pub fn hash(bytes: &[u8]) -> [u8; 16] {
    twox_hash::XxHash3_128::oneshot(bytes).to_le_bytes()
}

impl Files {
    /// The hash of a file's contents; `None` if it cannot be read.
    pub fn hash(&mut self, path: &Path) -> Option<[u8; 16]> {
        *self.0.entry(path.to_owned()).or_insert_with(|| contents(path).map(|bytes| hash(&bytes)))
    }
}

fn contents(path: &Path) -> Option<Vec<u8>> {
    let found = std::fs::metadata(path).ok()?;
    (found.is_file() && found.len() <= MOST_BYTES).then(|| std::fs::read(path).ok())?
}

impl Dependence {
    /// All files in the lists that a compiler and a linker wrote, but for those in the folder of the compilation; `None` if they do not say all.
    pub fn all(lists: &[PathBuf], own: &Path, files: &mut Files) -> Option<Vec<Dependence>> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for list in lists {
            paths.extend(listed(&std::fs::read_to_string(list).ok()?)?);
        }
        paths.retain(|path| !path.starts_with(own));
        paths.sort();
        paths.dedup();
        paths.into_iter().map(|path| Dependence::of(path, files)).collect()
    }

    fn of(path: PathBuf, files: &mut Files) -> Option<Dependence> {
        let is_library = path.extension().is_some_and(|ending| ["so", "a", "o"].iter().any(|other| ending == *other));
        if !is_library && holds(&contents(&path)?, &UNKNOWN) {
            return None;
        }
        Some(Dependence { hash: files.hash(&path)?, path })
    }

    /// Whether the file is what it was, and no other one is in its place in a folder that is searched before its own.
    pub fn holds(&self, files: &mut Files, folders: &[PathBuf], all: &[Dependence]) -> bool {
        files.hash(&self.path) == Some(self.hash) && !self.is_shadowed(folders, all)
    }

    fn is_shadowed(&self, folders: &[PathBuf], all: &[Dependence]) -> bool {
        let parts: Vec<Component> = self.path.components().collect();
        let ends = (1..=MOST_PARTS.min(parts.len())).map(|count| parts[parts.len() - count..].iter().collect::<PathBuf>());
        let is_new = |path: &PathBuf| path.is_file() && !all.iter().any(|known| is_same(&known.path, path));
        ends.flat_map(|end| folders.iter().map(move |folder| folder.join(&end))).any(|path| is_new(&path))
    }
}

/// Whether two paths, of which the folder of this process may be left out, are the same.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().ok().is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Whether text has one of these words.
pub fn holds(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| memchr::memmem::find(text, word).is_some())
}

/// Whether a source reads what no list has.
pub fn is_unknown(text: &str) -> bool {
    holds(text.as_bytes(), &UNKNOWN)
}

/// The files behind the colon of a rule of Make; `None` if there is none.
pub fn listed(rule: &str) -> Option<Vec<PathBuf>> {
    // Rules without files follow, for headers that are removed.
    let (_, files) = rule.split_once(": ").or_else(|| rule.split_once(":\\\n"))?;
    let files = files.split("\n\n").next()?;
    let (mut all, mut word) = (Vec::new(), String::new());
    let mut rest = files.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().copied()) {
            ('\\', Some('\n')) => {}
            ('\\', Some(next)) if next == ' ' || next == '#' => word.extend(rest.next()),
            ('$', Some('$')) => word.extend(rest.next()),
            (' ' | '\n' | '\t', _) => all.extend((!word.is_empty()).then(|| PathBuf::from(std::mem::take(&mut word)))),
            _ => word.push(c),
        }
    }
    all.extend((!word.is_empty()).then(|| PathBuf::from(word)));
    Some(all)
}
