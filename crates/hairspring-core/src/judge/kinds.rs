//! The kinds of finding that the checks of this crate raise, with their messages.

use super::finding::{Description, Kind, Numbers, Value};
use super::words::{bound, counted, in_percent, interval, rows_of, share, short, shortened};
use crate::estimate::Estimate;
use crate::numbers;

/// The codes of the kinds below, for callers that treat some of them specially.
#[allow(missing_docs, reason = "each is documented at its kind in `FindingKind`")]
pub mod code {
    pub const NON_LINEAR: &str = "non_linear";
    pub const SHIFTED_BY_NEGATIVE: &str = "shifted_by_negative";
    pub const BEND_LEFT_OUT: &str = "bend_left_out";
    pub const OUTLIERS: &str = "outliers";
    pub const CLOCK_TOO_COARSE: &str = "clock_too_coarse";
    pub const QUANTUM_LEARNT: &str = "quantum_learnt";
    pub const FREQUENCY_STEPPED: &str = "frequency_stepped";
    pub const CORE_SHARED: &str = "core_shared";
    pub const NEIGHBOUR: &str = "neighbour";
    pub const OVERLAP: &str = "overlap";
    pub const INIT_UNDOES: &str = "init_undoes";
    pub const FENCE_HIDES: &str = "fence_hides";
    pub const PREEMPTED: &str = "preempted";
    pub const DISTURBED_THROUGHOUT: &str = "disturbed_throughout";
    pub const BELOW_RESOLUTION: &str = "below_resolution";
    pub const RANK_DEFICIENT: &str = "rank_deficient";
    pub const METHODS_DEPART: &str = "methods_depart";
    pub const NEVER_RAN: &str = "never_ran";
    pub const PRECISION_MISSED: &str = "precision_missed";
    pub const WIDE_INTERVAL: &str = "wide_interval";
    pub const NEGATIVE: &str = "negative";
    pub const NOT_CHECKED: &str = "not_checked";
    pub const NO_CYCLES: &str = "no_cycles";
    pub const UNORDERED_CLOCK: &str = "unordered_clock";
    pub const DENORMALS: &str = "denormals";
    pub const NOT_OPTIMISED: &str = "not_optimised";
    pub const OTHER_PLACEMENTS: &str = "other_placements";
    pub const PAUSED: &str = "paused";
    pub const SETTLES: &str = "settles";
    pub const SLOW_EVALUATIONS: &str = "slow_evaluations";
    pub const SLOW_LEFT_OUT: &str = "slow_left_out";
    pub const LAYOUTS_UNTRIED: &str = "layouts_untried";
    pub const LAYOUTS_DIFFER: &str = "layouts_differ";
}

