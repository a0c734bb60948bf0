//! Doubts about a measurement as data: what was seen, with which numbers, and what to do about it.

use super::recordings;
use super::setting::Setting;
use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// Worth knowing; the result stands.
    Note,
    /// The result stands, wider or for a narrower question than asked.
    Warning,
    /// The result is not to be trusted.
    Untrusted,
}

/// What was found, with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named by what they hold; `words` spells each out")]
pub enum FindingKind {
    /// The rows do not lie on a line (or plane).
    NonLinear { lack_of_fit_f: f64, departure_percent: f64 },
    /// The times of the parts do not add up to those of the rows.
    NotAdditive { explained_percent: Option<f64>, departure_percent: Option<f64> },
    /// Rows depart from the sum of their parts, and parts run code whose time may depend on the data.
    DependsOnData { blocks: Vec<String>, departure_percent: f64, lack_of_fit_f: f64 },
    /// Rows at few copies were left out because the line bends there.
    BendLeftOut { rows: usize },
    /// Rows far off the line were left out.
    Outliers { rows: usize },
    /// The clock's quantum is not averaged out by noise or dither.
    ClockTooCoarse { phase_spread: f64 },
    /// The core clock stepped during the run.
    FrequencyStepped { low_percent: f64, high_percent: f64 },
    /// A chain of known length, run as a control, came out wrong: something else used the core's execution units.
    CoreShared { control_cycles: f64, expected_cycles: f64 },
    /// Of several processes, some were not to be trusted, and their answers left out.
    RunsLeftOut { left_out: usize, runs: usize },
    /// Chains whose lengths are no whole number of core cycles were left out.
    OffLattice { chains: Vec<String> },
    /// All chains may share a factor: the core cycle is known up to it.
    FactorUnknown { chains: usize },
    /// Body and init overlap: the body is another time where the inits stand elsewhere, or behind fences. All three are
    /// times of the body.
    Overlap { at_end: Estimate, in_place: Option<Estimate>, fenced: Option<Estimate>, unit: String },
    /// A fence hides up to so many cycles of the code behind it: the interval cannot be narrower.
    FenceHides { cycles: f64 },
    /// Readings were disturbed by other work and left out.
    Preempted { share_percent: f64, stolen_ms: Option<f64> },
    /// The time cannot be told from zero; `bound` is the most that it can be.
    BelowResolution { component: String, bound: f64, unit: String },
    /// The compiler left no code for a copy.
    OptimisedAway { bytes_per_copy: f64 },
    /// Other methods than the line departed from it by more than their intervals and the line's allow.
    MethodsDepart { methods: Vec<String>, most_percent: f64 },
    /// Variables of types that no register holds are kept in memory: each copy loads and stores them.
    KeptInMemory { variables: Vec<String> },
    /// The flags given to the compiler name no level of optimisation.
    NotOptimised { flags: String },
    /// The compiled copy holds fewer operations than the source: the compiler folded, merged or dropped some.
    WorkChanged { operation: String, copy: u32, source: u32 },
    /// Some components cannot be told apart.
    RankDeficient { rank: usize, unknowns: usize, dependent: Vec<String> },
    /// Components that ran in no row.
    NeverRan { components: Vec<String> },
    /// The interval is wider than asked for.
    PrecisionMissed { reached_percent: f64, asked_percent: f64 },
    /// The interval is so wide that the value says little.
    WideInterval { component: String, half_width_percent: f64 },
    /// The value came out negative although its interval does not allow zero.
    Negative { component: String, value: f64, unit: String },
    /// There is no lack-of-fit check: too few rows or no repeats.
    NotChecked { rows: usize, unknowns: usize },
    /// The code under test wrote to its output while it was measured.
    Printed { bytes: u64, first_line: String },
    /// Core cycles are not available.
    NoCycles { reason: String },
    /// One execution is longer than the time between interrupts; it cannot be measured undisturbed.
    LongWindows { longest_ms: f64 },
    /// The clock's read itself is not ordered against the code.
    UnorderedClock { clock: String },
    /// A clock went backwards, between two reads or from one CPU to another.
    ClockBackward { clock: String, times: u64, readings: u64, worst_ns: Option<f64> },
    /// A read of a clock costs far more than that of the fastest ordered one: it traps to a hypervisor, or enters the kernel.
    CostlyRead { clock: String, read_ns: f64, fastest: String, fastest_ns: f64 },
    /// The thread could not be settled as wished.
    NotSettled { what: String },
    /// A cyclic task did not keep its period: cycles were skipped because the ones before took too long.
    CyclesMissed { missed: u64, due: u64, share_percent: f64 },
    /// The quantum of a clock hides the spread of a period.
    QuantumHidesSpread { clock: String, quantum_ns: f64, sd_ns: f64 },
    /// Two clocks run at different rates, beyond their uncertainty.
    ClocksDisagree { first: String, second: String, ppm: f64 },
    /// A partner's answers did not come in time, or not at all.
    AnswersMissing { sent: u64, lost: u64, late: u64, not_sent: u64 },
    /// Raw observations that could not be written fast enough.
    NotSaved { cycles: u64 },
    /// Two results that are compared were not measured under the same circumstances.
    CircumstancesDiffer { what: String, old: String, new: String },
    /// Series of a result that is compared are themselves not to be trusted.
    ComparedUntrusted { result: String, series: Vec<String>, reason: String },
    /// Frames of a capture in which a pulse is missing or too many.
    FramesLeftOut { left_out: u32, frames: u32, first_at: String, reason: String },
    /// Pulses of a capture that cannot be of their row.
    PulsesDoubted { pulses: usize, of: usize },
    /// Pulses of a capture whose two edges move each other.
    PulsesTooShort { rows: usize, of: usize, samples: f64, needed: f64, left_out: bool },
    /// The overhead of a capture is surely below zero, as if the counts were so many copies too high.
    OverheadBelowZero { value: f64, unit: String, copies: f64, component: String, first_pulse: String },
    /// Pulses of a capture outside of all frames.
    PulsesOutside { pulses: u64 },
    /// The edges of a capture lie at the same place between two samples in every round.
    PhaseLocked { rows: usize, of: usize, concentration: f64 },
    /// Samples of a capture at full scale.
    Clipped { samples: u64, first_at: String },
    /// Steps of a capture that are lower than others because the signal was cut before the converter.
    Overloaded { steps: u64, first_at: String },
    /// A capture whose noise is large against its steps.
    NoisySignal { noise_percent: f64 },
    /// A capture whose level moves: hum, or an input without direct current.
    LevelWanders { share_percent: f64 },
    /// Steps of a capture between edges and noise.
    WeakEdges { edges: u64, first_at: String },
    /// A capture that ends before it should.
    RecordingCut { place: String, reason: String },
    /// A capture whose header states wrong sizes.
    SizesWrong { stated: u64, found: u64 },
    /// A pin whose level was undefined in between.
    LevelUndefined { times: u64, first_at: String },
    /// A capture of several channels, of which the first was taken.
    ChannelAssumed { taken: String, all: Vec<String> },
    /// Samples of a capture that are no numbers.
    NotNumbers { samples: u64, first_at: String },
    /// A capture with so many samples for an edge that some of them are averaged.
    Oversampled { rise_samples: f64, averaged: usize },
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What was found.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// How much it weighs.
    pub severity: Severity,
    /// The finding in words, with its numbers.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// A finding with its words made from its numbers, and the remedy for code that is run.
    pub fn new(severity: Severity, kind: FindingKind) -> Finding {
        let (message, remedy) = words(&kind);
        Finding { kind, severity, message, remedy: remedy.to_owned() }
    }

