//! What git says of the repository that the command runs in. Without git, or outside of a
//! repository, nothing is known.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What git prints; `None` if it fails.
fn git<S: AsRef<OsStr>>(arguments: &[S]) -> Option<String> {
    let mut command = Command::new("git");
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    // It must not write: a lock that is in the way would make it fail.
    command.env("GIT_OPTIONAL_LOCKS", "0");
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn line<S: AsRef<OsStr>>(arguments: &[S]) -> Option<String> {
    git(arguments).map(|text| text.trim_end().to_owned()).filter(|text| !text.is_empty())
}

/// The folder of the repository.
pub fn root() -> Option<PathBuf> {
    line(&["rev-parse", "--show-toplevel"]).map(PathBuf::from)
}

/// The commit of a name.
pub fn commit(name: &str) -> Option<String> {
    line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
}

/// The first parent of a commit.
pub fn parent(commit: &str) -> Option<String> {
    self::commit(&format!("{commit}^"))
}

/// Whether files of the repository differ from the current commit.
pub fn is_dirty() -> Option<bool> {
    git(&["status", "--porcelain", "--untracked-files=no"]).map(|text| !text.is_empty())
}

/// The commits of the current branch, the oldest first; empty without a repository.
pub fn commits() -> Vec<String> {
    let text = git(&["rev-list", "--topo-order", "--reverse", "HEAD", "--"]).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether the repository lacks commits.
pub fn is_shallow() -> bool {
    line(&["rev-parse", "--is-shallow-repository"]).is_some_and(|text| text == "true")
}