/// The findings of the checks of this crate, with their numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the field names are the names of the numbers; `describe` puts them into words")]
pub enum FindingKind {
    /// The rows do not lie on a line (or plane). The departure makes the time of the component uncertain by this share; without
    /// a component, it is so large that no time can be trusted, or so small that it matters to none.
    NonLinear { component: Option<String>, effect_percent: Option<f64>, lack_of_fit_f: f64, departure_percent: f64 },
    /// The solved value of another component is negative, so this one may be too long by up to this share.
    ShiftedByNegative { component: String, negative: String, effect_percent: f64 },
    /// Rows at few copies were left out because the line bends there.
    BendLeftOut { rows: usize },
    /// Rows far off the line were left out.
    Outliers { rows: usize },
    /// The clock's quantum is not averaged out by noise or dither; with a component, it matters to that one.
    ClockTooCoarse { component: Option<String>, phase_spread: f64 },
    /// All readings are multiples of a step that nobody stated.
    QuantumLearnt { step: f64, unit: String },
    /// The core clock stepped during the run.
    FrequencyStepped { low_percent: f64, high_percent: f64 },
    /// A control chain was not measured at its known length: something else used the core's execution units.
    CoreShared { control_cycles: f64, expected_cycles: f64 },
    /// A neighbour on the core lengthens the code: its time is longer by this share than by the readings during which the core was
    /// quiet.
    SlowedByNeighbour { longer_percent: f64, quiet_percent: Option<f64> },
    /// Something else used the core in almost all readings, as their guards show: by themselves, or because reads of the clock take longer
    /// by this share than in earlier runs.
    HardlyQuiet { quiet_percent: f64, reads_longer_percent: Option<f64> },
    /// Something else used the core; the time is that of the undisturbed readings. The share is that of the readings with
    /// short guards, where the readings have guards.
    Neighbour { quiet_percent: Option<f64>, excess_percent: f64 },
    /// Body and init overlap: the time of the body changes when the inits are placed elsewhere, or when fences separate
    /// them. All three estimates are times of the body.
    Overlap { at_end: Estimate, in_place: Option<Estimate>, fenced: Option<Estimate>, unit: String },
    /// The init takes so much longer behind a body than behind another init, because it undoes what the body left, or less if this is negative.
    /// This time is the init's.
    InitUndoes { longer: Estimate, unit: String },
    /// A fence hides up to this many cycles of the code after it: the interval cannot be narrower.
    FenceHides { cycles: f64 },
    /// Readings were disturbed by other work and left out.
    Preempted { share_percent: f64, stolen_ms: Option<f64> },
    /// So many readings were disturbed by other work that most of these are used, too.
    DisturbedThroughout { share_percent: f64, left_out_percent: f64, stolen_ms: Option<f64> },
    /// The time cannot be told from zero; `bound` is its upper bound.
    BelowResolution { component: String, bound: f64, unit: String },
    /// Some components cannot be told apart.
    RankDeficient { rank: usize, unknowns: usize, dependent: Vec<String> },
    /// Other methods differ from the line fit by more than the intervals of both allow.
    MethodsDepart { methods: Vec<String>, most_percent: f64, remedy: &'static str },
    /// Components that ran in no row.
    NeverRan { components: Vec<String> },
    /// The interval of a component is wider than the requested precision.
    PrecisionMissed { component: String, reached_percent: f64, asked_percent: f64 },
    /// The interval is so wide that the value says little.
    WideInterval { component: String, half_width_percent: f64 },
    /// The value and its whole interval are negative.
    Negative { component: String, value: f64, unit: String },
    /// The fit was not checked: too few rows, or no repeats.
    NotChecked { rows: usize, unknowns: usize },
    /// Core cycles are not available.
    NoCycles { reason: String },
    /// Reads of the clock are not ordered with respect to the code.
    UnorderedClock { clock: String },
    /// Floating-point instructions met denormals; with `some_rows`, some rows always did and others never.
    Denormals { share_percent: f64, operands: bool, results: bool, some_rows: bool },
    /// The rows were compiled without optimisation.
    NotOptimised,
    /// In a few placements the code takes another time than in all the others, by far; they were left out. The factors are their
    /// shortest and their longest time over the middle one of all placements.
    OtherPlacements { component: String, others: usize, placements: usize, least_factor: f64, most_factor: f64 },
    /// The CPU pauses so often that each long reading contains some pauses: their share of the time, their mean length, where the
    /// unit of the readings is known, and how many there are in the longest row.
    Paused { share_percent: f64, mean_us: Option<f64>, in_longest: f64, are: PausesAre },
    /// The code ran in some of its layouts only.
    LayoutsUntried { tried: usize, layouts: usize },
    /// Some readings of the code are far longer than the others by its own doing, and the time is the mean with them.
    SlowEvaluations { share_percent: f64, longer_percent: f64 },
    /// The same, where it is not sure that they are the code's own, or where they add little: the time is the mean without them.
    SlowLeftOut { share_percent: f64, longer_percent: f64 },
    /// In each placement the code takes longer at first; these rounds are left out. By the last share it still became faster at the end.
    Settles { rounds: u32, of: u32, first_factor: f64, left_percent: f64 },
    /// The code takes another time in each layout. The factors are the shortest and the longest of these times over their mean.
    LayoutsDiffer { component: String, layouts: usize, least_factor: f64, most_factor: f64 },
}

impl Kind for FindingKind {
    fn describe(self) -> Description {
        use FindingKind::*;
        match self {
            NonLinear { component, effect_percent, lack_of_fit_f, departure_percent } => Description {
                code: code::NON_LINEAR,
                message: format!(
                    "the rows do not lie on a straight line: lack of fit F = {lack_of_fit_f:.1}, departure {} of the longest row{}",
                    in_percent(departure_percent),
                    match (&component, effect_percent) {
                        (Some(component), Some(effect)) => format!("; it makes {component} uncertain by {effect:.1} %"),
                        _ => String::new(),
                    }
                ),
                numbers: about(component, numbers! { effect_percent, lack_of_fit_f, departure_percent }),
                remedy: "the totals are not sums of these parts: look for work that was not counted or that depends on another count, or use rows of similar length",
            },
            ShiftedByNegative { component, negative, effect_percent } => Description {
                code: code::SHIFTED_BY_NEGATIVE,
                message: format!(
                    "the solved value of {negative} is negative, so {component} may be too long by up to {effect_percent:.1} %"
                ),
                numbers: numbers! { component, negative, effect_percent },
                remedy: "the rows are not sums of their parts; see the lack of fit, and check the counts",
            },
            BendLeftOut { rows } => Description {
                code: code::BEND_LEFT_OUT,
                numbers: numbers! { rows },
                message: format!("{} with few copies left out: the line bends there", rows_of(rows)),
                remedy: "nothing to do: the remaining rows lie on a line",
            },
            Outliers { rows } => Description {
                code: code::OUTLIERS,
                numbers: numbers! { rows },
                message: format!("{} far off the line left out", rows_of(rows)),
                remedy: "look at these rows; measure again on a quieter machine if it happens again",
            },
            ClockTooCoarse { component, phase_spread } => Description {
                code: code::CLOCK_TOO_COARSE,
                message: format!(
                    "repeated readings hardly vary ({phase_spread:.3} quanta of the clock): the quantum does not average out and is included in the interval{}",
                    component.as_ref().map(|component| format!(" of {component}")).unwrap_or_default()
                ),
                numbers: about(component, numbers! { phase_spread }),
                remedy: "use a finer clock, or rows with larger counts",
            },
            QuantumLearnt { step, unit } => Description {
                code: code::QUANTUM_LEARNT,
                message: format!(
                    "all readings are multiples of {step} {unit}: this is taken as the quantum of the clock, which nothing states"
                ),
                numbers: numbers! { step, unit },
                remedy: "nothing to do; `# granularity:` in the file states the clock's quantum",
            },
            FrequencyStepped { low_percent, high_percent } => Description {
                code: code::FREQUENCY_STEPPED,
                numbers: numbers! { low_percent, high_percent },
                message: format!("the core clock moved between {low_percent:+.1} % and {high_percent:+.1} % of its median during the run"),
                remedy: "compare core cycles, which do not change with it; the time in ns is the mean over the run",
            },
            CoreShared { control_cycles, expected_cycles } => Description {
                code: code::CORE_SHARED,
                numbers: numbers! { control_cycles, expected_cycles },
                message: format!(
                    "a control chain of {expected_cycles} {} was measured as {control_cycles:.3}: something else used the core (for example a process on its other hardware thread), or slowed one chain and not the other",
                    if expected_cycles == 1.0 { "cycle" } else { "cycles" }
                ),
                remedy: "measure again, on another CPU or a quieter machine",
            },
            SlowedByNeighbour { longer_percent, quiet_percent } => Description {
                code: code::CORE_SHARED,
                numbers: numbers! { longer_percent, quiet_percent },
                message: format!(
                    "something else used the core (for example a process on its other hardware thread) and slowed this code: its time is {} longer than in the readings without it{}",
                    in_percent(longer_percent),
                    quiet_percent.map(|share| format!(" ({share:.0} % of them)")).unwrap_or_default()
                ),
                remedy: "measure again, on another CPU or a quieter machine",
            },
            HardlyQuiet { quiet_percent, reads_longer_percent } => Description {
                code: code::CORE_SHARED,
                numbers: numbers! { quiet_percent, reads_longer_percent },
                message: format!(
                    "something else used the core (for example a process on its other hardware thread) {}: the time may be too long",
                    reads_longer_percent.map_or_else(
                        || format!("in all but {quiet_percent:.0} % of the readings"),
                        |longer| format!(
                            "throughout, because reads of the clock took {longer:.1} % longer than in quiet runs of the last week"
                        )
                    )
                ),
                remedy: "measure again, on another CPU or a quieter machine",
            },
            Neighbour { quiet_percent, excess_percent } => Description {
                code: code::NEIGHBOUR,
                message: format!(
                    "something else used the core{}; the time is that of the undisturbed readings{}",
                    lengthened(excess_percent),
                    quiet_percent.map(|share| format!(" (the core was quiet in {share:.0} %)")).unwrap_or_default()
                ),
                numbers: numbers! { quiet_percent, excess_percent },
                remedy: "nothing to do; on another CPU or a quieter machine the interval is narrower",
            },
            Overlap { at_end, in_place, fenced, unit } => Description {
                code: code::OVERLAP,
                numbers: with_unit(&unit, [("at_end", at_end.into()), ("in_place", in_place.into()), ("fenced", fenced.into())]),
                message: format!(
                    "body and init overlap in the core: the body takes {} with the further inits at the end of the row{}{}",
                    interval(&at_end, &unit),
                    in_place.map(|time| format!(", {} with the inits before each body", interval(&time, &unit))).unwrap_or_default(),
                    fenced.map(|time| format!(", {} from a standing start", interval(&time, &unit))).unwrap_or_default()
                ),
                remedy: "measure every evaluation from a standing start, with fences around it; without fences the time is what one evaluation adds to a stream of them",
            },
            InitUndoes { longer, unit } => Description {
                code: code::INIT_UNDOES,
                numbers: with_unit(&unit, [("longer", longer.into())]),
                message: match longer.value < 0.0 {
                    false => format!(
                        "behind a body the init takes {} longer than behind another init, because it undoes what the body left: this time is counted to the init",
                        interval(&longer, &unit)
                    ),
                    true => format!(
                        "behind a body the init takes {} less than behind another init: the time of the init is that behind a body",
                        interval(&longer.scaled(-1.0), &unit)
                    ),
                },
                remedy: "nothing to do; where init and body belong together, their sum is known better than each of the two",
            },
            FenceHides { cycles } => Description {
                code: code::FENCE_HIDES,
                numbers: numbers! { cycles },
                message: format!("a fence hides up to {cycles:.1} cycles of the code after it: the interval cannot be narrower"),
                remedy: "time a longer piece of code, for example several evaluations in a row; a longer run does not help",
            },
            Preempted { share_percent, stolen_ms } => Description {
                code: code::PREEMPTED,
                numbers: numbers! { share_percent, stolen_ms },
                message: format!("{share_percent:.1} % of the readings were disturbed and left out{}", taken(stolen_ms)),
                remedy: "measure again on a quieter CPU or machine, or for longer",
            },
            DisturbedThroughout { share_percent, left_out_percent, stolen_ms } => Description {
                code: code::DISTURBED_THROUGHOUT,
                numbers: numbers! { share_percent, left_out_percent, stolen_ms },
                message: format!(
                    "{share_percent:.1} % of the readings were disturbed, and the time includes what disturbed them: too few others remain, so {} left out{}",
                    if left_out_percent < 0.05 { "none are".to_owned() } else { format!("only {left_out_percent:.1} % are") },
                    taken(stolen_ms)
                ),
                remedy: "time a shorter piece of code, which other work interrupts less often, or measure on a quieter CPU or machine",
            },
            BelowResolution { component, bound: most, unit } => Description {
                code: code::BELOW_RESOLUTION,
                message: format!(
                    "{component} is below resolution: the time cannot be told from zero; it is at most {} {unit}",
                    bound(most)
                ),
                numbers: [("component".into(), component.into())].into_iter().chain(with_unit(&unit, [("bound", most.into())])).collect(),
                remedy: "use rows in which it runs more often, or repeat the rows more often",
            },
            RankDeficient { rank, unknowns, dependent } => Description {
                code: code::RANK_DEFICIENT,
                message: format!(
                    "the counts tell only {rank} of {unknowns} unknowns apart, because some always run in the same proportion: {}",
                    shortened(&dependent)
                ),
                numbers: numbers! { rank, unknowns, dependent },
                remedy: "the result reports the combinations that can be told apart; add rows in which the counts of the others change independently",
            },
            MethodsDepart { methods, most_percent, remedy } => Description {
                code: code::METHODS_DEPART,
                message: format!(
                    "{}: up to {most_percent:.2} % off the line, more than the intervals allow (marked ! in the table)",
                    shortened(&methods)
                ),
                numbers: numbers! { methods, most_percent },
                remedy,
            },
            NeverRan { components } => Description {
                code: code::NEVER_RAN,
                message: format!("never ran and are not in the result: {} (count 0 in every row)", shortened(&components)),
                numbers: numbers! { components },
                remedy: "add rows in which they run, or remove their columns",
            },
            PrecisionMissed { component, reached_percent, asked_percent } => Description {
                code: code::PRECISION_MISSED,
                message: format!(
                    "the requested precision of {asked} was not reached: the interval of {component} is +-{reached_percent:.2} %",
                    asked = if asked_percent < 0.1 { format!("{} %", short(asked_percent)) } else { in_percent(asked_percent) },
                ),
                numbers: numbers! { component, reached_percent, asked_percent },
                remedy: "repeat the rows more often, or use rows with larger counts",
            },
            WideInterval { component, half_width_percent } => Description {
                code: code::WIDE_INTERVAL,
                message: format!("the interval of {component} is +-{half_width_percent:.0} %"),
                numbers: numbers! { component, half_width_percent },
                remedy: "repeat the rows more often, or use rows with larger counts",
            },
            Negative { component, value, unit } => Description {
                code: code::NEGATIVE,
                message: format!("the solved value of {component} is negative ({value:.4} {unit}): the model does not hold for these rows"),
                numbers: [("component".into(), component.into())].into_iter().chain(with_unit(&unit, [("value", value.into())])).collect(),
                remedy: "the rows are not sums of their parts; see the lack of fit, and check the counts",
            },
            NotChecked { rows, unknowns } => Description {
                code: code::NOT_CHECKED,
                numbers: numbers! { rows, unknowns },
                message: format!(
                    "{} for {}, without enough repeats: the fit to a straight line cannot be checked",
                    rows_of(rows),
                    counted(unknowns as u64, "unknown", "unknowns")
                ),
                remedy: "add rows with other counts, and repeat each of them",
            },
            NoCycles { reason } => Description {
                code: code::NO_CYCLES,
                message: format!("no core cycles: {reason}"),
                numbers: numbers! { reason },
                remedy: "nothing to do: the time does not depend on core cycles",
            },
            UnorderedClock { clock } => Description {
                code: code::UNORDERED_CLOCK,
                message: format!("clock `{clock}` is not ordered: the core may run the code and the read at the same time"),
                numbers: numbers! { clock },
                remedy: "use an ordered clock, unless this effect is what you study",
            },
            Denormals { share_percent, operands, results, some_rows } => Description {
                code: code::DENORMALS,
                numbers: numbers! { share_percent, operands, results, some_rows },
                message: format!(
                    "denormal {} in {} % of the readings{}: many cores take 100 cycles or more for an instruction that meets one",
                    match (operands, results) {
                        (true, true) => "operands and results",
                        (true, false) => "operands",
                        _ => "results",
                    },
                    share(share_percent),
                    if some_rows { ", but not in all rows, so that their difference is no time of the code" } else { "" }
                ),
                remedy: "begin with values that stay ordinary, or have the processor treat denormals as zero (FTZ and DAZ) as the real program does; nothing to do if denormals are what you want to time",
            },
            NotOptimised => Description {
                code: code::NOT_OPTIMISED,
                numbers: Numbers::default(),
                message:
                    "the code was compiled without optimisation: most of the time may be that of moves between registers and the stack"
                        .to_owned(),
                remedy: "compile it with optimisation (-O2), unless unoptimised code is what you want to time",
            },
            Paused { share_percent, mean_us, in_longest, are } => Description {
                code: code::PAUSED,
                numbers: numbers! { share_percent, mean_us, in_longest },
                message: format!(
                    "the CPU pauses for {share_percent:.1} % of the time{}, and nothing counts it: the longest row contains {in_longest:.1} pauses in the mean; {}",
                    mean_us.map(|us| format!(", for {us:.1} us each")).unwrap_or_default(),
                    are.text(),
                ),
                remedy: are.remedy(),
            },
            LayoutsUntried { tried, layouts } => Description {
                code: code::LAYOUTS_UNTRIED,
                numbers: numbers! { tried, layouts },
                message: format!(
                    "the code ran in {tried} of {layouts} layouts: its time may depend on where it lies, and the interval does not include that",
                ),
                remedy: "give it more time, so that it runs in all of them",
            },
            SlowEvaluations { share_percent, longer_percent } => Description {
                code: code::SLOW_EVALUATIONS,
                message: format!(
                    "the code is slow at times: {} of its readings are far longer than the others, and those of the chains hardly ever are; the time is the mean with them, {longer_percent:.0} % more than without",
                    in_percent(share_percent),
                ),
                numbers: numbers! { share_percent, longer_percent },
                remedy: "nothing to do if the mean is what you ask for; else keep what is slow out of the code, such as a container that grows, or time it by itself",
            },
            SlowLeftOut { share_percent, longer_percent } => Description {
                code: code::SLOW_LEFT_OUT,
                message: format!(
                    "{} of the readings of the code are far longer than the others, perhaps by its own doing; they are left out, and the interval reaches to the mean with them, {longer_percent:.1} % more",
                    in_percent(share_percent),
                ),
                numbers: numbers! { share_percent, longer_percent },
                remedy: "keep what is slow at times out of the code, such as the writing of a full buffer, or give it more time, which may show whose it is",
            },
            Settles { rounds, of, first_factor, left_percent } => Description {
                code: code::SETTLES,
                message: format!(
                    "the code has to settle in each placement, as caches fill and branch predictors learn: its first round takes {first_factor:.1} times as long as later ones{}",
                    if left_percent > 0.0 {
                        format!(", and it still becomes faster, by {}, at the end of the placements", in_percent(left_percent))
                    } else {
                        format!("; the first {rounds} of {of} rounds are left out")
                    }
                ),
                numbers: numbers! { rounds, of, first_factor, left_percent },
                remedy: if left_percent > 0.0 {
                    "give it more time, so that the placements are longer"
                } else {
                    "nothing to do: the time is what the code comes to where it runs often"
                },
            },
            LayoutsDiffer { component, layouts, least_factor, most_factor } => Description {
                code: code::LAYOUTS_DIFFER,
                message: format!(
                    "the time of {component} depends on where the code lies: in {layouts} layouts it takes {least_factor:.2} to {most_factor:.2} times the mean, which is the time",
                ),
                numbers: numbers! { component, layouts, least_factor, most_factor },
                remedy: "align the code, or expect any of these times where other code comes before it: a change elsewhere in a program moves it",
            },
            OtherPlacements { component, others, placements, least_factor, most_factor } => Description {
                code: code::OTHER_PLACEMENTS,
                message: format!(
                    "in {others} of {placements} placements {component} takes {} times as long as in the others; the time is that of the others",
                    if most_factor - least_factor < 0.01 {
                        format!("{most_factor:.2}")
                    } else {
                        format!("{least_factor:.2} to {most_factor:.2}")
                    },
                ),
                numbers: numbers! { component, others, placements, least_factor, most_factor },
                remedy: "the addresses of code and data, or other work at that moment, make the difference: align the data, or expect the other time in as many processes",
            },
        }
    }
}

/// What is done about pauses of the CPU in long readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausesAre {
    /// The readings with a pause are left out.
    LeftOut,
    /// Every long reading has some, and their share of the time is subtracted.
    Subtracted,
    /// The interval holds the time with and without them.
    InInterval,
    /// What share of the time they have is hardly known.
    HardlyKnown,
}

