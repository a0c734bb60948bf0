//! `history add`.

use super::arguments::AddArguments;
use super::database::named;
use super::git::{self, Asked};
use crate::compare::{Saved, saved};
use crate::misuse::Misuse;
use crate::{AnyError, Outcome, output};
use hairspring_history::store::{NewRun, Store};
use hairspring_history::take::take;
use hairspring_result::json;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Adds files. Those that cannot be read are told, and the others are added.
pub fn run(arguments: &AddArguments) -> Result<Outcome, AnyError> {
    let asked = asked_commit(arguments)?;
    let (path, mut store) = arguments.database.create()?;
    let mut repository = Asked::default();
    let (mut new, mut known, mut refused, mut figures) = (0, 0, 0, 0);
    for file in &arguments.files {
        match read(file, asked.as_deref(), &mut repository) {
            Err(reason) => {
                output::complain(&reason);
                refused += 1;
            }
            Ok(run) => {
                let is_new = store.add(&run).map_err(|error| named(&path, &error))?;
                figures += if is_new { run.figures.len() } else { 0 };
                *(if is_new { &mut new } else { &mut known }) += 1;
            }
        }
    }
    let again = if known > 0 { format!(", {known} known already") } else { String::new() };
    let none = if refused > 0 { format!(", {refused} refused") } else { String::new() };
    output::print(&format!(
        "{}: {new} added with {figures} figures{again}{none}\n",
        path.display()
    ))?;
    Ok(if refused > 0 { Outcome::Failed } else { Outcome::Done })
}

fn asked_commit(arguments: &AddArguments) -> Result<Option<String>, AnyError> {
    let Some(name) = &arguments.commit else { return Ok(None) };
    let is_hash = (40..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_hexdigit());
    let found = git::commit(name).or_else(|| is_hash.then(|| name.to_lowercase()));
    let unknown = || {
        Misuse(format!(
            "--commit {}: git knows no such commit here; give all of its 40 digits",
            name.escape_debug()
        ))
    };
    Ok(Some(found.ok_or_else(unknown)?))
}

/// A file as a run, with what it does not say itself.
fn read(file: &Path, asked: Option<&str>, repository: &mut Asked) -> Result<NewRun, String> {
    let text = match saved(file)? {
        Saved::Tool(document) => json::print(&document),
        Saved::Text(text) => text,
    };
    let mut new = take(&text).map_err(|error| crate::compare::named(file, &error))?;
    let run = &mut new.run;
    if let Some(asked) = asked {
        run.commit = Some(asked.to_owned());
    }
    run.commit = run.commit.take().or_else(|| repository.head().map(str::to_owned));
    run.parent = run.commit.as_deref().and_then(|commit| repository.parent(commit));
    let is_current = run.commit.is_some() && run.commit.as_deref() == repository.head();
    run.dirty = if is_current { repository.is_dirty() } else { None };
    if run.made == 0 {
        run.made = changed(file);
    }
    Ok(new)
}

/// When a file was last changed, in seconds since 1970; now for standard input.
fn changed(file: &Path) -> i64 {
    let changed = std::fs::metadata(file).and_then(|metadata| metadata.modified());
    let time = changed.unwrap_or_else(|_| SystemTime::now());
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
