//! What is asked of git. Without git, or outside of a repository, nothing is known.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The answer of git in a folder, or the last line of what it complains about.
pub fn ask<W: AsRef<OsStr>>(
    folder: &Path,
    words: impl IntoIterator<Item = W>,
) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(words)
        .env("GIT_TERMINAL_PROMPT", "0")
        // A lock that is in the way would make a question fail.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("git cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(said.lines().next_back().unwrap_or("failed").to_owned())
}

/// The folder of the repository around a folder.
pub fn root(folder: &Path) -> Option<PathBuf> {
    ask(folder, ["rev-parse", "--show-toplevel"])
        .ok()
        .filter(|text| !text.is_empty())
        .map(PathBuf::from)
}

/// The commit of a name.
pub fn commit(folder: &Path, name: &str) -> Option<String> {
    let name = format!("{name}^{{commit}}");
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
    ask(folder, words).ok().filter(|text| !text.is_empty())
}

/// Whether files of the repository differ from the current commit.
pub fn is_dirty(folder: &Path) -> Option<bool> {
    let words = ["status", "--porcelain", "--untracked-files=no"];
    ask(folder, words).ok().map(|text| !text.is_empty())
}

/// Whether the repository lacks commits.
pub fn is_shallow(folder: &Path) -> bool {
    ask(folder, ["rev-parse", "--is-shallow-repository"]).as_deref() == Ok("true")
}
