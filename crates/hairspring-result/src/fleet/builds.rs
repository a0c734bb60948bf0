//! The builds of the code that the documents of a family were measured with.

use super::document::Build;
use super::names::{Name, Names};
use crate::document::Environment;
use std::collections::HashMap;

/// What a build is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BuildKey {
    program: Option<Name>,
    commit: Option<Name>,
    compiler: Option<Name>,
    flags: Option<Name>,
}

impl BuildKey {
    /// The build of a document.
    pub fn of(environment: &Environment, names: &mut Names) -> BuildKey {
        let commit = environment.identity.as_ref().and_then(|identity| identity.commit.as_deref());
        BuildKey {
            program: names.number_of(environment.program.as_deref()),
            commit: names.number_of(commit),
            compiler: names.number_of(environment.compiler.as_deref()),
            flags: names.number_of(environment.compiler_flags.as_deref()),
        }
    }

    fn is_named(&self) -> bool {
        self.program.is_some() || self.commit.is_some()
    }
}

/// Builds that are listed.
const MOST_BUILDS: usize = 20;

/// The builds of a family with the number of their documents.
#[derive(Debug, Default)]
pub struct Builds(HashMap<BuildKey, usize>);

impl Builds {
    /// Counts a document.
    pub fn add(&mut self, build: BuildKey) {
        *self.0.entry(build).or_default() += 1;
    }

    /// Whether all documents have one build; `None` if they do not name it. `is_code_known`:
    /// whether each series has the hash of its code.
    pub fn same(&self, is_code_known: bool) -> Option<bool> {
        match self.0.len() {
            0 | 1 if is_code_known || self.0.keys().any(BuildKey::is_named) => Some(true),
            0 | 1 => None,
            _ => Some(false),
        }
    }

    /// The builds, the most frequent first.
    pub fn listed(&self, names: &Names) -> Vec<Build> {
        let text = |name: Option<Name>| name.map(|name| names.owned(name));
        let mut all: Vec<Build> = self
            .0
            .iter()
            .map(|(key, documents)| Build {
                program: text(key.program),
                commit: text(key.commit),
                compiler: text(key.compiler),
                compiler_flags: text(key.flags),
                documents: *documents,
            })
            .collect();
        let words = |build: &Build| {
            let own = (build.program.clone(), build.commit.clone());
            (own, build.compiler.clone(), build.compiler_flags.clone())
        };
        all.sort_by(|a, b| b.documents.cmp(&a.documents).then(words(a).cmp(&words(b))));
        all.truncate(MOST_BUILDS);
        all
    }
}
