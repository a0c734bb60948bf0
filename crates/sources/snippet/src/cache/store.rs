//! The folder of the cache: entries that this user wrote, whole, and no more of them than fit.
//!
//! A file is an entry behind the hash of its bytes. It is written under another name and renamed,
//! so that a reader sees all of it or nothing.

use super::depends::{Dependence, Folder, hash};
use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a compiler made, and from what.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The files that it read.
    pub depends: Vec<Dependence>,
    /// The folders of the system that it searched.
    pub folders: Vec<Folder>,
    /// The files that it wrote.
    pub outputs: Vec<Vec<u8>>,
}

/// Most bytes of all entries; what was used the longest time ago goes first.
const MOST_BYTES: u64 = 64 << 20;
/// Bytes that stay when some have to go.
const BYTES_KEPT: u64 = 48 << 20;
/// Most bytes of an entry. Larger ones are read about as fast as they are compiled.
const MOST_ENTRY_BYTES: u64 = 8 << 20;
/// Bytes of a hash.
const HASH: usize = 16;

/// The user's folder for what can be made again.
pub fn folder() -> Option<PathBuf> {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let base =
        base.or_else(|| Some(variable("HOME").filter(|path| path.is_absolute())?.join(".cache")))?;
    Some(base.join("hairspring"))
}

/// The folder, which belongs to this user alone.
#[derive(Debug)]
pub struct Store(PathBuf);

impl Store {
    /// The entries in a folder of this program; `None` if there can be none, or if others may write
    /// there.
    pub fn open(folder: &Path) -> Option<Store> {
        let path = folder.join("compiled");
        DirBuilder::new().recursive(true).mode(0o700).create(&path).ok()?;
        let is_own = |path: &Path| {
            std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && is_private(&found))
        };
        (is_own(folder) && is_own(&path)).then_some(Store(path))
    }

    /// The entry of a key; `None` if there is none, or none that can be trusted.
    pub fn read(&self, key: &str) -> Option<Entry> {
        let mut file = File::options()
            .read(true)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(self.0.join(key))
            .ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || !is_private(&metadata) || metadata.len() > MOST_ENTRY_BYTES {
            return None;
        }
        let mut bytes = Vec::new();
        (&mut file).take(MOST_ENTRY_BYTES).read_to_end(&mut bytes).ok()?;
        let (sum, rest) = bytes.split_first_chunk::<HASH>()?;
        let entry = (*sum == hash(rest)).then(|| postcard::from_bytes(rest).ok())??;
        // A folder that cannot be written still has entries.
        let _ = file.set_modified(SystemTime::now());
        Some(entry)
    }

    /// Keeps an entry. A cache that cannot be written is no reason to fail.
    pub fn write(&self, key: &str, entry: &Entry) {
        let Ok(bytes) = postcard::to_allocvec(entry) else { return };
        if bytes.len() as u64 + HASH as u64 <= MOST_ENTRY_BYTES {
            let _ = self.replace(key, &bytes);
            self.shrink(MOST_BYTES, BYTES_KEPT);
        }
    }

    fn replace(&self, key: &str, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix("new-").tempfile_in(&self.0)?;
        file.write_all(&hash(bytes))?;
        file.write_all(bytes)?;
        file.persist(self.0.join(key))?;
        Ok(())
    }

    /// Removes what was used the longest time ago, if there is more than `most_bytes`,
    /// until `kept_bytes` are left.
    pub fn shrink(&self, most_bytes: u64, kept_bytes: u64) {
        let files = std::fs::read_dir(&self.0).into_iter().flatten().filter_map(Result::ok);
        let mut all_files: Vec<(SystemTime, u64, PathBuf)> = files
            .filter_map(|file| file.metadata().ok().map(|found| (found, file.path())))
            .filter_map(|(found, path)| Some((found.modified().ok()?, found.len(), path)))
            .collect();
        let mut bytes: u64 = all_files.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes > most_bytes {
            all_files.sort();
            for (_, size, path) in all_files {
                if bytes > kept_bytes && std::fs::remove_file(path).is_ok() {
                    bytes = bytes.saturating_sub(size);
                }
            }
        }
    }
}

/// Whether this user owns something, and nobody else may write it.
fn is_private(metadata: &Metadata) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    metadata.uid() == nix::unistd::geteuid().as_raw() && metadata.mode() & OTHERS_WRITE == 0
}
