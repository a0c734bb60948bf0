//! The table of forms, made from the measured series.

use crate::design::{Edge, Quantity, Series, arranged, series, with_values};
use crate::form::Form;
use crate::forms;
use crate::kinds::InstructionFinding;
use crate::measure::{Measured, Run, Settings, measure};
use crate::system::{Chain, solve};
use crate::{Arrangement, Values};
use hairspring_core::Estimate;
use hairspring_core::judge::{Finding, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// Largest distance from a whole number, as a share of the cycles and in cycles, at which a latency
/// counts as that number.
const WHOLE_DISTANCES: (f64, f64) = (0.01, 0.06);
/// Latencies below this many cycles show that nothing was run.
pub(crate) const ELIMINATED_CYCLES: f64 = 0.6;
/// Largest share by which a throughput may be off that of instructions that do nothing, to count as
/// the same.
const SAME_AS_NOTHING: f64 = 0.03;
/// Smallest share by which a latency changes with the values, or cycles with the addresses.
const OTHER_VALUES: f64 = 0.02;
/// The form that shows the front end: it needs no unit.
const EMPTY_FORM: &str = "nop";

/// Cycles of a latency, as far as they are known.
#[derive(Debug, Clone, PartialEq)]
pub enum Cycles {
    /// Of the pair alone.
    Alone(Estimate),
    /// Of the pair and of helpers that carry the value back; without helpers of known length.
    Sum(Estimate, Vec<Edge>),
    /// Why they are unknown.
    Unknown(String),
}

impl Cycles {
    /// The measured value, of the pair or of the sum.
    pub fn measured(&self) -> Option<&Estimate> {
        match self {
            Cycles::Alone(cycles) | Cycles::Sum(cycles, _) => Some(cycles),
            Cycles::Unknown(_) => None,
        }
    }

    /// The most that the pair can take: every helper takes a cycle or more, unless the core does
    /// without the store and the load.
    pub fn at_most(&self) -> Option<f64> {
        match self {
            Cycles::Alone(cycles) => Some(cycles.value),
            Cycles::Sum(cycles, helpers) => Some(
                cycles.value
                    - helpers.iter().filter(|helper| !is_memory(&helper.from, &helper.to)).count()
                        as f64,
            ),
            Cycles::Unknown(_) => None,
        }
    }
}

/// The latency from one operand to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency {
    /// Label of the operand that is read.
    pub from: String,
    /// Label of the operand that is written.
    pub to: String,
    /// Its cycles.
    pub cycles: Cycles,
    /// The same with special values, where they were tried.
    pub values: Vec<(Values, Estimate)>,
    /// Cycles of the chain, with all helpers, where memory is used in another way.
    pub arrangements: Vec<(Arrangement, Estimate)>,
    /// Cycles of the chain with all helpers, for comparison.
    pub chain: Option<Estimate>,
    /// The helper in the chain that may have delayed it: its latency was subtracted, and what is
    /// left is no whole number.
    pub delayed_by: Option<String>,
    /// Whether the measurement is in doubt, or what was subtracted from it.
    pub is_doubtful: bool,
}

impl Latency {
    /// Whether the value goes through the flags.
    pub fn is_of_flags(&self) -> bool {
        self.from == "flags" || self.to == "flags"
    }

    /// Whether the value goes through memory.
    pub fn is_of_memory(&self) -> bool {
        is_memory(&self.from, &self.to)
    }
}

fn is_memory(from: &str, to: &str) -> bool {
    from == "m" || to == "m"
}

/// The cycles of independent copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Throughput {
    /// Cycles of a copy, or why they are unknown.
    pub cycles: Result<Estimate, String>,
    /// Instructions that each copy needs besides.
    pub with: Vec<String>,
    /// Cycles of a copy that stores, if all copies write to one line of the cache.
    pub one_line: Option<Estimate>,
    /// Whether the measurement is in doubt.
    pub is_doubtful: bool,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct FormResult {
    /// Name of the form.
    pub name: String,
    /// Its set.
    pub set: String,
    /// Its extension.
    pub extension: String,
    /// Latencies, those of flags last.
    pub latencies: Vec<Latency>,
    /// Throughput.
    pub throughput: Throughput,
    /// Findings.
    pub findings: Vec<Finding>,
}

impl FormResult {
    /// The latencies of values that do not go through the flags.
    pub fn data(&self) -> impl Iterator<Item = &Latency> {
        self.latencies.iter().filter(|latency| !latency.is_of_flags())
    }

