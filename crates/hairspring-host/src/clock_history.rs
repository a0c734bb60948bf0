//! What the latest runs on this machine saw of its core, kept in a file of the user: the core clocks, and the guards of undisturbed
//! rounds. A single run shows only the clocks that it met, and the next one may meet others: nanoseconds of code that follows the
//! core clock move with them. A run beside a neighbour who was there throughout does not show that the guards are longer than usual.
//!
//! The file is `$XDG_STATE_HOME/hairspring/core-clock-FINGERPRINT`, by default below `~/.local/state`. Each line has the time of a
//! run in seconds since 1970, its mean core clock in hertz and, if it showed one, the guard by a clock in core cycles:
//! `1795000000 3694100000 tsc-0.1.0=173.4`. `HAIRSPRING_HISTORY` names another folder, or is `off`. Without a
//! folder that can be written there is no history, and nothing fails.

use crate::history_file::{counts, folder, keep, key, now, text_of, with_line};
use crate::identity::fingerprint;
use hairspring_core::estimate::variance_of_runs;
use hairspring_core::observations::ClockSpread;
use std::path::{Path, PathBuf};

/// Runs that count: this many of the latest.
const MOST_RUNS: usize = 100;
/// Fewest runs whose spread is used: with fewer, Student's quantile is so large that the interval says nothing.
const FEWEST_RUNS: usize = 4;
/// Guards agree if the longest is longer than the shortest by at most this share.
const AGREE: f64 = 0.015;
/// A guard counts if this share of the runs with guards agree on it. On a core whose guards are 158 cycles, 3 of 1,000 quiet runs
/// showed 151 to 154 by chance.
const CONFIRMED: f64 = 0.05;
/// Fewest runs that agree.
const FEWEST_CONFIRMED: usize = 3;
/// Core clocks outside of these are not believed, in hertz.
const BELIEVED: std::ops::Range<f64> = 1e6..2e10;

/// What one run saw of the core.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Mean core clock in hertz.
    pub hz: f64,
    /// Name of a clock, and the mean guard by it while nobody else used the core, in core cycles.
    pub guard: Option<(String, f64)>,
}

/// Adds what a run saw to the history of this machine, if that is wanted; returns how the clock moved between its runs, if there are
/// enough of them.
pub fn with_run(seen: impl FnOnce() -> Option<Seen>) -> Option<ClockSpread> {
    let (path, now) = (path()?, now()?);
    let mut seen = seen()?;
    seen.guard = seen.guard.map(|(clock, cycles)| (key(&clock), cycles));
    added(&path, now, seen)
}

/// How the core clock moved between the earlier runs on this machine, for a run that does not show its own; `None` if too few are known.
pub fn earlier_spread() -> Option<ClockSpread> {
    let runs = read(&path()?, now()?);
    spread(&runs.iter().map(|(_, seen)| seen.hz).collect::<Vec<f64>>())
}

/// The guard by a clock of this name while nobody else used the core, in core cycles, as earlier runs on this machine show it.
pub fn quiet_guard(clock: &str) -> Option<f64> {
    lowest_guard(&read(&path()?, now()?), &key(clock))
}

fn path() -> Option<PathBuf> {
    Some(folder()?.join(format!("core-clock-{}", fingerprint())))
}

fn added(path: &Path, now: u64, seen: Seen) -> Option<ClockSpread> {
    if !BELIEVED.contains(&seen.hz) {
        return None;
    }
    let line_of_run = line(&(now, seen.clone()));
    let runs = with_line(read(path, now), (now, seen), merge);
    keep(path, &line_of_run, || runs.iter().map(line).collect());
    spread(&runs.iter().map(|(_, seen)| seen.hz).collect::<Vec<f64>>())
}

fn line((time, seen): &(u64, Seen)) -> String {
    let guard = seen.guard.as_ref().map(|(clock, cycles)| format!(" {clock}={cycles:.2}")).unwrap_or_default();
    format!("{time} {:.0}{guard}\n", seen.hz)
}

/// The latest runs in the file, oldest first. Lines that are no run are skipped; those of one program are one run.
fn read(path: &Path, now: u64) -> Vec<(u64, Seen)> {
    let run = |line: &str| parsed(line).filter(|(time, seen)| counts(*time, now) && BELIEVED.contains(&seen.hz));
    let runs = text_of(path).lines().filter_map(run).fold(Vec::new(), |runs, line| with_line(runs, line, merge));
    runs[runs.len().saturating_sub(MOST_RUNS - 1)..].to_vec()
}

