//! What a file of results holds, whatever tool wrote it.

use super::interval::MOST_WITHOUT_ORDER;
use hairspring_core::Estimate;
use hairspring_core::observations::{USABLE_NUMBERS, is_usable};
use hairspring_result::document::ToolOrigin;
use std::collections::HashMap;

/// Maximum number of benchmarks; a file with more counts as damaged.
const MOST_BENCHMARKS: usize = 10_000;
/// Maximum number of remarks that are kept.
const MOST_REMARKS: usize = 20;

/// The results of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// The tool, and what is said once about all of them.
    pub origin: ToolOrigin,
    /// The benchmarks in the order of the file, each with a name of its own.
    pub benchmarks: Vec<Benchmark>,
    /// What was left out, and why.
    pub remarks: Vec<String>,
    unwritten: usize,
    names: HashMap<String, usize>,
}

/// One benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// What one value is the time of.
    pub value: String,
    /// Its times.
    pub times: Times,
    /// Values that are in doubt: how many, and why.
    pub doubted: Option<(usize, String)>,
}

/// The times of a benchmark, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// The values of each process in the order in which they were measured.
    Processes(Vec<Vec<f64>>),
    /// The same where a value is rounded to a multiple of `step`.
    Rounded {
        /// The values in their order.
        values: Vec<f64>,
        /// Distance of two values that are written differently.
        step: f64,
    },
    /// Values whose order is lost.
    Sorted(Vec<f64>),
    /// Mean and standard deviation of values that the file does not have.
    Summary {
        /// The mean.
        mean: f64,
        /// Standard deviation of a single value.
        sd: f64,
        /// Number of values.
        count: f64,
        /// Distance of two values that are written differently; 0 if they are not rounded.
        step: f64,
    },
    /// An interval of the tool.
    Given {
        /// The interval.
        interval: Estimate,
        /// What its middle is: `mean` or `median`.
        statistic: &'static str,
    },
    /// A single number without an interval, and why there is none.
    Alone {
        /// The number.
        value: f64,
        /// What it is: `mean` or `median`.
        statistic: &'static str,
        /// Why no interval follows.
        reason: String,
    },
}

impl Times {
    /// Values of one process.
    pub fn of(values: Vec<f64>) -> Times {
        Times::Processes(vec![values])
    }

    /// The times in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Times {
        let scaled_values =
            |values: Vec<f64>| values.into_iter().map(|value| value * factor).collect();
        match self {
            Times::Processes(groups) => {
                Times::Processes(groups.into_iter().map(scaled_values).collect())
            }
            Times::Rounded { values, step } => {
                Times::Rounded { values: scaled_values(values), step: step * factor }
            }
            Times::Sorted(values) => Times::Sorted(scaled_values(values)),
            Times::Summary { mean, sd, count, step } => {
                Times::Summary { mean: mean * factor, sd: sd * factor, count, step: step * factor }
            }
            Times::Given { interval, statistic } => {
                Times::Given { interval: interval.scaled(factor), statistic }
            }
            Times::Alone { value, statistic, reason } => {
                Times::Alone { value: value * factor, statistic, reason }
            }
        }
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        match self {
            Times::Processes(groups) => groups.iter().map(Vec::len).sum(),
            Times::Rounded { values, .. } | Times::Sorted(values) => values.len(),
            // A count of a file may be any number: the conversion ends at the largest one.
            Times::Summary { count, .. } => *count as usize,
            Times::Given { .. } | Times::Alone { .. } => 1,
        }
    }

    /// Whether there is no value at all.
    fn is_empty(&self) -> bool {
        match self {
            Times::Processes(groups) => groups.iter().all(Vec::is_empty),
            Times::Rounded { values, .. } | Times::Sorted(values) => values.is_empty(),
            _ => false,
        }
    }

    /// Whether the order of the values is lost.
    fn is_without_order(&self) -> bool {
        matches!(self, Times::Sorted(_) | Times::Summary { .. })
    }

    /// Checks that every number can be calculated with.
    fn check(&self) -> Result<(), String> {
        let numbers: Vec<f64> = match self {
            Times::Processes(groups) => return groups.iter().flatten().try_for_each(usable),
            Times::Rounded { values, .. } | Times::Sorted(values) => {
                return values.iter().try_for_each(usable);
            }
            Times::Summary { mean, sd, count, .. } => vec![*mean, *sd, *count],
            Times::Given { interval, .. } => vec![interval.value, interval.low, interval.high],
            Times::Alone { value, .. } => vec![*value],
        };
        numbers.iter().try_for_each(usable)
    }
}