    /// The largest latency of values that do not go through the flags, or the largest upper bound
    /// of one. A latency through memory counts only if there is no other one, and a sum of a store
    /// and a load only after one that is known alone.
    pub fn latency(&self) -> Option<&Latency> {
        let bounded = self.data().filter_map(|latency| Some((latency, latency.cycles.at_most()?)));
        let rank = |latency: &Latency| match (latency.is_of_memory(), &latency.cycles) {
            (false, _) => 2,
            (true, Cycles::Alone(_)) => 1,
            _ => 0,
        };
        bounded
            .max_by(|a, b| rank(a.0).cmp(&rank(b.0)).then(a.1.total_cmp(&b.1)))
            .map(|(latency, _)| latency)
    }

    /// Whether a number in the row is in doubt.
    pub fn is_doubtful(&self) -> bool {
        self.throughput.is_doubtful || self.latencies.iter().any(|latency| latency.is_doubtful)
    }
}

/// The table with its circumstances.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its rows.
    pub forms: Vec<FormResult>,
    /// Forms that were left out, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Cycles of an instruction that does nothing.
    pub front_end: Option<Estimate>,
    /// How it was measured.
    pub run: Run,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct Request {
    /// The forms; all must be supported by the CPU.
    pub forms: Vec<Form>,
    /// Whether numbers are also measured with special values.
    pub values: bool,
    /// Time, CPU and level.
    pub settings: Settings,
}

/// Measures the forms.
///
/// # Errors
/// As [`measure`], or a form that cannot be encoded.
pub fn table(
    request: &Request,
    progress: &dyn Fn(f64),
) -> Result<Table, Box<dyn std::error::Error>> {
    let all_series = all_series(request)?;
    let run = measure(&all_series, &request.settings, progress)?;
    Ok(Table {
        front_end: front_end(&run.series),
        forms: rows(&request.forms, &run.series),
        left_out: Vec::new(),
        run,
    })
}

/// The series of the forms, those with special values, and those that show helpers and the front
/// end.
pub(crate) fn all_series(request: &Request) -> Result<Vec<Series>, String> {
    let mut all_series = Vec::new();
    for form in &request.forms {
        all_series.extend(series(form)?);
        all_series.extend(arranged(form)?);
        if request.values {
            for values in Values::special(form.element) {
                all_series.extend(with_values(form, *values)?);
            }
        }
    }
    let known_forms = forms::all();
    let named = |name: &str| known_forms.iter().find(|form| form.name == name);
    let has = |all: &[Series], wanted: &Quantity| all.iter().any(|one| one.quantity == *wanted);
    for edge in helpers(&all_series) {
        let alone = Quantity::Latency(vec![edge.clone()]);
        if !has(&all_series, &alone) {
            let own = named(&edge.form).map(series).transpose()?.unwrap_or_default();
            all_series.extend(own.into_iter().filter(|one| one.quantity == alone));
        }
    }
    if let Some(nothing) = named(EMPTY_FORM)
        .filter(|nothing| !request.forms.iter().any(|form| form.name == nothing.name))
    {
        all_series.extend(series(nothing)?);
    }
    Ok(all_series)
}

/// The edges of helpers.
fn helpers(all_series: &[Series]) -> BTreeSet<Edge> {
    let chains = all_series.iter().filter_map(|one| match &one.quantity {
        Quantity::Latency(edges) => Some(edges),
        Quantity::Throughput(_) => None,
    });
    chains.flat_map(|edges| edges.iter().skip(1).cloned()).collect()
}

/// Cycles of a copy that does nothing, unless they are in doubt: they decide what the front end
/// limits.
fn front_end(measured: &[Measured]) -> Option<Estimate> {
    let nothing = measured
        .iter()
        .find(|one| one.form == EMPTY_FORM && one.is_usual() && one.edges().is_none());
    nothing.filter(|one| !one.is_doubtful()).and_then(|one| one.cycles.clone().ok())
}

/// The rows of forms from the measured series.
pub fn rows(forms: &[Form], measured: &[Measured]) -> Vec<FormResult> {
    let ordinary = || measured.iter().filter(|one| one.is_usual());
    let chains: Vec<Chain> = ordinary()
        .filter(|one| !one.is_untrusted())
        .filter_map(|one| {
            Some(Chain { edges: one.edges()?.to_vec(), cycles: *one.cycles.as_ref().ok()? })
        })
        .collect();
    let solved = solve(&chains);
    let nothing = front_end(measured);
    forms.iter().map(|form| row(form, measured, &solved, nothing.as_ref())).collect()
}

