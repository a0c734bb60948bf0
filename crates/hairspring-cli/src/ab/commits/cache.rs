//! Trees of commits that were built before. A tree stays with what was built in it, so that
//! programs find their libraries and files; git does not know of it any more.

use hairspring_core::hash::fingerprint;
use serde::{Deserialize, Serialize};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Trees that are kept; the ones that were not used for longest are removed.
const MOST_TREES: usize = 8;
/// The file in a tree that was built.
const BUILT: &str = ".hairspring-built";

/// What was built in a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// Names and files of the programs.
    pub programs: Vec<(String, PathBuf)>,
}

/// The folder of all trees, which belongs to this user alone.
pub fn folder() -> Result<PathBuf, String> {
    let variable =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let base = base.ok_or("there is no folder for builds: set HOME or XDG_CACHE_HOME")?;
    let folder = base.join("hairspring").join("ab");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The name of the tree of a commit that is built in this way.
pub fn name(commit: &str, how: &str) -> String {
    let short: String = commit.chars().take(12).collect();
    format!("{short}-{}", fingerprint(how.bytes()))
}

/// What was built in a tree, if its programs are still there.
pub fn built(tree: &Path) -> Option<Built> {
    let file = tree.join(BUILT);
    let built: Built = serde_json::from_str(&std::fs::read_to_string(&file).ok()?).ok()?;
    let is_there = built.programs.iter().all(|(_, path)| path.exists());
    if !is_there {
        return None;
    }
    // The time of its last use; a failure only makes it older.
    let _ = std::fs::write(&file, serde_json::to_string(&built).ok()?);
    Some(built)
}

/// Marks a tree as built.
pub fn keep(tree: &Path, built: &Built) -> Result<(), String> {
    let text = serde_json::to_string(built).map_err(|error| error.to_string())?;
    std::fs::write(tree.join(BUILT), text).map_err(|error| format!("{}: {error}", tree.display()))
}

/// Removes the oldest trees, but none of these.
pub fn prune(folder: &Path, but: &[PathBuf]) {
    let used = |tree: &Path| {
        let known = std::fs::metadata(tree.join(BUILT)).or_else(|_| std::fs::metadata(tree));
        known.and_then(|known| known.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort_by_key(|tree| std::cmp::Reverse(used(tree)));
    for tree in all.iter().skip(MOST_TREES).filter(|tree| !but.contains(tree)) {
        let _ = std::fs::remove_dir_all(tree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trees_that_were_not_used_for_longest_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST_TREES + 2 {
            let tree = folder.path().join(name(&format!("{number:012x}"), "make"));
            std::fs::create_dir(&tree).unwrap();
            keep(&tree, &Built { programs: Vec::new() }).unwrap();
        }
        prune(folder.path(), &[]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), MOST_TREES);
    }

    #[test]
    fn a_tree_whose_program_is_gone_is_not_built() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let made = Built { programs: vec![("p".into(), program.clone())] };
        assert_eq!(built(folder.path()), None);
        keep(folder.path(), &made).unwrap();
        assert_eq!(built(folder.path()), None);
        std::fs::write(program, "").unwrap();
        assert_eq!(built(folder.path()), Some(made));
    }
}