    /// The same with the remedy that serves where the observations come from.
    #[must_use]
    pub fn in_setting(mut self, setting: Setting) -> Finding {
        if let Some(remedy) = setting.remedy(&self.kind) {
            remedy.clone_into(&mut self.remedy);
        }
        self
    }
}

fn words(kind: &FindingKind) -> (String, &'static str) {
    use FindingKind::*;
    match kind {
        FramesLeftOut { .. }
        | PulsesDoubted { .. }
        | PulsesTooShort { .. }
        | OverheadBelowZero { .. }
        | PulsesOutside { .. }
        | PhaseLocked { .. }
        | Clipped { .. }
        | Overloaded { .. }
        | NoisySignal { .. }
        | LevelWanders { .. }
        | WeakEdges { .. }
        | RecordingCut { .. }
        | SizesWrong { .. }
        | LevelUndefined { .. }
        | ChannelAssumed { .. }
        | NotNumbers { .. }
        | Oversampled { .. } => recordings::words(kind).unwrap_or_default(),
        NonLinear { lack_of_fit_f, departure_percent } => (
            format!(
                "the rows do not lie on a straight line: lack of fit F = {lack_of_fit_f:.1}, departure {} of the longest row",
                percent(*departure_percent)
            ),
            "the time depends on the data, on code size (caches) or on what ran before: re-initialise with --init, keep the data constant, or look at the rows with --save",
        ),
        NotAdditive { explained_percent, departure_percent } => (
            format!("the parts do not add up: {}", not_additive(*explained_percent, *departure_percent)),
            "times of single parts say nothing here (the core overlaps them, or the time depends on the data): use the coarser parts, or solve for edges",
        ),
        DependsOnData { blocks, departure_percent, lack_of_fit_f } => (
            format!(
                "calls depart from the sum of their blocks by {} where noise explains less (F = {lack_of_fit_f:.1}), and the time of some may depend on the data: {}",
                percent(*departure_percent),
                shortened(blocks)
            ),
            "if it does, what goes along with another block's count is counted as that block's time: keep the data of these calls alike, or see with --until what such a block takes by itself",
        ),
        BendLeftOut { rows } => (
            format!("{} with few copies left out: the line bends there", rows_of(*rows)),
            "nothing to do: the clock's fence hides the first cycles of a short row, and the remaining rows are straight",
        ),
        Outliers { rows } => {
            (format!("{} far off the line left out", rows_of(*rows)), "repeat on a quieter machine or CPU (--cpu) if it happens again")
        }
        ClockTooCoarse { phase_spread } => (
            format!(
                "repeated readings hardly vary ({phase_spread:.3} quanta of the clock): the quantum does not average out and is carried in the interval"
            ),
            "use a finer clock (--clock) or more copies",
        ),
        FrequencyStepped { low_percent, high_percent } => (
            format!("the core clock moved between {low_percent:+.1} % and {high_percent:+.1} % of its median during the run"),
            "compare core cycles, which do not change with it; the time in ns is the mean over the run",
        ),
        CoreShared { control_cycles, expected_cycles } => (
            format!(
                "a control chain of {} came out as {control_cycles:.3}: something else used the core (a neighbour on its other hardware thread), or slowed one chain and not the other",
                if *expected_cycles == 1.0 { "1 cycle".to_owned() } else { format!("{expected_cycles} cycles") }
            ),
            "measure again; choose another CPU (--cpu)",
        ),
        RunsLeftOut { left_out, runs } => (
            format!("{left_out} of {runs} processes were not to be trusted and are left out"),
            "nothing to do; each process's answer stands in the JSON document",
        ),
        OffLattice { chains } => (
            format!("no whole number of core cycles, left out: {}", shortened(chains)),
            "nothing to do if it is always the same: this core renames or fuses it; else measure again on a quieter machine",
        ),
        FactorUnknown { chains } => (
            format!("the core clock is known up to a factor of two: nothing shows that the lengths of the {chains} chains share none"),
            "compare with what the manufacturer says of the processor",
        ),
        Overlap { at_end, in_place, fenced, unit } => (
            format!(
                "body and init overlap in the core: the body takes {} with the further inits at the end of the row{}{}",
                spelled(at_end, unit),
                in_place.map(|time| format!(", {} with the inits before each body", spelled(&time, unit))).unwrap_or_default(),
                fenced.map(|time| format!(", {} from a standing start", spelled(&time, unit))).unwrap_or_default()
            ),
            "--fence times every evaluation from a standing start; without it the time is what an evaluation adds to a stream of them",
        ),
        FenceHides { cycles } => (
            format!("a fence hides up to {cycles:.1} cycles of the code behind it: the interval cannot be narrower"),
            "time a longer piece of code, several evaluations in a row for instance; more time does not help",
        ),
        Preempted { share_percent, stolen_ms } => (
            match stolen_ms {
                Some(ms) if *ms > 0.0 => {
                    format!("{share_percent:.1} % of the readings were disturbed and left out; the hypervisor took {ms:.0} ms")
                }
                _ => format!("{share_percent:.1} % of the readings were disturbed and left out"),
            },
            "choose a quieter CPU (--cpu) or give it more time (--budget)",
        ),
        BelowResolution { component, bound, unit } => (
            format!("{component} is below resolution: the time cannot be told from zero; it is at most {} {unit}", rounded_up(*bound)),
            "check that the code does something that is kept (--let, an expression, an assignment), or give it more time (--budget)",
        ),
        OptimisedAway { bytes_per_copy } => (
            format!("optimised away: the compiler left {bytes_per_copy:.1} bytes of code for each copy"),
            "use a --let variable for every input, and make the code an expression or an assignment to a --let variable",
        ),
        MethodsDepart { methods, most_percent } => (
            format!(
                "{}: up to {most_percent:.2} % off the line, more than the intervals allow (marked ! in the table)",
                shortened(methods)
            ),
            if methods.iter().any(|method| method.starts_with("differential")) {
                "believe the line: the clock's fence hides the first cycles of a short row, and so a part of the difference"
            } else {
                "believe the line: the overhead stays in a direct measurement"
            },
        ),
        KeptInMemory { variables } => (
            format!("kept in memory between copies, for want of a register that holds the type: {}", shortened(variables)),
            "the time includes a load and a store of each copy; a latency through such a variable goes through memory",
        ),
        NotOptimised { flags } => (
            format!(
                "the compiler's flags `{flags}` name no level of optimisation: they replace the default -O2, and the code is compiled without"
            ),
            "add -O2 to --cflags, unless unoptimised code is what you want to time",
        ),
        WorkChanged { operation, copy, source } => (
            format!(
                "the compiled copy holds {}, the source has {source}: the compiler folded, merged or dropped some",
                counted(*copy, operation)
            ),
            "the time is that of the copy: see it with --show asm; to time every operation, give one of them as the code, or hide the value in between from the compiler with `__asm__ volatile(\"\" : \"+r\"(x));`",
        ),
        RankDeficient { rank, unknowns, dependent } => (
            format!("the counts tell {rank} of {unknowns} unknowns apart; always the same combination: {}", shortened(dependent)),
            "the combinations that can be told apart are reported; add rows in which the counts of the others change independently",
        ),
        NeverRan { components } => (
            format!("never ran, and so not in the result: {} (count 0 in every row)", shortened(components)),
            "add rows in which it runs, or leave its column away",
        ),
        PrecisionMissed { reached_percent, asked_percent } => (
            format!("not to be trusted to the {asked_percent:.2} % asked for: the interval is +-{reached_percent:.2} %"),
            "give it more time (--budget), or a quieter CPU (--cpu)",
        ),
        WideInterval { component, half_width_percent } => (
            format!("the interval of {component} is +-{half_width_percent:.0} %"),
            "give it more time (--budget), a finer clock (--clock) or a quieter CPU (--cpu)",
        ),
        Negative { component, value, unit } => (
            format!("the solved value of {component} is negative ({value:.4} {unit}): the model does not hold for these rows"),
            "the rows are not sums of their parts; see the lack of fit, and check the counts",
        ),
        NotChecked { rows, unknowns } => (
            format!("{} for {unknowns} unknowns, without enough repeats to spare: nothing checks the straight line", rows_of(*rows)),
            "give it more time (--budget), or time a shorter piece of code",
        ),
        Printed { bytes, first_line } => (
            format!("the code wrote {bytes} bytes while it was measured, first: {first_line:?}"),
            "its output was dropped; the time includes the writing",
        ),
        NoCycles { reason } => (format!("no core cycles: {reason}"), "the time stands by itself"),
        LongWindows { longest_ms } => (
            format!("one row takes {longest_ms:.1} ms, longer than the time between two interrupts"),
            "measure a smaller piece; for whole programs a stopwatch is the better tool",
        ),
        UnorderedClock { clock } => (
            format!("clock `{clock}` is not ordered: the core may run the code and the read at the same time"),
            "use --clock tsc unless this is what you study",
        ),
        ClockBackward { clock, times, readings, worst_ns } => (
            format!(
                "clock `{clock}` went backwards {times} times in {readings} readings{}",
                worst_ns.map_or_else(String::new, |ns| format!(", by {ns:.0} ns at the most"))
            ),
            "its differences are not to be trusted: bind the measurement to one CPU, or use an ordered clock that nobody sets (tsc, monotonic)",
        ),
        CostlyRead { clock, read_ns, fastest, fastest_ns } => (
            format!(
                "a read of `{clock}` takes {read_ns:.0} ns, {:.0} times as long as one of `{fastest}`: it traps to the hypervisor or enters the kernel",
                read_ns / fastest_ns
            ),
            "use it to compare with others' figures, not to measure with",
        ),
        NotSettled { what } => {
            (format!("not allowed here: {what}"), "run with the right to raise priority and lock memory for steadier readings")
        }
        CyclesMissed { missed, due, share_percent } => (
            format!(
                "{missed} of {due} cycles were missed ({}): the cycle before was not done when they were due. They have no latency: mean and shares of the latency look better than they are",
                percent(*share_percent)
            ),
            "ask for a longer period, raise the priority (--priority), or use a CPU that has nothing else to do (--cpu)",
        ),
        QuantumHidesSpread { clock, quantum_ns, sd_ns } => (
            format!("clock `{clock}` steps by {quantum_ns:.0} ns: its spread of {sd_ns:.0} ns is mostly its own quantum"),
            "use a finer clock (--clock); the mean is not touched by it",
        ),
        ClocksDisagree { first, second, ppm } => (
            format!("`{first}` and `{second}` differ by {ppm:+.1} ppm, more than their uncertainty"),
            "one of them is steered (NTP) or off; monotonic_raw is not steered",
        ),
        AnswersMissing { sent, lost, late, not_sent } => (
            format!("of {sent} frames {lost} were never answered and {late} answered late; {not_sent} could not be sent"),
            "look at the partner's load, the network and its queues; the round trips are those of the answers that came",
        ),
        NotSaved { cycles } => (
            format!("{cycles} cycles are missing in the saved file: it could not be written fast enough"),
            "save to a faster disk, or ask for a longer period",
        ),
        CircumstancesDiffer { what, old, new } => (
            format!("not the same {what}: {old} in the old result, {new} in the new one"),
            "measure both under the same circumstances: the ratio holds this difference too",
        ),
        ComparedUntrusted { result, series, reason } => {
            (format!("the {result} result of {} is not to be trusted: {reason}", shortened(series)), "measure it again, then compare")
        }
    }
}

