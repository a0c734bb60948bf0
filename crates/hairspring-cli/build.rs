//! The version that the command tells: with the commit and its day in a release build. Builds for
//! development tell neither, so that a commit does not have them made anew.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let (version, folder) =
        (variable("CARGO_PKG_VERSION"), PathBuf::from(variable("CARGO_MANIFEST_DIR")));
    let source = if variable("PROFILE") == "release" {
        checked_out(&folder).or_else(|| packaged(&folder))
    } else {
        None
    };
    let version = source.map_or_else(|| version.clone(), |source| format!("{version} ({source})"));
    println!("cargo::rustc-env=HAIRSPRING_VERSION={version}");
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The commit and its day, if the crate lies in a checkout of the project, and not in one of
/// somebody who copied it.
fn checked_out(folder: &Path) -> Option<String> {
    let root = folder.parent()?.parent()?;
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(arguments)
            .output()
            .ok()
            .filter(|done| done.status.success())?;
        Some(String::from_utf8(done.stdout).ok()?.trim().to_owned())
    };
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // The log of HEAD grows with each commit and checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={}", root.join(log).display());
    git(&["log", "-1", "--format=%h %cs", "--abbrev=10"])
}

/// The commit that cargo wrote into the package.
fn packaged(folder: &Path) -> Option<String> {
    let info = std::fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let hash = info.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    Some(hash.chars().take(10).collect())
}
