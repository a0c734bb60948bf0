//! Whole commands, timed from their start to their end, with processes that do nothing beside them.

use super::arguments::AbArguments;
use super::measure::Subject;
use crate::AnyError;
use crate::misuse::Misuse;
use crate::run::child::complaint;
use hairspring_core::Estimate;
use hairspring_core::estimate::median;
use hairspring_core::math::{exp, ln};
use hairspring_core::pairs::{Pair, Sequence};
use hairspring_program::circumstances::here;
use hairspring_result::Unit;
use hairspring_result::ab::{AbDocument, Builds, How, Source};
use hairspring_snippet::shell_words;
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The command that does nothing.
const NOTHING: &str = "true";
/// Places of the commands in an order: the base, the head, the base again, and nothing.
const PLACES: [usize; 4] = [0, 1, 2, 3];

/// Fewest runs of a command in a pair: there and back.
const FEWEST_RUNS: usize = 2;

/// Two commands.
pub struct Commands<'a> {
    /// As they are shown.
    names: [String; 2],
    /// The words of the base, the head, the base again, and of the command that does nothing.
    words: [Vec<String>; 4],
    /// Time for a pair, if the commands are short.
    budget: Duration,
    start: Sequence,
    stop: &'a AtomicBool,
}

impl<'a> Commands<'a> {
    /// The commands of the command line.
    ///
    /// # Errors
    /// One is empty, or has an open quote.
    pub fn new(arguments: &AbArguments, stop: &'a AtomicBool) -> Result<Commands<'a>, AnyError> {
        if !arguments.filters.is_empty() {
            let text = "--command takes two commands: put each into quotes, with its arguments";
            return Err(Misuse(text.into()).into());
        }
        let (base, head) = (words(&arguments.base)?, words(&arguments.head)?);
        let names = [&arguments.base, &arguments.head].map(|word| word.to_string_lossy().into());
        let words = [base.clone(), head, base, vec![NOTHING.to_owned()]];
        let start = Sequence::default();
        Ok(Commands { names, words, budget: arguments.budget, start, stop })
    }

    /// Runs all, to and fro, until the budget is spent; the median time of each in nanoseconds.
    /// `None` if it was stopped.
    fn times(&self, number: u32) -> Result<Option<[f64; 4]>, AnyError> {
        let (begin, mut all): (Instant, [Vec<f64>; 4]) = (Instant::now(), Default::default());
        let mut order = PLACES;
        order.rotate_left(number as usize % PLACES.len());
        while all[0].len() < FEWEST_RUNS || begin.elapsed() < self.budget {
            for place in order {
                let time = timed(&self.words[place]);
                // A signal of the terminal ends the command, too.
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                all[place].push(time?);
            }
            order.reverse();
        }
        Ok(Some(all.map(|mut times| median(&mut times))))
    }
}

fn words(text: &OsStr) -> Result<Vec<String>, AnyError> {
    let words = shell_words("--command", &text.to_string_lossy())?;
    if words.is_empty() {
        return Err(Misuse("--command: a command is empty".into()).into());
    }
    Ok(words)
}

/// Time of a process in nanoseconds, from before its start until its end.
fn timed(words: &[String]) -> Result<f64, AnyError> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let started = command.spawn().and_then(|mut child| child.wait());
    let time = begin.elapsed();
    let shown = words.join(" ");
    let status = started.map_err(|error| format!("`{shown}` cannot be started: {error}"))?;
    let failed = complaint(status).or_else(|| status.code().filter(|code| *code != 0).map(ended));
    match failed {
        Some(complaint) => Err(format!("`{shown}` {complaint}").into()),
        None => Ok(time.as_nanos() as f64),
    }
}

fn ended(code: i32) -> String {
    format!("ended with status {code}")
}

impl Subject for Commands<'_> {
    fn pair(&mut self, number: u32, builds: &mut Builds) -> Result<bool, AnyError> {
        let Some([base, head, again, start]) = self.times(number)? else { return Ok(false) };
        self.start.push(ln(start));
        if let Some(pair) = Pair::of(head, base, again) {
            builds.add_times(&self.names[1], Unit::Nanoseconds, pair);
        }
        Ok(true)
    }

    fn shown(&self) -> String {
        self.names[1].clone()
    }

    fn finish(&self, document: &mut AbDocument) {
        let source = |name: &String| Source { named: name.clone(), ..Source::default() };
        (document.base, document.head) = (source(&self.names[0]), source(&self.names[1]));
        document.how = How::Commands;
        document.environment = Some(here("whole commands are timed by the clock of the system"));
        let (middle, level) = (self.start.mean(), document.level_of_each);
        let half = self.start.half_width(level);
        document.start = (self.start.values() > 0).then(|| Estimate {
            value: exp(middle),
            low: exp(middle - half),
            high: exp(middle + half),
            level,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_run_does_not_move_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 900.0]), 3.0);
        assert_eq!(median(&mut [4.0, 2.0]), 3.0);
    }
}
