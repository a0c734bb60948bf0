//! `history import`, `export` and `prune`.

use super::arguments::{ExportArguments, ImportArguments, PruneArguments};
use super::database::named;
use super::git;
use crate::misuse::Misuse;
use crate::{AnyError, Outcome, output};
use hairspring_history::order::ordered;
use hairspring_history::store::{Machine, Run, Sqlite, Store};
use std::collections::{HashMap, HashSet};

/// Adds the runs of another history.
pub fn import(arguments: &ImportArguments) -> Result<Outcome, AnyError> {
    let other = Sqlite::read(&arguments.other).map_err(|error| named(&arguments.other, &error))?;
    let (path, mut store) = arguments.database.create()?;
    let new = store.import(&other).map_err(|error| named(&path, &error))?;
    let all = other.runs().map_err(|error| named(&arguments.other, &error))?.len();
    output::print(&format!("{}: {new} of {all} runs were new\n", path.display()))?;
    Ok(Outcome::Done)
}

/// Writes the documents.
pub fn export(arguments: &ExportArguments) -> Result<Outcome, AnyError> {
    let (path, store) = arguments.database.read()?;
    let failed = |error: std::io::Error| format!("{}: {error}", arguments.folder.display());
    std::fs::create_dir_all(&arguments.folder).map_err(failed)?;
    let runs = store.runs().map_err(|error| named(&path, &error))?;
    for (at, run) in runs.iter().enumerate() {
        let whole = store.whole(run.id).map_err(|error| named(&path, &error))?;
        let digits = run.commit.as_deref().unwrap_or("no-commit");
        let digits: String = digits.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let file = arguments.folder.join(format!("{:06}-{digits}.json", at + 1));
        std::fs::write(&file, whole.document).map_err(failed)?;
    }
    output::print(&format!("{}: {} documents\n", arguments.folder.display(), runs.len()))?;
    Ok(Outcome::Done)
}

/// Removes runs.
pub fn prune(arguments: &PruneArguments) -> Result<Outcome, AnyError> {
    let (path, store) = arguments.database.read()?;
    let runs = store.runs().map_err(|error| named(&path, &error))?;
    drop(store);
    let chosen = chosen(arguments, &runs)?;
    let (path, mut store) = arguments.database.create()?;
    let removed = store.remove(&chosen).map_err(|error| named(&path, &error))?;
    let left = runs.len() - removed.min(runs.len());
    output::print(&format!("{}: {removed} runs removed, {left} left\n", path.display()))?;
    Ok(Outcome::Done)
}

fn chosen(arguments: &PruneArguments, runs: &[Run]) -> Result<Vec<i64>, AnyError> {
    let commits = git::commits();
    if arguments.unknown && commits.is_empty() {
        let reason = "--unknown: git names no commits here; run it in the repository";
        return Err(Misuse(reason.into()).into());
    }
    let known: HashSet<&str> = commits.iter().map(String::as_str).collect();
    let mut chosen: HashSet<i64> = HashSet::new();
    if arguments.unknown {
        let is_unknown = |run: &&Run| run.commit.as_deref().is_some_and(|one| !known.contains(one));
        chosen.extend(runs.iter().filter(is_unknown).map(|run| run.id));
    }
    for digits in &arguments.commit {
        chosen.extend(of_commit(digits, runs)?);
    }
    if let Some(keep) = arguments.keep {
        chosen.extend(before_last(keep, runs, &ordered(runs, &commits).order));
    }
    Ok(chosen.into_iter().collect())
}

/// Fewest digits of a commit.
const FEWEST_DIGITS: usize = 6;

fn of_commit(digits: &str, runs: &[Run]) -> Result<Vec<i64>, AnyError> {
    let named = |run: &&Run| run.commit.as_deref().is_some_and(|one| one.starts_with(digits));
    let found: Vec<i64> = runs.iter().filter(named).map(|run| run.id).collect();
    if digits.len() < FEWEST_DIGITS || found.is_empty() {
        let reason = format!(
            "--commit {}: no run is of such a commit; give at least {FEWEST_DIGITS} digits",
            digits.escape_debug()
        );
        return Err(Misuse(reason).into());
    }
    Ok(found)
}

/// All but the last runs of each machine.
fn before_last(keep: usize, runs: &[Run], order: &[usize]) -> Vec<i64> {
    let mut seen: HashMap<&Machine, usize> = HashMap::new();
    let mut chosen = Vec::new();
    for at in order.iter().rev() {
        let count = seen.entry(&runs[*at].machine).or_default();
        *count += 1;
        if *count > keep {
            chosen.push(runs[*at].id);
        }
    }
    chosen
}
