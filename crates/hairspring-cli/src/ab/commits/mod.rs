//! Builds of commits, and of the working tree as it is.

mod build;
mod cache;
mod git;
mod recipe;

use super::arguments::AbArguments;
use super::sides::Side;
use crate::AnyError;
use crate::misuse::Misuse;
use crate::run::arguments::RunArguments;
use crate::run::program::Program;
use build::Builder;
use cache::Built;
use git::Repository;
use hairspring_program::output;
use hairspring_result::ab::Source;
use recipe::Recipe;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The build of a word that names no file.
///
/// # Errors
/// It names no commit, or is not built.
pub fn of_word(
    word: &OsStr,
    arguments: &AbArguments,
    of_run: &RunArguments,
    stop: &AtomicBool,
) -> Result<Side, AnyError> {
    let shown = word.to_string_lossy().into_owned();
    let builder = Builder { arguments, of_run, stop };
    if Path::new(word).is_dir() {
        return in_place(&shown, Path::new(word), &builder);
    }
    let repository = Repository::around(Path::new(".")).ok_or_else(|| {
        Misuse(format!("`{shown}` is no file, and no commit: this folder is in no git repository"))
    })?;
    let commit = repository.commit(&shown).map_err(Misuse)?;
    let is_tree = |word: &OsStr| Path::new(word).is_dir();
    if !is_tree(&arguments.base) && !is_tree(&arguments.head) && repository.is_dirty() {
        output::complain(&format!(
            "the working tree has changes that are not committed; they are not in the build of \
             `{shown}` (`.` is the tree as it is)"
        ));
    }
    let how = format!("{:?} {:?}", arguments.build, arguments.programs);
    let (folder, name) = (cache::folder()?, cache::name(&commit, &how));
    let tree = folder.join(name);
    let built = match cache::built(&tree) {
        Some(built) => built,
        None => new_tree(&repository, &commit, &tree, &builder)
            .map_err(|error| format!("commit {} ({shown}): {error}", &commit[..12]))?,
    };
    cache::prune(&folder, std::slice::from_ref(&tree));
    let source = Source { commit: Some(commit), build: arguments.build.clone(), ..named(&shown) };
    side(source, built, &builder)
}

/// A working tree as it is.
fn in_place(shown: &str, tree: &Path, builder: &Builder) -> Result<Side, AnyError> {
    let tree = tree.canonicalize().map_err(|error| format!("{shown}: {error}"))?;
    let built = builder.build(&tree).map_err(|error| format!("{shown}: {error}"))?;
    let repository = Repository::around(&tree);
    let source = Source {
        commit: repository.as_ref().and_then(|repository| repository.commit("HEAD").ok()),
        dirty: repository.is_some_and(|repository| repository.is_dirty()),
        build: builder.arguments.build.clone(),
        ..named(shown)
    };
    side(source, built, builder)
}

fn named(shown: &str) -> Source {
    Source { named: shown.to_owned(), ..Source::default() }
}

/// Checks a commit out and builds it. Whatever ends this, git knows of no worktree afterwards, and
/// a tree that was not built is gone.
fn new_tree(
    repository: &Repository,
    commit: &str,
    tree: &Path,
    builder: &Builder,
) -> Result<Built, String> {
    repository.forget(tree, false);
    let made = repository
        .check_out(commit, tree)
        .and_then(|()| builder.build(tree))
        .and_then(|built| cache::keep(tree, &built).map(|()| built));
    repository.forget(tree, made.is_ok());
    made
}

fn side(source: Source, built: Built, builder: &Builder) -> Result<Side, AnyError> {
    let programs = built.programs.iter().map(|(name, file)| {
        let mut program = Program::prepare(file, &builder.flags()?, builder.of_run)?;
        program.shown = format!("{} of {}", name, source.named);
        Ok((name.clone(), program))
    });
    let programs = programs.collect::<Result<Vec<(String, Program)>, AnyError>>()?;
    let files: Vec<PathBuf> = built.programs.into_iter().map(|(_, file)| file).collect();
    let shown = files.iter().map(|file| file.display().to_string()).collect();
    Ok(Side { source: Source { programs: shown, ..source }, programs })
}

impl Builder<'_> {
    fn recipe(&self, tree: &Path) -> Result<Recipe, String> {
        Recipe::of(tree, self.arguments.build.as_deref())
    }

    fn flags(&self) -> Result<Vec<String>, AnyError> {
        Ok(hairspring_snippet::shell_words("--cflags", &self.arguments.cflags)?)
    }
}