fn row(
    form: &Form,
    measured: &[Measured],
    solved: &BTreeMap<Edge, Estimate>,
    nothing: Option<&Estimate>,
) -> FormResult {
    let of_form = || measured.iter().filter(|one| one.form == form.name);
    let mut latencies: Vec<Latency> = of_form()
        .filter(|one| one.is_usual())
        .filter_map(|one| one.edges().map(|edges| latency(one, edges, solved, of_form())))
        .collect();
    latencies.sort_by_key(Latency::is_of_flags);
    let copies = |arrangement| {
        of_form().find(move |one| one.arrangement == arrangement && one.edges().is_none())
    };
    let one_line = copies(Arrangement::OneLine)
        .filter(|one| !one.is_doubtful())
        .and_then(|one| one.cycles.clone().ok());
    let throughput = copies(Arrangement::Usual).and_then(|one| match &one.quantity {
        Quantity::Throughput(with) => Some(Throughput {
            cycles: one.cycles.clone(),
            with: with.clone(),
            one_line,
            is_doubtful: one.is_doubtful(),
        }),
        Quantity::Latency(_) => None,
    });
    let throughput = throughput.unwrap_or(Throughput {
        cycles: Err("it was not measured".into()),
        with: Vec::new(),
        one_line: None,
        is_doubtful: true,
    });
    let findings = findings(form, &latencies, &throughput, nothing, of_form());
    FormResult {
        name: form.name.clone(),
        set: form.set.to_owned(),
        extension: form.extension(),
        latencies,
        throughput,
        findings,
    }
}

fn latency<'m>(
    measured_series: &Measured,
    edges: &[Edge],
    solved: &BTreeMap<Edge, Estimate>,
    of_form: impl Iterator<Item = &'m Measured>,
) -> Latency {
    let cycles = match (&measured_series.cycles, solved.get(&edges[0])) {
        (Err(reason), _) => Cycles::Unknown(reason.clone()),
        // A chain that is in doubt is not part of the system; it is reported as it was measured.
        (Ok(cycles), _) if edges.len() == 1 => Cycles::Alone(*cycles),
        (Ok(_), Some(cycles)) => Cycles::Alone(*cycles),
        (Ok(cycles), None) => without_known(cycles, &edges[1..], solved),
    };
    let special: Vec<&Measured> = of_form
        .filter(|other| !other.is_usual() && other.quantity == measured_series.quantity)
        .collect();
    let is_clear =
        |other: &&&Measured| other.arrangement != Arrangement::Usual && !other.is_doubtful();
    let arrangements = special
        .iter()
        .filter(is_clear)
        .filter_map(|other| Some((other.arrangement, *other.cycles.as_ref().ok()?)));
    let values = special.iter().filter(|other| other.values != Values::Ordinary);
    let delayed_by = delayed_by(&cycles, edges).filter(|_| !measured_series.is_doubtful());
    Latency {
        from: edges[0].from.clone(),
        to: edges[0].to.clone(),
        cycles,
        arrangements: arrangements.collect(),
        values: values
            .filter_map(|other| Some((other.values, *other.cycles.as_ref().ok()?)))
            .collect(),
        chain: measured_series.cycles.as_ref().ok().copied(),
        is_doubtful: measured_series.is_doubtful() || delayed_by.is_some(),
        delayed_by,
    }
}

/// The helpers of a chain, where a fraction is left of it when they are subtracted. In their own
/// chains helpers have the units to themselves; in this one they wait for units that the pair uses:
/// on Zen 5, `mulx` and `imul` of 3 cycles come to 3.15.
fn delayed_by(cycles: &Cycles, edges: &[Edge]) -> Option<String> {
    let Cycles::Alone(alone) = cycles else { return None };
    let is_fraction = edges.len() > 1 && alone.value >= ELIMINATED_CYCLES && !is_whole(alone);
    let names = || {
        edges[1..]
            .iter()
            .map(|edge| format!("{} ({} to {})", edge.form, edge.from, edge.to))
            .collect::<Vec<_>>()
            .join(" and ")
    };
    is_fraction.then(names)
}

/// The sum of a pair and of those helpers whose latencies are not known.
fn without_known(chain: &Estimate, helpers: &[Edge], solved: &BTreeMap<Edge, Estimate>) -> Cycles {
    let (known_helpers, unknown_helpers): (Vec<&Edge>, Vec<&Edge>) =
        helpers.iter().partition(|helper| solved.contains_key(helper));
    let known_latencies = || known_helpers.iter().filter_map(|helper| solved.get(helper));
    let value = chain.value - known_latencies().map(|helper| helper.value).sum::<f64>();
    let half = known_latencies().map(|helper| helper.half_width().powi(2)).sum::<f64>();
    let half = (half + chain.half_width().powi(2)).sqrt();
    let sum = Estimate { value, low: value - half, high: value + half, ..*chain };
    Cycles::Sum(sum, unknown_helpers.into_iter().cloned().collect())
}