/// Adds a line of one run to those before it. The last clock counts, because a mean would move less than the clock of a run does, and the
/// shortest guard.
fn merge(run: &mut Seen, seen: Seen) {
    let shorter = |before: &(String, f64), now: &(String, f64)| before.0 == now.0 && before.1 < now.1;
    let keeps = match (&run.guard, &seen.guard) {
        (Some(before), Some(now)) => shorter(before, now),
        (before, _) => before.is_some(),
    };
    *run = Seen { hz: seen.hz, guard: if keeps { run.guard.take() } else { seen.guard } };
}

fn parsed(line: &str) -> Option<(u64, Seen)> {
    let mut words = line.split(' ');
    let (time, hz) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let guard = words.next().and_then(|word| {
        let (clock, cycles) = word.split_once('=')?;
        Some((clock.to_owned(), cycles.parse::<f64>().ok().filter(|cycles| cycles.is_finite() && *cycles > 0.0)?))
    });
    Some((time, Seen { hz, guard }))
}

/// The shortest guard by this clock on which enough runs agree: a few may be too short by chance, and would make every later run seem
/// disturbed.
fn lowest_guard(runs: &[(u64, Seen)], clock: &str) -> Option<f64> {
    let by_clock = |(_, seen): &(u64, Seen)| seen.guard.as_ref().filter(|(name, _)| name == clock).map(|(_, cycles)| *cycles);
    let mut guards: Vec<f64> = runs.iter().filter_map(by_clock).collect();
    guards.sort_unstable_by(f64::total_cmp);
    let enough = FEWEST_CONFIRMED.max((CONFIRMED * guards.len() as f64).ceil() as usize);
    let agree = |group: &&[f64]| group[enough - 1] <= (1.0 + AGREE) * group[0];
    // The middle, because the shortest of the group may be one of the few.
    guards.windows(enough).find(agree).map(|group| group[enough / 2])
}

