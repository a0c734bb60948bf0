//! What earlier runs on this machine measured of the same thing: a run that is shifted as a whole,
//! for example by a busy host, does not show it by itself.
//!
//! The file is `runs-FINGERPRINT` beside that of [`crate::clock_history`], under the same rules.
//! Each line has the time of a run in seconds since 1970, what it measured, and the value:
//! `1795000000 switch-futex-processes-0-0.1.0 9487.2`.

use crate::history_file::{MOST_BYTES, counts, folder, keep, key, now, text_of, with_line};
use crate::identity::fingerprint;
use std::path::Path;

/// Runs that count: this many of the latest. With 20, which may be of one minute, 80 % of the
/// intervals of `switch` reached the median of 40 runs in 7 minutes on a loaded machine, and 92 %
/// with 100.
const MOST_RUNS: usize = 100;

/// The values of the earlier runs of the last week that measured the same, oldest first; adds this
/// one. A name has no spaces. Without a history there are none.
pub fn with_value(name: &str, value: f64) -> Vec<f64> {
    let file = folder().map(|folder| folder.join(format!("runs-{}", fingerprint())));
    file.zip(now()).map_or_else(Vec::new, |(path, now)| added(&path, now, &key(name), value))
}

fn added(path: &Path, now: u64, name: &str, value: f64) -> Vec<f64> {
    if !value.is_finite() || name.contains(char::is_whitespace) {
        return Vec::new();
    }
    let runs = read(path, now);
    let line = format!("{now} {name} {value:.6e}\n");
    let kept_lines = || {
        runs.iter()
            .map(|(time, name, value)| format!("{time} {name} {value:.6e}\n"))
            .collect::<String>()
    };
    keep(path, &line, || kept_lines() + &line);
    let same =
        runs.iter().filter(|(_, own, _)| own == name).map(|(time, _, value)| (*time, *value));
    // Of the lines of one run the last counts, because a mean would scatter less than a run does.
    let runs = same.fold(Vec::new(), |runs, line| with_line(runs, line, |run, value| *run = value));
    runs[runs.len().saturating_sub(MOST_RUNS)..].iter().map(|(_, value)| *value).collect()
}

/// The runs of the last week in the file. Lines that are no run are skipped.
fn read(path: &Path, now: u64) -> Vec<(u64, String, f64)> {
    let text = text_of(path);
    let run = |line: &str| {
        let mut words = line.split(' ');
        let (time, name, value) =
            (words.next()?.parse::<u64>().ok()?, words.next()?, words.next()?.parse::<f64>().ok()?);
        (counts(time, now) && value.is_finite()).then(|| (time, name.to_owned(), value))
    };
    // Half of a long file is dropped, so that it is not written anew at every run.
    let runs: Vec<(u64, String, f64)> = text.lines().filter_map(run).collect();
    let skipped = if text.len() as u64 > MOST_BYTES { runs.len() / 2 } else { 0 };
    runs[skipped..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history_file::{MOST_SECONDS, ONE_RUN_SECONDS};
    use std::fs;

    const NOW_SECONDS: u64 = 2_000_000_000;

    #[test]
    fn earlier_runs_of_the_same_thing_are_returned_for_a_week() {
        let folder = std::env::temp_dir().join(format!("hairspring-runs-{}", std::process::id()));
        let path = folder.join("deep/runs");
        let later = |runs: u64| NOW_SECONDS + runs * ONE_RUN_SECONDS;
        assert_eq!(added(&path, NOW_SECONDS, "a", 1.0), Vec::<f64>::new());
        assert_eq!(added(&path, later(1), "b", 5.0), Vec::<f64>::new());
        assert_eq!(added(&path, later(2), "a", 2.0), [1.0]);
        assert_eq!(added(&path, later(3), "a", f64::NAN), Vec::<f64>::new());
        fs::write(
            &path,
            [&fs::read(&path).unwrap()[..], b"x\n\xff\n99 a\n99999999999 a 7\n1 a 7\n"].concat(),
        )
        .unwrap();
        assert_eq!(added(&path, later(4), "a", 3.0), [1.0, 2.0]);
        assert_eq!(added(&path, later(4) + 1, "a", 4.0), [1.0, 2.0, 3.0]);
        assert_eq!(
            added(&path, later(5) + 1, "a", 5.0),
            [1.0, 2.0, 4.0],
            "two runs at once are one"
        );
        assert_eq!(added(&path, later(5) + MOST_SECONDS, "a", 3.0), [5.0]);
        for at in 0..2_000 {
            let earlier = added(&path, later(5 + at) + MOST_SECONDS, "a", at as f64);
            assert!(
                earlier.len() <= MOST_RUNS
                    && fs::metadata(&path).unwrap().len() <= MOST_BYTES + 100
            );
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
