//! The result of the paper's method, as plain data.

use super::Options;
use super::vote::{Ballot, agree, plausible, vote};
use hairspring_core::design::enough::Enough;
use hairspring_core::estimate::Estimate;
use hairspring_core::estimate::experiments::{Experiments, Minimum};
use hairspring_core::observations::Rate;
use serde::{Deserialize, Serialize};

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answers from the minima and from the next larger values agree.
    Accepted,
    /// They did not agree in any try: "system too busy".
    TooBusy,
    /// The budget ended before a try had two measurements of each expression, or before the last
    /// try.
    OutOfBudget,
}

/// The clock speed. The paper gives the first figure; the others are the only spread that the
/// method has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mhz {
    /// Clock speed in whole MHz, from the minima.
    pub value: u32,
    /// Clock speed in whole MHz, from the next larger values.
    pub next: u32,
    /// Range of the middle half of the subsets of the minima, in MHz.
    pub middle_half: (u32, u32),
}

/// One try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Vote with the minimum of each expression; `None` if no subset was valid.
    pub minimum: Option<Ballot>,
    /// Vote with the next larger value of each.
    pub next: Option<Ballot>,
    /// Whether both votes have an answer, and the answers agree.
    pub agreed: bool,
    /// Fewest measurements of an expression: fewer than requested if the budget ended.
    pub measurements: u32,
}

/// The plain and the opaque loop of an expression, in nanoseconds for one copy, and the choice
/// between them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoopChoice {
    /// Whether the opaque loop was used, because the compiler had folded the plain one.
    #[serde(rename = "guarded")]
    pub opaque: bool,
    /// The plain loop; `None` if the compiler left nothing of it that takes time.
    pub plain_ns: Option<Minimum>,
    /// The opaque loop.
    #[serde(rename = "guarded_ns")]
    pub opaque_ns: Minimum,
}

/// Times of one copy of an expression, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The minimum, which the method uses, and the next larger value, with which it checks the
    /// minimum.
    pub minimum: Minimum,
    /// The median with its interval.
    pub median: Estimate,
}

/// One expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpressionResult {
    /// The expression as the paper writes it.
    pub name: String,
    /// Which of its loops was used.
    #[serde(rename = "guard")]
    pub choice: LoopChoice,
    /// Its times in the last try; `None` if the budget ended before there were two.
    pub time_ns: Option<Times>,
    /// Whether its minimum was used in the vote; an obvious outlier is not.
    pub used: bool,
    /// The minimum and the next larger value in periods of the accepted speed: whole numbers, if
    /// the method is right.
    pub cycles: Option<Minimum>,
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassicResult {
    /// How it ended.
    pub outcome: Outcome,
    /// The clock speed, if it was accepted.
    pub mhz: Option<Mhz>,
    /// The expressions, in the order of the paper.
    pub expressions: Vec<ExpressionResult>,
    /// The tries, in order.
    pub attempts: Vec<Attempt>,
    /// Length of a timed interval, in nanoseconds.
    pub window_ns: f64,
    /// How the length was determined.
    pub enough: Enough,
    /// Time to read the clock, subtracted from each interval, in nanoseconds.
    pub timing_overhead_ns: Estimate,
    /// Total time, in seconds.
    pub seconds: f64,
    /// Name of the clock.
    pub clock: String,
    /// Rate of the clock, which converts its ticks to nanoseconds.
    pub rate: Option<Rate>,
}

impl Attempt {
    /// The verdict on the times of all expressions.
    pub fn new(collected: &[Experiments]) -> Attempt {
        let minima: Option<Vec<Minimum>> = collected.iter().map(Experiments::minimum).collect();
        let ballot = |value: fn(&Minimum) -> f64| {
            vote(&kept(&minima.as_ref()?.iter().map(value).collect::<Vec<f64>>()))
        };
        let (minimum, next) = (ballot(|times| times.value), ballot(|times| times.next));
        let agreed =
            minimum.as_ref().zip(next.as_ref()).is_some_and(|(a, b)| agree(a.mode.mhz, b.mode.mhz));
        let measurements =
            collected.iter().map(|times| times.values.len() as u32).min().unwrap_or(0);
        Attempt { minimum, next, agreed, measurements }
    }

    /// The clock speed, if both answers agree.
    pub fn accepted(&self) -> Option<Mhz> {
        let (minimum, next) =
            self.minimum.as_ref().zip(self.next.as_ref()).filter(|_| self.agreed)?;
        Some(Mhz { value: minimum.mode.mhz, next: next.mode.mhz, middle_half: minimum.middle_half })
    }
}

fn kept(times: &[f64]) -> Vec<f64> {
    times.iter().zip(plausible(times)).filter(|(_, kept)| *kept).map(|(time, _)| *time).collect()
}

/// How the tries ended.
pub fn outcome(attempts: &[Attempt], options: &Options) -> Outcome {
    let complete = attempts.iter().filter(|one| one.measurements >= 2).count();
    match attempts.last() {
        Some(last) if last.agreed => Outcome::Accepted,
        _ if complete < options.tries as usize => Outcome::OutOfBudget,
        _ => Outcome::TooBusy,
    }
}

/// The expressions with their times in the last try.
pub fn expressions(
    names: Vec<&str>,
    choices: Vec<LoopChoice>,
    collected: &[Experiments],
    mhz: Option<Mhz>,
    level: f64,
) -> Vec<ExpressionResult> {
    let times: Vec<Option<Times>> =
        (0..names.len()).map(|at| times(collected.get(at)?, level)).collect();
    let minima: Vec<f64> =
        times.iter().map(|times| times.map_or(f64::NAN, |times| times.minimum.value)).collect();
    let used = plausible(&minima);
    let cycles = |times: &Times| {
        let periods = |time_ns: f64| mhz.map(|mhz| time_ns * f64::from(mhz.value) / 1e3);
        Some(Minimum { value: periods(times.minimum.value)?, next: periods(times.minimum.next)? })
    };
    names
        .into_iter()
        .zip(choices)
        .zip(times.iter().zip(used))
        .map(|((name, choice), (time_ns, used))| ExpressionResult {
            name: name.to_owned(),
            choice,
            time_ns: *time_ns,
            used,
            cycles: time_ns.as_ref().and_then(cycles),
        })
        .collect()
}

fn times(experiments: &Experiments, level: f64) -> Option<Times> {
    Some(Times { minimum: experiments.minimum()?, median: experiments.median(level)? })
}