/// The spread of the runs as the latest of them sees it, if there are enough.
fn spread(hz: &[f64]) -> Option<ClockSpread> {
    let mean = hz.iter().sum::<f64>() / hz.len() as f64;
    (hz.len() >= FEWEST_RUNS).then(|| ClockSpread { sd: variance_of_runs(hz).sqrt() / mean, runs: hz.len() as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history_file::{MOST_BYTES, MOST_SECONDS, ONE_RUN_SECONDS};
    use std::fs;

    const NOW: u64 = 2_000_000_000;

    /// The file of a history in a folder that does not exist yet, deleted when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            Scratch(std::env::temp_dir().join(format!("hairspring-history-{}-{name}", std::process::id())))
        }

        fn file(&self) -> PathBuf {
            self.0.join("deep/core-clock")
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn at_hz(hz: f64) -> Seen {
        Seen { hz, guard: None }
    }

    fn with_guard(clock: &str, cycles: f64) -> Seen {
        Seen { hz: 3e9, guard: Some((clock.to_owned(), cycles)) }
    }

    #[test]
    fn guard_is_the_shortest_of_its_clock_on_which_runs_agree() {
        let scratch = Scratch::new("guards");
        let path = scratch.file();
        let of_tsc = || lowest_guard(&read(&path, NOW + 100), "tsc");
        assert_eq!(of_tsc(), None);
        added(&path, NOW, with_guard("perf", 400.0));
        added(&path, NOW, at_hz(3e9));
        assert_eq!(of_tsc(), None);
        let guards = [(190.0, None), (174.25, None), (90.0, None), (173.5, None), (90.5, None), (174.0, Some(174.0)), (91.0, Some(90.5))];
        for (at, (cycles, found)) in guards.into_iter().enumerate() {
            added(&path, NOW + (at as u64 + 1) * ONE_RUN_SECONDS, with_guard("tsc", cycles));
            assert_eq!(of_tsc(), found, "after {cycles}");
        }
    }

    #[test]
    fn a_few_short_guards_of_many_runs_do_not_count() {
        let of = |at: usize, cycles: f64| (NOW + at as u64 * ONE_RUN_SECONDS, with_guard("tsc", cycles));
        let usual = |at: usize| of(at, 157.5 + 0.01 * at as f64);
        let runs: Vec<(u64, Seen)> = [151.34, 153.83, 154.09, 156.0].into_iter().enumerate().map(|(at, cycles)| of(at, cycles)).collect();
        let runs = [runs, (4..99).map(usual).collect()].concat();
        let found = lowest_guard(&runs, "tsc").unwrap();
        assert!((157.0..158.0).contains(&found), "{found}");
    }

    #[test]
    fn benchmarks_of_one_program_are_one_run() {
        let scratch = Scratch::new("program");
        let path = scratch.file();
        for (at, cycles) in [174.0, 173.0, 180.0].into_iter().enumerate() {
            added(&path, NOW + at as u64, Seen { hz: 3e9 + at as f64, ..with_guard("tsc", cycles) });
        }
        added(&path, NOW + 4, with_guard("perf", 400.0));
        added(&path, NOW + 5, at_hz(3.1e9));
        let run = (NOW, Seen { hz: 3.1e9, ..with_guard("perf", 400.0) });
        assert_eq!(read(&path, NOW + 60), vec![run.clone()]);
        added(&path, NOW + ONE_RUN_SECONDS, at_hz(3.2e9));
        assert_eq!(read(&path, NOW + 60), [run, (NOW + ONE_RUN_SECONDS, at_hz(3.2e9))]);
    }

    #[test]
    fn shortest_guard_of_one_program_counts() {
        let of = |cycles: f64| (NOW, with_guard("tsc", cycles));
        let run = [174.0, 173.0, 180.0].map(of).into_iter().fold(Vec::new(), |runs, line| with_line(runs, line, merge));
        assert_eq!(run, [of(173.0)]);
    }

    #[test]
    fn spread_is_that_of_the_latest_runs() {
        let scratch = Scratch::new("latest");
        let path = scratch.file();
        let begin = |run: u64| NOW + run * ONE_RUN_SECONDS;
        for at in 0..3 {
            assert_eq!(added(&path, begin(at), at_hz(3e9)), None, "{at} earlier runs");
        }
        let found = added(&path, begin(3), at_hz(3.3e9)).unwrap();
        let mean: f64 = (3.0 * 3.0 + 3.3) / 4.0;
        let variance = (3.0 * (3.0 / mean - 1.0).powi(2) + (3.3 / mean - 1.0).powi(2)) / 3.0;
        let from_latest = (variance + (3.3 / mean - 1.0).powi(2)) / 2.0;
        let sd = variance.max(from_latest).sqrt();
        assert!(from_latest > variance && (found.sd - sd).abs() < 1e-9 && found.runs == 4, "{found:?}");
        // A week later none of them counts.
        assert_eq!(added(&path, begin(4) + MOST_SECONDS, at_hz(3e9)), None);
        for at in 0..300 {
            added(&path, begin(5 + at) + MOST_SECONDS, at_hz(2e9 + at as f64));
        }
        assert_eq!(added(&path, begin(400) + MOST_SECONDS, at_hz(2e9)).unwrap().runs, MOST_RUNS as u32);
    }

    #[test]
    fn run_among_the_others_has_their_spread() {
        let sd = |latest: f64| spread(&[2.9, 3.1, 3.0, 2.9, 3.1, latest]).unwrap().sd;
        assert!((sd(3.0) - (0.04_f64 / 5.0).sqrt() / 3.0).abs() < 1e-9);
        assert!(sd(3.6) > 0.09, "{}", sd(3.6));
        assert_eq!(spread(&[]), None);
    }

    #[test]
    fn file_stays_short() {
        let scratch = Scratch::new("short");
        let path = scratch.file();
        let longest = (0..3_000).map(|at| {
            added(&path, NOW + at * ONE_RUN_SECONDS, at_hz(3e9));
            fs::metadata(&path).unwrap().len()
        });
        assert!(longest.max().unwrap() <= MOST_BYTES + 100);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no file is left beside it");
    }

    #[test]
    fn lines_that_are_no_run_are_skipped() {
        let scratch = Scratch::new("hostile");
        let path = scratch.file();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let [first, second, third] = [NOW - 60, NOW - 40, NOW - 20];
        let hostile = format!(
            "{first} 3e9\nx\n\n{NOW} nan\n{NOW} -3e9\n{NOW} 1e300\n{second} 3e9 tsc=-5\n{third} 3e9 tsc=nan\n-5 3e9\n99999999999999999999 3e9\n{} 3e9\n",
            NOW + 60
        );
        fs::write(&path, [hostile.as_bytes(), &[0xff, 0, b'\n'], &vec![b'9'; 1 << 20]].concat()).unwrap();
        assert_eq!(
            read(&path, NOW),
            [first, second, third].map(|time| (time, at_hz(3e9))),
            "a guard that nobody has is no reason to leave out the clock"
        );
        assert!(added(&path, NOW, at_hz(3e9)).is_some());
        assert!(fs::metadata(&path).unwrap().len() < 100, "a file that is too long is written anew");
    }

    #[test]
    fn clock_that_nobody_has_is_not_kept() {
        let scratch = Scratch::new("absurd");
        let path = scratch.file();
        for hz in [0.0, f64::NAN, f64::INFINITY, -3e9, 1e12] {
            assert_eq!(added(&path, NOW, at_hz(hz)), None);
        }
        assert!(!path.exists());
    }

    #[test]
    fn history_that_cannot_be_written_does_no_harm() {
        let scratch = Scratch::new("blocked");
        let path = scratch.file();
        fs::create_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
        fs::write(path.parent().unwrap(), "a file where the folder should be").unwrap();
        assert_eq!(added(&path, NOW, at_hz(3e9)), None);
    }
}
