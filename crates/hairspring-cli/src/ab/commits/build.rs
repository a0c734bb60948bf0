//! Builds a tree.

use super::cache::Built;
use super::recipe::{Recipe, of_cargo};
use crate::ab::arguments::AbArguments;
use crate::run::arguments::RunArguments;
use crate::run::child::complaint;
use hairspring_host::process::Group;
use hairspring_program::output;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at a build.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// Longest list of programs that is read of cargo, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// What a build needs to know.
pub struct Builder<'a> {
    /// The command line.
    pub arguments: &'a AbArguments,
    /// The options of a program.
    pub of_run: &'a RunArguments,
    /// Set when a signal asks for the end.
    pub stop: &'a AtomicBool,
}

impl Builder<'_> {
    /// Builds a tree, and finds its programs.
    pub fn build(&self, tree: &Path) -> Result<Built, String> {
        let recipe = self.recipe(tree)?;
        let asked = &self.arguments.programs;
        if asked.is_empty() && !recipe.is_cargo {
            return Err(format!(
                "name the programs with benchmarks that `{}` builds, below its folder: --program \
                 build/bench",
                recipe.command
            ));
        }
        output::status_line(&format!("building: {}", recipe.command));
        let said = self.run(&recipe, tree);
        output::status_line("");
        let said = said?;
        let programs = if asked.is_empty() { of_cargo(&said) } else { self.asked(asked, tree)? };
        if programs.is_empty() {
            return Err(format!("`{}` builds no benchmark", recipe.command));
        }
        Ok(Built { programs })
    }

    /// The programs that were asked for.
    fn asked(&self, asked: &[PathBuf], tree: &Path) -> Result<Vec<(String, PathBuf)>, String> {
        let found = |name: &PathBuf| {
            let file = tree.join(name);
            let shown = name.display().to_string();
            if file.is_file() {
                Ok((shown, file))
            } else {
                Err(format!("there is no {shown} after the build (--program)"))
            }
        };
        asked.iter().map(found).collect()
    }

    /// Runs the command. Its output is shown if it fails, as its standard error is this one's.
    fn run(&self, recipe: &Recipe, tree: &Path) -> Result<String, String> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&recipe.command).current_dir(tree).stdin(Stdio::null());
        let mut lines = tempfile::tempfile().map_err(|error| format!("a file: {error}"))?;
        let output = lines.try_clone().map_err(|error| format!("a file: {error}"))?;
        shell.stdout(output);
        let errors = tempfile::NamedTempFile::new().map_err(|error| format!("a file: {error}"))?;
        shell.stderr(errors.reopen().map_err(|error| format!("a file: {error}"))?);
        let (mut child, group) = Group::spawn(&mut shell)
            .map_err(|error| format!("the shell cannot be started: {error}"))?;
        let ended = self.wait(&mut child);
        drop(group);
        let _ = child.wait();
        let status = ended?;
        if !status.success() {
            let complaint = complaint(status).unwrap_or_else(|| "ended with status 3".to_owned());
            let said = std::fs::read(errors.path()).unwrap_or_default();
            return Err(format!("`{}` {complaint}{}", recipe.command, last_lines(&said)));
        }
        let mut text = String::new();
        let rewound = std::io::Seek::rewind(&mut lines);
        rewound
            .and_then(|()| lines.take(MOST_BYTES).read_to_string(&mut text))
            .map_err(|error| format!("the output of the build: {error}"))?;
        Ok(text)
    }

    fn wait(&self, child: &mut Child) -> Result<ExitStatus, String> {
        let deadline = Instant::now() + self.arguments.build_timeout;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Err(error) => return Err(format!("the build: {error}")),
                Ok(None) if self.stop.load(Ordering::Relaxed) => {
                    return Err("the build was stopped by a signal".into());
                }
                Ok(None) if Instant::now() >= deadline => {
                    return Err("the build did not end in time (--build-timeout)".into());
                }
                Ok(None) => std::thread::sleep(BETWEEN_LOOKS),
            }
        }
    }
}

/// Lines of a failed build that are shown.
const MOST_LINES: usize = 20;

fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
    last.iter().map(|line| format!("\n  {line}")).collect()
}
