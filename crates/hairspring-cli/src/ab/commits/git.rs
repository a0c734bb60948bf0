//! A repository whose commits are built.

use crate::git::{self, ask};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A repository.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The folder of its working tree.
    pub top: PathBuf,
}

impl Repository {
    /// The one around a folder, if there is one.
    pub fn around(folder: &Path) -> Option<Repository> {
        git::root(folder).map(|top| Repository { top })
    }

    /// The commit that a word names.
    ///
    /// # Errors
    /// A sentence about why there is none.
    pub fn commit(&self, word: &str) -> Result<String, String> {
        git::commit(&self.top, word).ok_or_else(|| {
            let deeper = if git::is_shallow(&self.top) {
                ": the clone is shallow, and may lack it; `git fetch --unshallow` gets all commits \
                 (in a workflow of GitHub: fetch-depth: 0)"
            } else {
                ""
            };
            format!("`{word}` is neither a file nor a commit of {}{deeper}", self.top.display())
        })
    }

    /// Whether files are changed that are not committed.
    pub fn is_dirty(&self) -> bool {
        git::is_dirty(&self.top) == Some(true)
    }

    /// Puts the files of a commit into a new folder, with its submodules.
    ///
    /// # Errors
    /// What git says.
    pub fn check_out(&self, commit: &str, folder: &Path) -> Result<(), String> {
        let words = ["worktree", "add", "--detach", "--force"].map(OsStr::new);
        let words = words.into_iter().chain([folder.as_os_str(), OsStr::new(commit)]);
        ask(&self.top, words).map_err(|error| format!("git worktree add: {error}"))?;
        if !folder.join(".gitmodules").exists() {
            return Ok(());
        }
        // Submodules of a clone on the same disk are fetched from files.
        let words = ["-c", "protocol.file.allow=always", "submodule", "update", "--init"];
        let words = words.into_iter().chain(["--recursive"]);
        ask(folder, words).map(drop).map_err(|error| format!("its submodules: {error}"))
    }

    /// Forgets a worktree, whose files stay if `keeps` them.
    pub fn forget(&self, folder: &Path, keeps: bool) {
        if keeps {
            let _ = std::fs::remove_file(folder.join(".git"));
        } else {
            let _ = std::fs::remove_dir_all(folder);
        }
        let _ = ask(&self.top, ["worktree", "prune"]);
    }
}