fn usable(number: &f64) -> Result<(), String> {
    if is_usable(*number) {
        return Ok(());
    }
    Err(format!("the time is {number} ns, it must be a finite number; {USABLE_NUMBERS}"))
}

impl Results {
    /// Results of a tool without any benchmark.
    pub fn of(tool: &str, file: &str, lacks: &[&str]) -> Results {
        let origin = ToolOrigin {
            tool: tool.to_owned(),
            file: file.to_owned(),
            lacks: lacks.iter().map(|clause| (*clause).to_owned()).collect(),
            ..ToolOrigin::default()
        };
        Results { origin, ..Results::default() }
    }

    /// Adds a benchmark, or a remark if it has no value. A name that occurs again gets a number,
    /// and a remark.
    ///
    /// # Errors
    /// A number that cannot be calculated with, or too many benchmarks.
    pub fn push(&mut self, name: &str, value: &str, times: Times) -> Result<(), String> {
        if self.benchmarks.len() == MOST_BENCHMARKS {
            return Err(format!(
                "there are more than {MOST_BENCHMARKS} benchmarks: split the file"
            ));
        }
        if times.is_empty() {
            self.left_out(name, "it has no value");
            return Ok(());
        }
        times.check().map_err(|reason| format!("benchmark `{}`: {reason}", shown(name)))?;
        let number_of_name = self.names.entry(name.to_owned()).or_insert(0);
        *number_of_name += 1;
        let number = *number_of_name;
        let own_name = if number == 1 { name.to_owned() } else { format!("{name} ({number})") };
        if number == 2 {
            self.remark(format!(
                "`{}` occurs several times: the n-th is compared with the n-th of the other file",
                shown(name)
            ));
        }
        self.benchmarks.push(Benchmark {
            name: own_name,
            value: value.to_owned(),
            times,
            doubted: None,
        });
        Ok(())
    }

    /// Says of the benchmark that was added last how many values are in doubt.
    pub fn doubted(&mut self, count: usize, reason: &str) {
        if let Some(last) = self.benchmarks.last_mut().filter(|_| count > 0) {
            last.doubted = Some((count, reason.to_owned()));
        }
    }

    /// Adds a remark that something was left out.
    pub fn remark(&mut self, text: String) {
        if self.remarks.len() < MOST_REMARKS {
            self.remarks.push(text)
        } else {
            self.unwritten += 1
        }
    }

    /// Adds a remark that a benchmark was left out.
    pub fn left_out(&mut self, name: &str, reason: &str) {
        self.remark(format!("`{}` is left out: {reason}", shown(name)));
    }

    /// The results with the number of the remarks that are not kept.
    ///
    /// # Errors
    /// There is no benchmark; the first remark says why.
    pub fn finish(mut self) -> Result<Results, String> {
        if self.benchmarks.is_empty() {
            let why = self.remarks.first().map(|remark| format!(" ({remark})"));
            return Err(format!(
                "has no time of a benchmark of {}{}",
                self.origin.tool,
                why.unwrap_or_default()
            ));
        }
        if self.benchmarks.iter().any(|benchmark| benchmark.times.is_without_order()) {
            self.origin.lacks.push(format!(
                "how values in a row are correlated, which the file does not show: they count as \
                 at most {MOST_WITHOUT_ORDER} independent ones"
            ));
        }
        if self.unwritten > 0 {
            self.remarks.push(format!("and {} more remarks", self.unwritten));
        }
        Ok(self)
    }
}

/// A name for a message: without control characters, and cut.
pub fn shown(name: &str) -> String {
    const MOST_CHARACTERS: usize = 80;
    let clean = |c: char| if c.is_control() { '?' } else { c };
    let text: String = name.chars().take(MOST_CHARACTERS).map(clean).collect();
    if name.chars().nth(MOST_CHARACTERS).is_some() { text + "..." } else { text }
}
