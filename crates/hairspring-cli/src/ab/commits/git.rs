//! What is asked of git.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The folder of its working tree.
    pub top: PathBuf,
}

impl Repository {
    /// The one around a folder, if there is one.
    pub fn around(folder: &Path) -> Option<Repository> {
        let top = ask(folder, ["rev-parse", "--show-toplevel"]).ok()?;
        Some(Repository { top: PathBuf::from(top) })
    }

    /// The commit that a word names.
    ///
    /// # Errors
    /// A sentence about why there is none.
    pub fn commit(&self, word: &str) -> Result<String, String> {
        let wanted = format!("{word}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        ask(&self.top, words).map_err(|_| {
            let is_shallow = ask(&self.top, ["rev-parse", "--is-shallow-repository"]);
            let deeper = if is_shallow.as_deref() == Ok("true") {
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
        ask(&self.top, ["status", "--porcelain", "--untracked-files=no"])
            .is_ok_and(|changes| !changes.is_empty())
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

/// The answer of git, or the last line of what it complains about.
fn ask<W: AsRef<OsStr>>(
    folder: &Path,
    words: impl IntoIterator<Item = W>,
) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(words)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("git cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(said.lines().next_back().unwrap_or("failed").to_owned())
}
