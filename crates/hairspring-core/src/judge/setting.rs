//! What can be done about a doubt depends on where the observations come from: options of one verb help no other.

use super::finding::FindingKind;

/// Where the observations come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Setting {
    /// Code that was run for them (`time`).
    #[default]
    Code,
    /// Benchmarks of a program that was run for them.
    Program,
    /// A statement of Python that was run for them.
    Python,
    /// A table that somebody else observed (`fit`).
    Table,
    /// A recording of a pin (`capture`).
    Recording,
    /// Chains of known length (`verify`).
    Chains,
    /// Calls of a function in a program, with the counts of its blocks (`blocks`).
    Blocks,
}

impl Setting {
    /// What to do where the observations are too few for the unknowns.
    pub(super) fn more_rows(self) -> &'static str {
        match self {
            Setting::Code | Setting::Program | Setting::Python => {
                "give it more time (--budget), choose a quieter CPU (--cpu), or time a shorter piece of code"
            }
            Setting::Table => "add rows with other counts",
            Setting::Recording => "send frames with more counts (spec/capture.md)",
            Setting::Blocks => "add inputs that take other ways through the function, or end calls early (--until each)",
            Setting::Chains => "give it more time (--budget) or choose a quieter CPU (--cpu)",
        }
    }

    /// The remedy that replaces a finding's own, which speaks of code; `None` where that one serves here as well.
    pub(super) fn remedy(self, kind: &FindingKind) -> Option<&'static str> {
        match self {
            Setting::Code => None,
            Setting::Program => for_program(kind),
            Setting::Python => for_python(kind),
            Setting::Table => for_table(kind),
            Setting::Recording => for_recording(kind).or_else(|| for_table(kind)),
            Setting::Chains => for_chains(kind),
            Setting::Blocks => for_blocks(kind),
        }
    }
}

fn for_blocks(kind: &FindingKind) -> Option<&'static str> {
    use FindingKind::*;
    Some(match kind {
        BendLeftOut { .. } => "nothing to do: the clock's fence hides the first cycles of a short call",
        NotChecked { .. } => "add inputs that take other ways through the function",
        WideInterval { .. } => "give it more time (--budget), or add inputs in which it runs more often",
        LongWindows { .. } => "use inputs for which a call is shorter",
        _ => return None,
    })
}

fn for_table(kind: &FindingKind) -> Option<&'static str> {
    use FindingKind::*;
    Some(match kind {
        NonLinear { .. } => {
            "the totals are no sums of these parts: look for something that was not counted or that depends on another count, or observe rows of more equal size"
        }
        BendLeftOut { .. } => "nothing to do, the remaining rows are straight; --keep-all uses all of them",
        Outliers { .. } => "look at these rows in the --json document; --keep-all uses all of them",
        ClockTooCoarse { .. } => "observe with a finer clock, or rows with larger counts",
        CoreShared { .. } => "observe again on a quieter machine",
        Overlap { .. } => "observe every evaluation from a standing start, with fences around it",
        Preempted { .. } => "observe again on a quieter machine, or more often",
        BelowResolution { .. } => "observe rows in which it runs more often, or repeat the rows more often",
        PrecisionMissed { .. } | WideInterval { .. } => "repeat the rows more often, or observe rows with larger counts",
        NotChecked { .. } => "add rows with other counts, and repeat each of them",
        UnorderedClock { .. } => "observe with an ordered clock unless this is what you study",
        LongWindows { .. } => "observe rows with smaller counts",
        _ => return None,
    })
}

/// A recording is made once; what can be changed is the firmware, the recorder, or how long it records.
fn for_recording(kind: &FindingKind) -> Option<&'static str> {
    use FindingKind::*;
    Some(match kind {
        ClockTooCoarse { .. } => {
            "nothing to do if the interval is narrow enough; else record at a higher rate, or send frames with larger counts"
        }
        CoreShared { .. } | Preempted { .. } => "look at them with --save: an interrupt on the chip, or a glitch; or record more frames",
        BelowResolution { .. } => "send frames with larger counts, or more of them",
        PrecisionMissed { .. } | WideInterval { .. } => "record more frames, or send frames with larger counts",
        NotChecked { .. } => "send frames with more counts, and several of them",
        LongWindows { .. } => "send frames with smaller counts",
        _ => return None,
    })
}

/// A program's benchmarks are changed in its source, not by options.
fn for_program(kind: &FindingKind) -> Option<&'static str> {
    use FindingKind::*;
    Some(match kind {
        NonLinear { .. } => {
            "look at the row times (--details): if the time depends on what earlier runs left behind, give the benchmark an init; else try another --cpu"
        }
        BendLeftOut { .. } => "nothing to do, the remaining rows are straight",
        Outliers { .. } => "look at these rows with --details, or keep the raw readings with --save",
        Overlap { .. } => {
            "a body that begins before its init has ended is measured short: put a fence behind the init, or make its input depend on the init's result"
        }
        BelowResolution { .. } => "if it is not that fast, the compiler removed it: make its inputs opaque and use its result",
        _ => return None,
    })
}

