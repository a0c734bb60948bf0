//! What git says of the repository that the command runs in.

use crate::git::{self, ask};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn here() -> &'static Path {
    Path::new(".")
}

/// The folder of the repository.
pub fn root() -> Option<PathBuf> {
    git::root(here())
}

/// The commit of a name.
pub fn commit(name: &str) -> Option<String> {
    git::commit(here(), name)
}

/// The commits of the current branch, the oldest first; empty without a repository.
pub fn commits() -> Vec<String> {
    let words = ["rev-list", "--topo-order", "--reverse", "HEAD", "--"];
    ask(here(), words).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Whether the repository lacks commits.
pub fn is_shallow() -> bool {
    git::is_shallow(here())
}

/// What is asked about each of many files, and once of git.
#[derive(Default)]
pub struct Asked {
    head: OnceCell<Option<String>>,
    is_dirty: OnceCell<Option<bool>>,
    parents: HashMap<String, Option<String>>,
}

impl Asked {
    /// The current commit.
    pub fn head(&self) -> Option<&str> {
        self.head.get_or_init(|| commit("HEAD")).as_deref()
    }

    /// Whether files differ from the current commit.
    pub fn is_dirty(&self) -> Option<bool> {
        *self.is_dirty.get_or_init(|| git::is_dirty(here()))
    }

    /// The first parent of a commit.
    pub fn parent(&mut self, of: &str) -> Option<String> {
        let parent = || commit(&format!("{of}^"));
        self.parents.entry(of.to_owned()).or_insert_with(parent).clone()
    }
}
