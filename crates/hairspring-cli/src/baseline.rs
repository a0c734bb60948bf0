//! Baselines of `time`: saved results by name, in a folder `.hairspring/baselines` of the folder
//! that the command runs in. A baseline belongs to a project and a machine; the folder can be
//! removed, copied or left out of version control at will.

use crate::{AnyError, Outcome, compare, output};
use clap::Args;
use hairspring_host::identity::fingerprint;
use hairspring_host::thread::allowed_cpus;
use hairspring_measure::Seating;
use hairspring_program::values::share;
use hairspring_result::compare::{CompareDocument, Places, compare as compared};
use hairspring_result::{ResultDocument, json};
use hairspring_view::text;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where baselines are.
const FOLDER: &str = ".hairspring/baselines";
/// Longest name.
const LONGEST_NAME: usize = 100;

// Options about baselines. A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Args)]
pub struct BaselineArguments {
    /// Compare with the baseline of this name, saved before
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub baseline: Option<String>,
    /// Save the result as the baseline of this name, in .hairspring/baselines below the current
    /// folder
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub save_baseline: Option<String>,
    /// Exit with 3 if a body certainly takes longer than in the baseline by more than this share.
    /// docs/pass-or-fail.md has the rules
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "baseline",
        allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Exit with 3 as well if the comparison is undecided for a benchmark, or a benchmark of the
    /// baseline is missing. docs/pass-or-fail.md has the rules
    #[arg(long, requires = "baseline")]
    pub strict: bool,
}

impl BaselineArguments {
    /// Whether the result is saved or compared.
    pub fn is_used(&self) -> bool {
        self.baseline.is_some() || self.save_baseline.is_some()
    }
}

/// The baseline options, with the old result already read.
pub struct Baseline<'a> {
    arguments: &'a BaselineArguments,
    old: Option<(&'a str, ResultDocument)>,
}

/// Checks that a name is a plain file name, without any path.
fn name(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let bad = text.is_empty()
        || text.starts_with(['.', '-'])
        || text.len() > LONGEST_NAME
        || !text.chars().all(good);
    if bad {
        return Err(format!(
            "a baseline's name has letters a to z, digits, `-`, `_` and `.`, begins with a letter, \
             a digit or `_`, and is at most {LONGEST_NAME} long: no slashes, no blanks"
        ));
    }
    Ok(text.to_owned())
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.json"))
}

impl<'a> Baseline<'a> {
    /// Reads the baseline to compare with and checks that the one to save can be written, both
    /// before the measurement.
    pub fn prepare(arguments: &'a BaselineArguments) -> Result<Baseline<'a>, AnyError> {
        let old = match &arguments.baseline {
            Some(name) if !path(name).exists() => {
                return Err(format!(
                    "--baseline {name}: there is no {}; --save-baseline {name} saves one",
                    path(name).display()
                )
                .into());
            }
            Some(name) => Some((
                name.as_str(),
                compare::read(&path(name)).map_err(|error| format!("--baseline: {error}"))?,
            )),
            None => None,
        };
        if let Some(name) = &arguments.save_baseline {
            folder().map_err(|error| format!("--save-baseline {name}: {error}"))?;
        }
        Ok(Baseline { arguments, old })
    }

    /// The CPU to measure on: the one that was `asked` for, or that of the baseline where a thread
    /// is bound to one, if it is one of this machine that this process may use.
    pub fn cpu(&self, asked: Option<usize>, seating: Seating) -> Option<usize> {
        let of_baseline = || {
            let (_, old) = self.old.as_ref().filter(|_| seating == Seating::Pinned)?;
            let is_here = |cpu: &usize| {
                old.environment.host() == Some(&*fingerprint()) && allowed_cpus().contains(cpu)
            };
            old.environment.pinned_cpu.filter(is_here)
        };
        asked.or_else(of_baseline)
    }

    /// Adds the comparison to the document. Returns the outcome, and the comparison as text.
    pub fn judge(&self, document: &mut ResultDocument) -> Result<(Outcome, String), AnyError> {
        let Some((name, old)) = &self.old else { return Ok((Outcome::Done, String::new())) };
        let compared = compared(old, document, self.arguments.threshold, Places::Same);
        document.baseline =
            Some(Box::new(CompareDocument::new(&compared, (Some(name), old), (None, document))));
        Ok((
            compare::outcome(&compared, self.arguments.strict),
            text::against_baseline(&compared, name, &output::style()),
        ))
    }

    /// Saves the document if asked to. It is written under another name first, so that no reader
    /// sees half of it.
    pub fn save(&self, document: &ResultDocument) -> Result<(), AnyError> {
        let Some(name) = &self.arguments.save_baseline else { return Ok(()) };
        let written = || -> std::io::Result<()> {
            let temporary = folder()?.join(format!(".{name}.{}", std::process::id()));
            let mut file = std::fs::File::create(&temporary)?;
            let done = file
                .write_all(json::print(document).as_bytes())
                .and_then(|()| std::fs::rename(&temporary, path(name)));
            if done.is_err() {
                let _ = std::fs::remove_file(&temporary);
            }
            done
        };
        Ok(written().map_err(|error| format!("--save-baseline {name}: {error}"))?)
    }
}

/// The folder, created if it does not exist.
fn folder() -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(FOLDER)
        .map_err(|error| std::io::Error::new(error.kind(), format!("{FOLDER}: {error}")))?;
    Ok(PathBuf::from(FOLDER))
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_must_be_plain_file_names() {
        for good in ["main", "v1.2", "2026-01-01_quiet", "_x"] {
            assert_eq!(name(good).as_deref(), Ok(good));
        }
        for bad in [
            "",
            ".",
            "..",
            "a/b",
            "../x",
            "/etc/x",
            "a\\b",
            "a b",
            "-x",
            ".x",
            "\u{e4}",
            "a\n",
            &"x".repeat(101),
        ] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
    }
}
