//! The core clocks of the latest runs on this machine, kept in a file of the user. A single run
//! shows only the clocks that it met, and the next one may meet others: nanoseconds of code that
//! follows the core clock move with them.
//!
//! The file is `$XDG_STATE_HOME/hairspring/core-clock-FINGERPRINT`, by default below
//! `~/.local/state`. Each line has the time of a run in seconds since 1970 and its mean core clock
//! in hertz: `1795000000 3694100000`. What follows on a line is skipped: lines of earlier versions
//! have more. `HAIRSPRING_HISTORY` names another folder, or is `off`. Without a folder that can be
//! written there is no history, and nothing fails.

use crate::history_file::{counts, folder, keep, now, text_of, with_line};
use crate::identity::fingerprint;
use hairspring_core::estimate::variance_of_runs;
use hairspring_core::observations::ClockSpread;
use std::path::{Path, PathBuf};

/// Runs that count: this many of the latest.
const MOST_RUNS: usize = 100;
/// Fewest runs whose spread is used: with fewer, Student's quantile is so large that the interval
/// says nothing.
const FEWEST_RUNS: usize = 4;
/// Core clocks outside of these are not believed, in hertz.
const BELIEVED_HZ: std::ops::Range<f64> = 1e6..2e10;

/// Adds the mean core clock of a run in hertz to the history of this machine, if that is wanted;
/// returns how the clock moved between its runs, if there are enough of them.
pub fn with_run(hz: impl FnOnce() -> Option<f64>) -> Option<ClockSpread> {
    let (path, now) = (path()?, now()?);
    added(&path, now, hz()?)
}

/// How the core clock moved between the earlier runs on this machine, for a run that does not show
/// its own; `None` if too few are known.
pub fn earlier_spread() -> Option<ClockSpread> {
    let runs = read(&path()?, now()?);
    spread(&clocks(&runs))
}

fn path() -> Option<PathBuf> {
    Some(folder()?.join(format!("core-clock-{}", fingerprint())))
}

fn added(path: &Path, now: u64, hz: f64) -> Option<ClockSpread> {
    if !BELIEVED_HZ.contains(&hz) {
        return None;
    }
    let run = (now, hz);
    let runs = with_line(read(path, now), run, merge);
    keep(path, &line(&run), || runs.iter().map(line).collect());
    spread(&clocks(&runs))
}

fn clocks(runs: &[(u64, f64)]) -> Vec<f64> {
    runs.iter().map(|(_, hz)| *hz).collect()
}

fn line((time, hz): &(u64, f64)) -> String {
    format!("{time} {hz:.0}\n")
}

/// The latest runs in the file, oldest first. Lines that are no run are skipped; those of one
/// program are one run.
fn read(path: &Path, now: u64) -> Vec<(u64, f64)> {
    let run = |line: &str| {
        parsed(line).filter(|(time, hz)| counts(*time, now) && BELIEVED_HZ.contains(hz))
    };
    let runs = text_of(path)
        .lines()
        .filter_map(run)
        .fold(Vec::new(), |runs, line| with_line(runs, line, merge));
    runs[runs.len().saturating_sub(MOST_RUNS - 1)..].to_vec()
}

/// Adds a line of one run to those before it. The last clock counts, because a mean would move less
/// than the clock of a run does.
fn merge(run: &mut f64, hz: f64) {
    *run = hz;
}