impl PausesAre {
    fn text(self) -> &'static str {
        match self {
            PausesAre::LeftOut => "readings with a pause are left out",
            PausesAre::Subtracted => "the time is without them: their share is subtracted",
            PausesAre::InInterval => "the interval holds the time with and without them",
            PausesAre::HardlyKnown => "their share is hardly known",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            PausesAre::LeftOut | PausesAre::Subtracted => "nothing to do: the time is that in which the CPU runs the code",
            PausesAre::InInterval => {
                "time a shorter piece of code, whose rows fit between two pauses, or measure on another CPU or machine"
            }
            PausesAre::HardlyKnown => {
                "give it more time, in which more pauses are seen; else time a shorter piece of code, whose rows fit between two pauses, or measure on another CPU or machine"
            }
        }
    }
}

/// By how much control chains were lengthened, where it is enough to say.
fn lengthened(excess_percent: f64) -> String {
    const LEAST_PERCENT: f64 = 0.1;
    if excess_percent < LEAST_PERCENT {
        return String::new();
    }
    format!(", and lengthened control chains by up to {}", in_percent(excess_percent))
}

/// What the hypervisor took, where it took something.
fn taken(stolen_ms: Option<f64>) -> String {
    stolen_ms.filter(|ms| *ms > 0.0).map(|ms| format!("; the hypervisor took {ms:.0} ms")).unwrap_or_default()
}

/// Numbers about a component, if there is one.
fn about(component: Option<String>, numbers: Numbers) -> Numbers {
    component.map(|component| ("component".to_owned(), Value::Text(component))).into_iter().chain(numbers).collect()
}

/// Numbers in one unit; the unit is appended to their names.
fn with_unit<const N: usize>(unit: &str, numbers: [(&str, Value); N]) -> Numbers {
    numbers.into_iter().map(|(name, value)| (format!("{name}_{unit}"), value)).collect()
}
