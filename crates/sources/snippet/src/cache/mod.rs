//! What compilers made before, for the same command over again: kept in the user's cache folder by
//! all that it depends on.
//!
//! An entry is found by its [`key`]: the generated source, the command, the compiler, the
//! environment and the processor. It counts only if every file that the compiler read is what it
//! was ([`depends`]). The [`store`] trusts nothing that it did not write: an entry that is damaged,
//! or that others may have written, is compiled anew. Where anything is not known, nothing is kept.

mod depends;
mod key;
mod store;
#[cfg(test)]
mod tests;

pub use key::Step;

use depends::{Dependence, Files, Folder, is_unchanged_since};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;
use store::{Entry, Store};

/// The cache of one session, which reads every file once.
#[derive(Debug)]
pub struct Cache {
    store: Store,
    files: Mutex<Files>,
}

/// A step of a compilation that is in the cache, or may be put there.
#[derive(Debug)]
pub struct Slot<'a> {
    cache: &'a Cache,
    key: String,
    outputs: Vec<PathBuf>,
    /// Folders in which the compiler looks for headers first.
    folders: Vec<PathBuf>,
    /// What is in the key.
    inputs: Vec<PathBuf>,
    begin: SystemTime,
}

impl Cache {
    /// The user's cache; `None` where there is none, or where it cannot be written.
    pub fn open() -> Option<Cache> {
        Cache::open_in(&store::folder()?)
    }

    fn open_in(folder: &Path) -> Option<Cache> {
        Some(Cache { store: Store::open(folder)?, files: Mutex::default() })
    }

    /// The place of a step; `None` if not all is known that it depends on.
    pub fn slot(&self, step: &Step) -> Option<Slot<'_>> {
        let (begin, key) = (SystemTime::now(), step.key()?);
        Some(Slot {
            cache: self,
            key,
            outputs: step.outputs.clone(),
            folders: step.header_folders(),
            inputs: step.objects.to_vec(),
            begin,
        })
    }
}

impl Slot<'_> {
    /// Writes the outputs of the step from the cache; returns whether that was possible.
    pub fn fetch(&self) -> bool {
        let Some(entry) = self.cache.store.read(&self.key) else { return false };
        let holds = |files: &mut Files| Dependence::hold(&entry.depends, &self.folders, files);
        let is_valid = entry.folders.iter().all(Folder::holds) && self.files(holds);
        is_valid
            && self
                .outputs
                .iter()
                .zip(&entry.outputs)
                .all(|(path, output)| std::fs::write(path, output).is_ok())
    }

    /// Keeps the outputs of the step, if all the files that it depends on are known: those in these
    /// lists of a compiler and a linker.
    pub fn keep(&self, lists: &[PathBuf], own_folder: &Path) {
        let is_unchanged = self.inputs.iter().all(|input| is_unchanged_since(input, self.begin));
        let depends = self.files(|files| {
            Dependence::all(lists, own_folder, self.begin, files).filter(|_| is_unchanged)
        });
        let outputs: Option<Vec<Vec<u8>>> =
            self.outputs.iter().map(|path| std::fs::read(path).ok()).collect();
        if let (Some(depends), Some(outputs)) = (depends, outputs) {
            self.cache
                .store
                .write(&self.key, &Entry { folders: Folder::all(&depends), depends, outputs });
        }
    }

    fn files<T>(&self, of: impl FnOnce(&mut Files) -> T) -> T {
        of(&mut self.cache.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}
