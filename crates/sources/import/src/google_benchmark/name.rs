//! Names of runs.

use super::Entry;

/// The kinds of time that a name may state.
const KINDS: [&str; 3] = ["process_time", "real_time", "manual_time"];

/// The name without the parts that only state the length of the run. The library adds these behind
/// the arguments, each once and in one order; an argument may have the same name.
pub fn family(run: &Entry) -> String {
    let mut parts: Vec<&str> = run.run_name.as_deref().unwrap_or(&run.name).split('/').collect();
    let mut kept_parts: Vec<&str> = Vec::new();
    let last_is = |parts: &[&str], is: &dyn Fn(&str) -> bool| {
        parts.len() > 1 && parts.last().is_some_and(|part| is(part))
    };
    if last_is(&parts, &|part| part.starts_with("threads:")) {
        kept_parts.extend(parts.pop());
    }
    // Two may be stated: process_time/real_time.
    while last_is(&parts, &|part| KINDS.contains(&part)) {
        kept_parts.extend(parts.pop());
    }
    let repeats =
        |part: &str| is_number(part, "repeats:", |n| run.repetitions.is_none_or(|all| all == n));
    let iterations = |part: &str| is_number(part, "iterations:", |n| run.ran(n));
    // The library writes seconds with three digits behind the point; an argument is a whole number.
    let seconds = |part: &str, word: &str| part.starts_with(word) && part.contains('.');
    let of_the_run: [&dyn Fn(&str) -> bool; 4] =
        [&repeats, &iterations, &|part| seconds(part, "min_warmup_time:"), &|part| {
            seconds(part, "min_time:")
        }];
    for is in of_the_run {
        if last_is(&parts, is) {
            parts.pop();
        }
    }
    parts.into_iter().chain(kept_parts.into_iter().rev()).collect::<Vec<_>>().join("/")
}

/// Whether a part is a word with a number that fits.
fn is_number(part: &str, word: &str, fits: impl Fn(f64) -> bool) -> bool {
    part.strip_prefix(word).and_then(|number| number.parse().ok()).is_some_and(fits)
}

impl Entry {
    /// Number of threads, 1 where it is not stated.
    pub fn threads(&self) -> f64 {
        let named = || {
            let (_, last) =
                self.run_name.as_deref().unwrap_or(&self.name).rsplit_once("/threads:")?;
            last.parse().ok()
        };
        self.threads.or_else(named).filter(|threads| *threads >= 1.0).unwrap_or(1.0)
    }

    /// Whether each thread ran so often.
    fn ran(&self, iterations: f64) -> bool {
        self.iterations.is_some_and(|all| all == iterations * self.threads() || all == iterations)
    }
}