/// `1 multiplication`, `4 multiplications`.
fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn not_additive(explained: Option<f64>, departure: Option<f64>) -> String {
    let explains = match explained {
        // Rounded down: less than all is not all.
        Some(share) if share > 0.0 => format!("explains {:.2} %", (share * 100.0).floor() / 100.0),
        Some(_) => "explains nothing".to_owned(),
        None => "has little to explain".to_owned(),
    };
    match departure {
        Some(departure) => format!("their sum {explains} of the variation between rows and departs from them by {}", percent(departure)),
        None => "a time of a part came out negative".to_owned(),
    }
}

fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 { "below 0.01 %".to_owned() } else { format!("{share:.2} %") }
}

/// A time with its interval in words; a bound where it cannot be told from zero.
fn spelled(time: &Estimate, unit: &str) -> String {
    match time.low > 0.0 {
        true => format!("{:.3} +- {:.3} {unit}", time.value, time.half_width()),
        false => format!("at most {:.3} {unit}", time.high.max(time.half_width())),
    }
}

fn rows_of(rows: usize) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let list = names[..names.len().min(SHOWN)].join("; ");
    if names.len() > SHOWN { format!("{list}; and {} more", names.len() - SHOWN) } else { list }
}

/// A bound with two digits, rounded up so that it stays a bound.
fn rounded_up(bound: f64) -> String {
    if bound.is_nan() || bound <= 0.0 || bound.is_infinite() {
        return bound.to_string();
    }
    let place = bound.log10().floor() as i32 - 1;
    let up = (bound / 10f64.powi(place) - 1e-9).ceil() * 10f64.powi(place);
    let text = format!("{up:.*}", (-place).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_up() {
        for (bound, text) in [(0.01234, "0.013"), (0.02, "0.02"), (123.0, "130"), (99.5, "100"), (0.0, "0"), (7.0, "7")] {
            assert_eq!(rounded_up(bound), text);
        }
    }
}