fn parsed(line: &str) -> Option<(u64, f64)> {
    let mut words = line.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The spread of the runs as the latest of them sees it, if there are enough.
fn spread(hz: &[f64]) -> Option<ClockSpread> {
    let mean = hz.iter().sum::<f64>() / hz.len() as f64;
    (hz.len() >= FEWEST_RUNS)
        .then(|| ClockSpread { sd: variance_of_runs(hz).sqrt() / mean, runs: hz.len() as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history_file::{MOST_BYTES, MOST_SECONDS, ONE_RUN_SECONDS};
    use std::fs;

    const NOW_SECONDS: u64 = 2_000_000_000;

    /// The file of a history in a folder that does not exist yet, deleted when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            Scratch(
                std::env::temp_dir()
                    .join(format!("hairspring-history-{}-{name}", std::process::id())),
            )
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

    #[test]
    fn benchmarks_of_one_program_are_one_run() {
        let scratch = Scratch::new("program");
        let path = scratch.file();
        for at in 0..3 {
            added(&path, NOW_SECONDS + at, 3e9 + at as f64);
        }
        added(&path, NOW_SECONDS + 5, 3.1e9);
        assert_eq!(read(&path, NOW_SECONDS + 60), [(NOW_SECONDS, 3.1e9)]);
        added(&path, NOW_SECONDS + ONE_RUN_SECONDS, 3.2e9);
        assert_eq!(
            read(&path, NOW_SECONDS + 60),
            [(NOW_SECONDS, 3.1e9), (NOW_SECONDS + ONE_RUN_SECONDS, 3.2e9)]
        );
    }

    #[test]
    fn spread_is_that_of_the_latest_runs() {
        let scratch = Scratch::new("latest");
        let path = scratch.file();
        let begin = |run: u64| NOW_SECONDS + run * ONE_RUN_SECONDS;
        for at in 0..3 {
            assert_eq!(added(&path, begin(at), 3e9), None, "{at} earlier runs");
        }
        let spread = added(&path, begin(3), 3.3e9).unwrap();
        let mean: f64 = (3.0 * 3.0 + 3.3) / 4.0;
        let variance = (3.0 * (3.0 / mean - 1.0).powi(2) + (3.3 / mean - 1.0).powi(2)) / 3.0;
        let from_latest = (variance + (3.3 / mean - 1.0).powi(2)) / 2.0;
        let sd = variance.max(from_latest).sqrt();
        assert!(
            from_latest > variance && (spread.sd - sd).abs() < 1e-9 && spread.runs == 4,
            "{spread:?}"
        );
        // A week later none of them counts.
        assert_eq!(added(&path, begin(4) + MOST_SECONDS, 3e9), None);
        for at in 0..300 {
            added(&path, begin(5 + at) + MOST_SECONDS, 2e9 + at as f64);
        }
        assert_eq!(added(&path, begin(400) + MOST_SECONDS, 2e9).unwrap().runs, MOST_RUNS as u32);
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
            added(&path, NOW_SECONDS + at * ONE_RUN_SECONDS, 3e9);
            fs::metadata(&path).unwrap().len()
        });
        assert!(longest.max().unwrap() <= MOST_BYTES + 100);
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "no file is left beside it"
        );
    }

    #[test]
    fn lines_that_are_no_run_are_skipped() {
        let scratch = Scratch::new("hostile");
        let path = scratch.file();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let [first, second, third] = [NOW_SECONDS - 60, NOW_SECONDS - 40, NOW_SECONDS - 20];
        let hostile = format!(
            "{first} 3e9\nx\n\n{NOW_SECONDS} nan\n{NOW_SECONDS} -3e9\n{NOW_SECONDS} 1e300\n\
             {second} 3e9 tsc=-5\n{third} 3e9 tsc=nan\n-5 3e9\n99999999999999999999 3e9\n{} 3e9\n",
            NOW_SECONDS + 60
        );
        fs::write(&path, [hostile.as_bytes(), &[0xff, 0, b'\n'], &vec![b'9'; 1 << 20]].concat())
            .unwrap();
        assert_eq!(
            read(&path, NOW_SECONDS),
            [first, second, third].map(|time| (time, 3e9)),
            "what follows on a line is skipped"
        );
        assert!(added(&path, NOW_SECONDS, 3e9).is_some());
        assert!(
            fs::metadata(&path).unwrap().len() < 100,
            "a file that is too long is written anew"
        );
    }

    #[test]
    fn clock_that_nobody_has_is_not_kept() {
        let scratch = Scratch::new("absurd");
        let path = scratch.file();
        for hz in [0.0, f64::NAN, f64::INFINITY, -3e9, 1e12] {
            assert_eq!(added(&path, NOW_SECONDS, hz), None);
        }
        assert!(!path.exists());
    }

    #[test]
    fn history_that_cannot_be_written_does_no_harm() {
        let scratch = Scratch::new("blocked");
        let path = scratch.file();
        fs::create_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
        fs::write(path.parent().unwrap(), "a file where the folder should be").unwrap();
        assert_eq!(added(&path, NOW_SECONDS, 3e9), None);
    }
}
