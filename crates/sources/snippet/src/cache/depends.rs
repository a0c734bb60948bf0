//! The files that a compiler and a linker read, and whether they are what they were.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Most bytes of a file that is hashed.
const MOST_BYTES: u64 = 64 << 20;
/// Words in a source with which it reads files that no list has, or is another source each time.
const UNKNOWN_READS: [&[u8]; 6] =
    [b"incbin", b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"#embed", b".include"];
/// The same in a file that is not of the system: it asks for files that may be made later.
const FILE_QUERIES: [&[u8]; 2] = [b"__has_include", b"__has_embed"];
/// Where the files of the system are.
const SYSTEM: [&str; 3] = ["/usr", "/lib", "/lib64"];
/// Folders that compilers search before those in which the system has its headers and libraries.
const BEFORE_SYSTEM: [&str; 2] = ["/usr/local/include", "/usr/local/lib"];
/// The time of a file's change may lag behind by this.
const LAG: Duration = Duration::from_millis(20);

/// A file and the hash of its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependence {
    path: PathBuf,
    hash: [u8; 16],
}

/// A folder of the system, and when its list of files changed; `None` if there is no such folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    path: PathBuf,
    changed: Option<(i64, i64)>,
}

impl Folder {
    /// The folders of the system that these files are in, and those that are searched before.
    pub fn all(depends: &[Dependence]) -> Vec<Folder> {
        let of_system = depends
            .iter()
            .filter(|one| is_of_system(&one.path))
            .filter_map(|one| one.path.parent());
        let paths: BTreeSet<&Path> = of_system.chain(BEFORE_SYSTEM.map(Path::new)).collect();
        paths
            .into_iter()
            .map(|path| Folder { path: path.to_owned(), changed: changed(path) })
            .collect()
    }

    /// Whether no file was added or removed.
    pub fn holds(&self) -> bool {
        changed(&self.path) == self.changed
    }
}

fn changed(folder: &Path) -> Option<(i64, i64)> {
    folder.metadata().ok().map(|found| (found.mtime(), found.mtime_nsec()))
}

fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Whether a file was last changed before a time: its contents may have been read since.
pub fn is_unchanged_since(path: &Path, begin: SystemTime) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    let at = |seconds: i64, ns: i64| {
        let (seconds, ns) = (u64::try_from(seconds).unwrap_or(0), u32::try_from(ns).unwrap_or(0));
        SystemTime::UNIX_EPOCH + Duration::new(seconds, ns) + LAG
    };
    at(metadata.mtime(), metadata.mtime_nsec()).max(at(metadata.ctime(), metadata.ctime_nsec()))
        < begin
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
    let metadata = std::fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= MOST_BYTES).then(|| std::fs::read(path).ok())?
}

impl Dependence {
    /// All files in the lists that a compiler and a linker wrote since `begin`, but for those in
    /// the folder of the compilation; `None` if they do not say all, or if one of the files changed
    /// meanwhile.
    pub fn all(
        lists: &[PathBuf],
        own_folder: &Path,
        begin: SystemTime,
        files: &mut Files,
    ) -> Option<Vec<Dependence>> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for list in lists {
            paths.extend(listed(&std::fs::read_to_string(list).ok()?)?);
        }
        paths.retain(|path| !path.starts_with(own_folder));
        paths.sort();
        paths.dedup();
        paths.into_iter().map(|path| Dependence::of(path, begin, files)).collect()
    }

    fn of(path: PathBuf, begin: SystemTime, files: &mut Files) -> Option<Dependence> {
        let is_library = path
            .extension()
            .is_some_and(|ending| ["so", "a", "o"].iter().any(|other| ending == *other));
        let asks = |text: &[u8]| {
            holds(text, &UNKNOWN_READS) || !is_of_system(&path) && holds(text, &FILE_QUERIES)
        };
        if !is_unchanged_since(&path, begin) || !is_library && asks(&contents(&path)?) {
            return None;
        }
        Some(Dependence { hash: files.hash(&path)?, path })
    }

    /// Whether all files are what they were, and no other one is in the place of one of them: in
    /// one of these folders, or beside a file of the user.
    pub fn hold(all_files: &[Dependence], folders: &[PathBuf], files: &mut Files) -> bool {
        let of_user = all_files
            .iter()
            .filter(|one| !is_of_system(&one.path))
            .filter_map(|one| one.path.parent());
        let folders: BTreeSet<&Path> =
            folders.iter().map(PathBuf::as_path).chain(of_user).collect();
        all_files.iter().all(|one| {
            files.hash(&one.path) == Some(one.hash) && !one.is_shadowed(&folders, all_files)
        })
    }

    fn is_shadowed(&self, folders: &BTreeSet<&Path>, all_files: &[Dependence]) -> bool {
        let parts: Vec<Component> = self.path.components().collect();
        // By one or more of its last parts a source includes it, such as `bits/types.h`.
        let ends = (1..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
        let is_new = |path: &PathBuf| {
            path.is_file() && !all_files.iter().any(|known| is_same(&known.path, path))
        };
        ends.flat_map(|end| folders.iter().map(move |folder| folder.join(&end)))
            .any(|path| is_new(&path))
    }
}

/// Whether two paths, of which the folder of this process may be left out, are the same.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || one
            .canonicalize()
            .ok()
            .is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Whether text has one of these words.
pub fn holds(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| memchr::memmem::find(text, word).is_some())
}

/// Whether a source reads what no list has.
pub fn is_unknown(text: &str) -> bool {
    holds(text.as_bytes(), &UNKNOWN_READS)
}

/// The files behind the colon of a rule of Make; `None` if there is none.
pub fn listed(rule: &str) -> Option<Vec<PathBuf>> {
    // Rules without files follow, for headers that are removed.
    let (_, files) = rule.split_once(": ").or_else(|| rule.split_once(":\\\n"))?;
    let files = files.split("\n\n").next()?;
    let (mut all_words, mut word) = (Vec::new(), String::new());
    let mut rest = files.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().copied()) {
            ('\\', Some('\n')) => {}
            ('\\', Some(next)) if next == ' ' || next == '#' => word.extend(rest.next()),
            ('$', Some('$')) => word.extend(rest.next()),
            (' ' | '\n' | '\t', _) => all_words
                .extend((!word.is_empty()).then(|| PathBuf::from(std::mem::take(&mut word)))),
            _ => word.push(c),
        }
    }
    all_words.extend((!word.is_empty()).then(|| PathBuf::from(word)));
    Some(all_words)
}