fn findings<'m>(
    form: &Form,
    latencies: &[Latency],
    throughput: &Throughput,
    nothing: Option<&Estimate>,
    of_form: impl Iterator<Item = &'m Measured>,
) -> Vec<Finding> {
    let mut told_findings = Vec::new();
    for latency in latencies {
        let pair = format!("{} ({} to {})", form.name, latency.from, latency.to);
        told_findings.extend(latency.cycles.measured().and_then(
            |cycles| match &latency.delayed_by {
                Some(helper) => Some(about_helper(pair, helper, cycles)),
                None => about_cycles(pair, cycles).filter(|_| !latency.is_doubtful),
            },
        ));
        for (values, cycles) in &latency.values {
            told_findings.extend(
                latency.chain.as_ref().and_then(|ordinary| about_values(*values, cycles, ordinary)),
            );
        }
        // Whole chains are compared: what a helper adds is in both.
        let usual =
            latency.chain.as_ref().filter(|_| !latency.is_doubtful || latency.delayed_by.is_some());
        for (arrangement, cycles) in &latency.arrangements {
            let what = format!("a chain of {} ({} to {})", form.name, latency.from, latency.to);
            told_findings
                .extend(usual.and_then(|usual| about_addresses(what, *arrangement, cycles, usual)));
        }
    }
    let usual = throughput.cycles.as_ref().ok().filter(|_| !throughput.is_doubtful);
    let one_line = throughput.one_line.as_ref().zip(usual);
    told_findings.extend(one_line.and_then(|(cycles, usual)| {
        about_addresses(form.name.clone(), Arrangement::OneLine, cycles, usual)
    }));
    let limited = throughput.cycles.as_ref().ok().zip(nothing).filter(|(cycles, nothing)| {
        !throughput.is_doubtful
            && throughput.with.is_empty()
            && (cycles.value / nothing.value - 1.0).abs() < SAME_AS_NOTHING
    });
    told_findings.extend(
        limited
            .filter(|_| form.name != EMPTY_FORM)
            .map(|(cycles, _)| note(InstructionFinding::FrontEnd { cycles: cycles.value })),
    );
    // The same doubt about several series of a form is reported once.
    for finding in of_form.filter(|one| one.is_doubtful()).flat_map(|one| &one.findings) {
        if !told_findings.iter().any(|known: &Finding| known.code == finding.code) {
            told_findings.push(finding.clone());
        }
    }
    told_findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    told_findings
}

fn note(kind: InstructionFinding) -> Finding {
    Finding::new(Severity::Note, kind)
}

fn about_cycles(pair: String, cycles: &Estimate) -> Option<Finding> {
    if cycles.value < ELIMINATED_CYCLES {
        return Some(note(InstructionFinding::Eliminated { pair, cycles: cycles.value }));
    }
    (!is_whole(cycles)).then(|| note(InstructionFinding::OffLattice { pair, cycles: cycles.value }))
}

fn is_whole(cycles: &Estimate) -> bool {
    let distance = (cycles.value - cycles.value.round()).abs();
    distance <= (WHOLE_DISTANCES.0 * cycles.value).max(WHOLE_DISTANCES.1)
        || cycles.contains(cycles.value.round())
}

fn about_helper(pair: String, helper: &str, cycles: &Estimate) -> Finding {
    let kind = InstructionFinding::HelperMayDelay {
        pair,
        helper: helper.to_owned(),
        cycles: cycles.value,
    };
    Finding::new(Severity::Warning, kind)
}

fn about_values(values: Values, cycles: &Estimate, ordinary: &Estimate) -> Option<Finding> {
    let kind = InstructionFinding::DependsOnValues {
        values: values.name().into(),
        cycles: cycles.value,
        ordinary_cycles: ordinary.value,
    };
    differs(cycles, ordinary).then(|| note(kind))
}

fn about_addresses(
    what: String,
    arrangement: Arrangement,
    cycles: &Estimate,
    usual: &Estimate,
) -> Option<Finding> {
    let kind = InstructionFinding::DependsOnAddresses {
        what,
        arrangement,
        cycles: cycles.value,
        usual_cycles: usual.value,
    };
    differs(cycles, usual).then(|| note(kind))
}

fn differs(cycles: &Estimate, usual: &Estimate) -> bool {
    let apart = cycles.low > usual.high || cycles.high < usual.low;
    apart && (cycles.value / usual.value - 1.0).abs() > OTHER_VALUES
}

#[cfg(test)]
mod tests;
