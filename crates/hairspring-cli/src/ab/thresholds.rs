//! How much longer each benchmark may take: `--threshold`, or the patterns of `hairspring.toml`.

use super::arguments::AbArguments;
use crate::AnyError;
use hairspring_program::values::share;
use hairspring_result::ab::Threshold;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file that is read without `--config`.
const FILE: &str = "hairspring.toml";
/// A larger file is no file of thresholds.
const MOST_BYTES: u64 = 1 << 20;

/// The thresholds of all benchmarks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thresholds {
    /// That of all that no pattern matches.
    all: Threshold,
    /// Patterns; the first that matches a name counts.
    patterns: Vec<Pattern>,
}

/// The part of the file that is read here; others may have parts of their own.
#[derive(Debug, Deserialize)]
struct File {
    #[serde(default)]
    ab: Part,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(default)]
    threshold: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern {
    name: String,
    relative: Option<String>,
    cycles: Option<f64>,
    ns: Option<f64>,
    /// The threshold of these.
    #[serde(skip)]
    threshold: Threshold,
}

impl Thresholds {
    /// Those of the command line, or of the file.
    ///
    /// # Errors
    /// The file cannot be read, or says something else.
    pub fn find(arguments: &AbArguments) -> Result<Thresholds, AnyError> {
        if let Some(share) = arguments.threshold {
            let all = Threshold { percent: Some(100.0 * share), ..Threshold::default() };
            return Ok(Thresholds { all, patterns: Vec::new() });
        }
        let is_asked = arguments.config.is_some();
        let path = arguments.config.clone().unwrap_or_else(|| PathBuf::from(FILE));
        if !is_asked && !path.exists() {
            return Ok(Thresholds::default());
        }
        let named = |error: String| format!("{}: {error}", path.display());
        Ok(read(&path).and_then(|text| Thresholds::parse(&text)).map_err(named)?)
    }

    fn parse(text: &str) -> Result<Thresholds, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let patterns = file.ab.threshold.into_iter().map(Pattern::checked);
        let patterns = patterns.collect::<Result<Vec<Pattern>, String>>()?;
        Ok(Thresholds { all: Threshold::default(), patterns })
    }

    /// That of a name.
    pub fn of(&self, name: &str) -> Threshold {
        let matching = |pattern: &&Pattern| glob_match::glob_match(&pattern.name, name);
        self.patterns.iter().find(matching).map_or(self.all, |pattern| pattern.threshold)
    }
}

impl Pattern {
    fn checked(mut self) -> Result<Pattern, String> {
        let named = |error: String| format!("threshold of `{}`: {error}", self.name);
        let relative = self.relative.as_deref().map(share).transpose();
        let percent = relative.map_err(|error| named(format!("relative: {error}")))?;
        let (cycles, ns) = (self.cycles, self.ns);
        if ![cycles, ns].iter().flatten().all(|most| most.is_finite() && *most > 0.0) {
            return Err(named("cycles and ns must be above 0".into()));
        }
        if percent.is_none() && cycles.is_none() && ns.is_none() {
            return Err(named("give `relative`, `cycles` or `ns`".into()));
        }
        self.threshold = Threshold { percent: percent.map(|share| 100.0 * share), cycles, ns };
        Ok(self)
    }
}

fn read(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MOST_BYTES {
        return Err(format!("has more than {} KiB", MOST_BYTES >> 10));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        [history]
        other = 1
        [[ab.threshold]]
        name = 'copy/*'
        relative = '2%'
        cycles = 3
        [[ab.threshold]]
        name = '**'
        ns = 10.5
    ";

    #[test]
    fn the_first_pattern_that_matches_a_name_counts() {
        let all = Thresholds::parse(TEXT).unwrap();
        assert_eq!((all.of("copy/64").percent, all.of("copy/64").cycles), (Some(2.0), Some(3.0)));
        assert_eq!((all.of("sort/a").percent, all.of("sort/a").ns), (None, Some(10.5)));
        assert_eq!(Thresholds::parse("").unwrap().of("x"), Threshold::default());
    }

    #[test]
    fn what_is_no_threshold_is_told() {
        for (text, told) in [
            ("[[ab.threshold]]\nname = 'a'", "give `relative`"),
            ("[[ab.threshold]]\nname = 'a'\nrelative = '200%'", "below 100 %"),
            ("[[ab.threshold]]\nname = 'a'\ncycles = -1", "above 0"),
            ("[[ab.threshold]]\nname = 'a'\nns = nan", "above 0"),
            ("[[ab.threshold]]\nname = 'a'\nsecs = 1", "unknown field"),
            ("[ab", "expected"),
        ] {
            let error = Thresholds::parse(text).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