/// Options have the same names on the command line and as arguments of the function.
fn for_python(kind: &FindingKind) -> Option<&'static str> {
    use FindingKind::*;
    Some(match kind {
        NonLinear { .. } => {
            "if the time depends on what earlier copies left behind, give the statement an init (--init); else try another --cpu; the rows stand in the JSON document"
        }
        BendLeftOut { .. } => "nothing to do, the remaining rows are straight",
        Outliers { .. } => "look at these rows in the JSON document, or keep the raw readings with --save",
        Overlap { .. } => {
            "statement and init do not simply add up: what the one leaves behind changes the time of the other; time them together as one statement"
        }
        BelowResolution { .. } => {
            "if it is not that fast, Python's compiler folded or removed it: let it work on names instead of constants, and assign its result"
        }
        _ => return None,
    })
}

fn for_chains(kind: &FindingKind) -> Option<&'static str> {
    use FindingKind::*;
    Some(match kind {
        NonLinear { .. } | Outliers { .. } | CoreShared { .. } => "verify again, on a quieter CPU (--cpu) or for longer (--budget)",
        BelowResolution { .. } | NotChecked { .. } => "give it more time (--budget)",
        Negative { .. } => "verify again, on a quieter CPU (--cpu)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, Severity};
    use super::*;

    /// Findings whose own remedy names options, or that speak of code.
    fn kinds() -> Vec<FindingKind> {
        use FindingKind::*;
        let (component, unit) = (|| "body".to_owned(), || "ns".to_owned());
        vec![
            NonLinear { lack_of_fit_f: 9.0, departure_percent: 1.0 },
            BendLeftOut { rows: 1 },
            Outliers { rows: 1 },
            ClockTooCoarse { phase_spread: 0.01 },
            FrequencyStepped { low_percent: -1.0, high_percent: 1.0 },
            CoreShared { control_cycles: 1.1, expected_cycles: 1.0 },
            Preempted { share_percent: 9.0, stolen_ms: None },
            BelowResolution { component: component(), bound: 1.0, unit: unit() },
            RankDeficient { rank: 1, unknowns: 2, dependent: vec![component()] },
            PrecisionMissed { reached_percent: 2.0, asked_percent: 1.0 },
            WideInterval { component: component(), half_width_percent: 9.0 },
            Negative { component: component(), value: -1.0, unit: unit() },
            NotChecked { rows: 1, unknowns: 2 },
            UnorderedClock { clock: "rdtsc".into() },
            LongWindows { longest_ms: 9.0 },
            NeverRan { components: vec![component()] },
            NoCycles { reason: "none".into() },
        ]
    }

    /// Kinds that only code which was run for its observations can have.
    fn kinds_of_code() -> Vec<FindingKind> {
        use FindingKind::*;
        let time = || crate::Estimate { value: 3.0, low: 2.9, high: 3.1, level: 0.95 };
        vec![
            Overlap { at_end: time(), in_place: Some(time()), fenced: None, unit: "ns".into() },
            FenceHides { cycles: 2.0 },
            MethodsDepart { methods: vec!["direct 1x".into()], most_percent: 9.0 },
            KeptInMemory { variables: vec!["x".into()] },
            NotOptimised { flags: "-g".into() },
            WorkChanged { operation: "multiplication".into(), copy: 4, source: 10 },
            Printed { bytes: 3, first_line: "x".into() },
        ]
    }

    /// Kinds that only a recording can have.
    fn kinds_of_recordings() -> Vec<FindingKind> {
        let (component, first_pulse, unit) = ("body".to_owned(), "k = 2".to_owned(), "ns".to_owned());
        vec![FindingKind::OverheadBelowZero { value: -90.0, unit, copies: 0.9, component, first_pulse }]
    }

    #[test]
    fn remedies_name_options_that_the_verb_has() {
        for (setting, options) in [
            (
                Setting::Code,
                &["--init", "--save", "--cpu", "--clock", "--budget", "--let", "--fence", "--cflags", "--method", "--show"][..],
            ),
            (Setting::Program, &["--details", "--save", "--cpu", "--clock", "--budget"][..]),
            (Setting::Python, &["--init", "--save", "--cpu", "--clock", "--budget"][..]),
            (Setting::Table, &["--keep-all", "--json"][..]),
            (Setting::Recording, &["--keep-all", "--json", "--save", "--k"][..]),
            (Setting::Chains, &["--cpu", "--clock", "--budget"][..]),
        ] {
            let others = match setting {
                Setting::Code => kinds_of_code(),
                Setting::Recording => kinds_of_recordings(),
                _ => Vec::new(),
            };
            for kind in kinds().into_iter().chain(others) {
                let remedy = Finding::new(Severity::Note, kind).in_setting(setting).remedy;
                for word in remedy.split(|c: char| !c.is_ascii_lowercase() && c != '-').filter(|word| word.starts_with("--")) {
                    assert!(options.contains(&word), "{setting:?} has no {word}: {remedy}");
                }
            }
        }
    }
}
