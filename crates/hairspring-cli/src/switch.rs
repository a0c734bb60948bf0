//! `hairspring switch`: the cost of a context switch.

use crate::arguments::ReportArguments;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_core::judge::Remedies;
use hairspring_core::load::RATES;
use hairspring_host::clock::default_clock;
use hairspring_instruments::switch::document::{Asked, Sides};
use hairspring_instruments::switch::mechanism::{ALL, Mechanism};
use hairspring_instruments::switch::{MOST_BYTES, Measured, Request, document, measure, text};
use hairspring_program::circumstances::bound;
use hairspring_program::values::duration;
use hairspring_result::{Clock, Environment, Reference, json};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hairspring switch                      two processes, by futex
  hairspring switch --by pipe,eventfd    some mechanisms, compared
  hairspring switch --all --threads      all, between two threads of a process
  hairspring switch --working-set 256K   passes over 256 KiB after each switch
  hairspring switch --rate 20000         the share of the CPU at this rate";

/// Measure the cost of a context switch: its system calls, the switch itself, and refilling the
/// caches
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct SwitchArguments {
    /// How the sides wake each other: futex, pipe, eventfd, signal, yield
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = Mechanism::from_name,
        default_value = "futex")]
    pub by: Vec<Mechanism>,
    /// Measure all mechanisms, one after the other
    #[arg(long, conflicts_with = "by")]
    pub all: bool,
    /// Two threads of a process instead of two processes
    #[arg(long)]
    pub threads: bool,
    /// Each side passes over a piece of memory of this size after each switch, such as 64K or 1M
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub working_set: Option<usize>,
    /// Switches per second for the table of overheads [default: 500,5000,50000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = rate,
        allow_hyphen_values = true)]
    pub rate: Vec<f64>,
    /// Time for each mechanism
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = duration)]
    pub budget: Duration,
    /// The CPU to run on [default: one whose core nobody else uses, the last one first]
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<SwitchArguments>().with_remedies(REMEDIES);

impl Runs for SwitchArguments {
    const NAME: &'static str = "switch";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        ("core_shared", QUIETER_CPU),
        ("disturbed", QUIETER_CPU),
        ("wide_interval", MORE_TIME),
        ("below_resolution", MORE_TIME),
        ("other_switches", QUIETER_CPU),
        ("placements_differ", MORE_TIME),
        ("partners_unknown", MORE_TIME),
        (
            "differs_from_earlier_runs",
            "repeat it on a CPU that has nothing else to do (--cpu): one of the runs is not what \
             a switch costs here",
        ),
        ("no_second_method", MORE_TIME),
    ],
    more_rows: MORE_TIME,
};

const QUIETER_CPU: &str = "choose a CPU that has nothing else to do (--cpu)";
const MORE_TIME: &str =
    "give more time (--budget), or choose a CPU that has nothing else to do (--cpu)";

/// Runs the verb; it fails if a mechanism has no result.
fn run(arguments: &SwitchArguments) -> Result<Outcome, AnyError> {
    let request = request(arguments)?;
    let asked = |cpu: usize| Asked {
        cpu,
        sides: if arguments.threads { Sides::Threads } else { Sides::Processes },
        bytes: request.bytes,
        rates: if arguments.rate.is_empty() { RATES.to_vec() } else { arguments.rate.clone() },
    };
    let mut measured = measure(&request)?;
    for (_, one) in &mut measured.results {
        one.iter_mut().for_each(|one| REMEDIES.apply(&mut one.findings));
    }
    let (circumstances, asked) = (circumstances(&measured), asked(measured.thread.cpu));
    arguments.report.print.print(
        || json::print(&document::switch(&measured.results, &asked, &circumstances)),
        || Ok(text::switch(&measured.results, &asked, &circumstances, &output::style())),
    )?;
    let is_done = measured.results.iter().all(|(_, one)| one.is_ok());
    Ok(if is_done { Outcome::Done } else { Outcome::Failed })
}

fn request(arguments: &SwitchArguments) -> Result<Request, AnyError> {
    let mut mechanisms = if arguments.all { ALL.to_vec() } else { arguments.by.clone() };
    let mut seen = Vec::new();
    mechanisms.retain(|one| {
        !seen.contains(one) && {
            seen.push(*one);
            true
        }
    });
    let program = if arguments.threads { None } else { Some(std::env::current_exe()?) };
    Ok(Request {
        mechanisms,
        program,
        bytes: arguments.working_set.unwrap_or(0),
        cpu: arguments.cpu,
        clock: default_clock(),
        budget: arguments.budget,
        level: arguments.report.confidence_level,
    })
}

fn circumstances(measured: &Measured) -> Environment {
    let reference = measured.ruler.as_ref().map(|ruler| Reference {
        cycles: f64::from(ruler.cycles),
        provenance: ruler.provenance.clone(),
    });
    let core_hz = measured.results.iter().find_map(|(_, one)| one.as_ref().ok()?.core_hz);
    let clock = default_clock();
    let clock = Clock {
        granularity_ticks: (measured.quantum > 0).then_some(measured.quantum as f64),
        ..Clock::named(clock.name, clock.description).with_rate(&measured.rate)
    };
    let bound = bound(&measured.thread, "no reference chain ran");
    Environment {
        clock: Some(clock),
        ..bound.with_reference(reference.map_err(Clone::clone)).with_core_clock(core_hz.as_ref())
    }
}

/// A number of bytes such as `4096`, `64K` or `1M`.
fn bytes(text: &str) -> Result<usize, String> {
    const UNITS: [(&str, usize); 4] = [("", 1), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)];
    let upper = text.to_ascii_uppercase();
    let unit = upper.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &upper[..upper.len() - unit.len()];
    let unit = unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(unit);
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    match number
        .parse::<usize>()
        .ok()
        .zip(factor)
        .map(|(number, factor)| number.saturating_mul(factor))
    {
        Some(bytes @ 1..=MOST_BYTES) => Ok(bytes),
        Some(_) => Err(format!("must be from 1 to {}M bytes", MOST_BYTES >> 20)),
        None => Err("expected a number of bytes such as 4096, 64K or 1M".into()),
    }
}

/// A number of switches per second.
fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1e9 => Ok(rate),
        Ok(_) => Err("must be above 0 and at most 1000000000".into()),
        Err(_) => Err("expected a number of switches per second".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units_and_limits() {
        assert_eq!(
            (bytes("1"), bytes("64K"), bytes("64KiB"), bytes("1m")),
            (Ok(1), Ok(65_536), Ok(65_536), Ok(1 << 20))
        );
        for wrong in ["0", "65M", "99999999999999999999G", "1G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["-1", "", "K", "4T", "1.5M", "\u{663}"] {
            assert!(bytes(wrong).unwrap_err().contains("expected"), "{wrong}");
        }
    }

    #[test]
    fn rates_are_positive_numbers() {
        assert_eq!(rate("5000"), Ok(5e3));
        assert!(["0", "-3", "nan", "inf", "often"].into_iter().all(|wrong| rate(wrong).is_err()));
    }
}
