//! Several runs of the same benchmarks, each in a process of its own, as one document.

use crate::document::{
    BudgetEntry, Comparison, Component, Figure, ResultDocument, RunValue, Series, joined_runs,
    part_budget,
};
use crate::kinds::ResultFinding;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Uncertain, between_runs};
use hairspring_core::judge::{
    Finding, Looks, Severity, below_finding, code, verdict_if, wide_finding,
};

/// Merges the documents of several runs. A time is the mean of the runs, and its interval includes
/// the variation between them. Untrusted runs are left out if at least two runs, and at least half
/// of all, can be trusted. Circumstances and rows are those of the first run. Findings about the
/// width of an interval are judged anew for that of the mean, with the `precision` asked for. A
/// single document is returned unchanged; `None` without documents.
pub fn between(documents: Vec<ResultDocument>, precision: Option<f64>) -> Option<ResultDocument> {
    let (first, others) = documents.split_first()?;
    if others.is_empty() {
        return Some(first.clone());
    }
    let mut all = first.clone();
    for series in &mut all.results {
        let runs: Vec<&Series> =
            documents.iter().filter_map(|document| find_series(document, &series.name)).collect();
        let merged = merged(series, &runs, precision);
        *series = merged;
    }
    for comparison in &mut all.comparisons {
        compared(comparison, &documents);
    }
    all.run = documents.iter().map(|document| document.run.clone()).reduce(joined_runs).flatten();
    if let Some(run) = &mut all.run {
        run.processes = u32::try_from(documents.len()).ok();
    }
    Some(all.judged())
}

/// Whether an interval is wider than was asked for.
pub fn misses_precision(document: &ResultDocument) -> bool {
    document.results.iter().flat_map(|series| &series.findings).any(misses)
}

fn find_series<'d>(document: &'d ResultDocument, name: &str) -> Option<&'d Series> {
    document.results.iter().find(|series| series.name == name)
}

/// Whether the trusted runs are enough to leave out the others.
pub(crate) fn is_enough(trusted: usize, runs: usize) -> bool {
    trusted >= 2 && 2 * trusted >= runs
}

fn merged(first: &Series, runs: &[&Series], precision: Option<f64>) -> Series {
    let trusted: Vec<&Series> = runs.iter().copied().filter(|run| run.is_trusted()).collect();
    let enough = is_enough(trusted.len(), runs.len());
    let used = if enough { &trusted[..] } else { runs };
    let mut series = first.clone();
    for (name, component) in &mut series.components {
        let of_run =
            |run: &&Series| run.components.get(name).map(|component| component.figure.clone());
        let figures: Vec<Figure> = used.iter().filter_map(of_run).collect();
        let value = |run: &&Series| run_value(run, name, enough && !run.is_trusted());
        component.runs = Some(runs.iter().filter_map(value).collect());
        series.budget.insert(name.clone(), set_mean(component, &figures));
    }
    let overheads: Vec<Figure> = used.iter().filter_map(|run| run.overhead.clone()).collect();
    if let Some(overhead) = &mut series.overhead {
        between_figures(overhead, &overheads);
    }
    series.findings = findings(used, runs.len() - used.len(), runs.len());
    judge_widths(&mut series, precision);
    tell_bounds(&mut series);
    series.judged()
}

fn run_value(run: &Series, component: &str, left_out: bool) -> Option<RunValue> {
    let figure = &run.components.get(component)?.figure;
    let departures = run.departures(component);
    Some(RunValue {
        time_ns: figure.time_ns.flatten(),
        ticks: figure.ticks.flatten(),
        cycles: figure.cycles,
        departures,
        left_out,
    })
}

/// Replaces the figure with the mean of the runs, and returns its error budget.
fn set_mean(component: &mut Component, figures: &[Figure]) -> Vec<BudgetEntry> {
    let in_ns = component.figure.time_ns.is_some();
    let Some((uncertain, level)) = between_figures(&mut component.figure, figures) else {
        return Vec::new();
    };
    part_budget(&uncertain.budget, in_ns, level)
}

/// Replaces the figure by the mean, and returns the mean time with its level, for the budget. It is
/// below resolution if any run is, or if the mean is.
fn between_figures(figure: &mut Figure, figures: &[Figure]) -> Option<(Uncertain, f64)> {
    let (uncertain, estimate) =
        mean(&figures.iter().map(Figure::time).collect::<Option<Vec<Estimate>>>()?)?;
    let e = estimate.if_finite();
    let bounds = figures.iter().filter_map(|one| one.bound_ns.or(one.bound_ticks).flatten());
    // A mean that is surely negative is no time, and has no bound.
    let below = estimate.contains(0.0) || figures.iter().any(|one| one.below_resolution);
    let bound =
        below.then(|| Some(bounds.fold(estimate.high.max(estimate.half_width()), f64::max)));
    if figure.time_ns.is_some() {
        (figure.time_ns, figure.bound_ns) = (Some(e), bound);
    } else {
        (figure.ticks, figure.bound_ticks) = (Some(e), bound);
    }
    figure.below_resolution = below;
    let cycles = figures
        .iter()
        .map(|one| one.cycles)
        .collect::<Option<Vec<Estimate>>>()
        .and_then(|cycles| mean(&cycles));
    if let Some((_, cycles)) = cycles {
        figure.cycles = cycles.if_finite();
    }
    Some((uncertain, estimate.level))
}

/// The mean of the runs with its error budget.
fn mean(runs: &[Estimate]) -> Option<(Uncertain, Estimate)> {
    let uncertain = between_runs(runs)?;
    let estimate = uncertain.estimate(runs[0].level);
    Some((uncertain, estimate))
}

fn compared<'d>(comparison: &mut Comparison, documents: &'d [ResultDocument]) {
    let same = |other: &&Comparison| other.a == comparison.a && other.b == comparison.b;
    let trusted = |document: &ResultDocument| {
        [&comparison.a, &comparison.b]
            .into_iter()
            .all(|name| find_series(document, name).is_some_and(Series::is_trusted))
    };
    let with_ratio = |document: &'d ResultDocument| {
        Some((document, document.comparisons.iter().find(same)?.ratio?))
    };
    let all: Vec<(&ResultDocument, Estimate)> = documents.iter().filter_map(with_ratio).collect();
    let good: Vec<(&ResultDocument, Estimate)> =
        all.iter().copied().filter(|(document, _)| trusted(document)).collect();
    let used = if is_enough(good.len(), all.len()) { good } else { all };
    let looks = Looks::Runs(used.len() as u32);
    if let Some((_, ratio)) = mean(&used.iter().map(|(_, ratio)| *ratio).collect::<Vec<Estimate>>())
    {
        comparison.ratio = ratio.if_finite();
        comparison.at_every_look = comparison.ratio.map(|ratio| looks.interval(&ratio));
        let both = used.iter().flat_map(|(document, _)| {
            [&comparison.a, &comparison.b].map(|name| find_series(document, name))
        });
        let lacks_layouts = both.flatten().any(Series::lacks_layouts);
        comparison.verdict = verdict_if(lacks_layouts, &ratio, looks);
    }
}

/// The findings of all runs in use, each kind once, with a note about the runs that are left out.
fn findings(used: &[&Series], left_out: usize, runs: usize) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for finding in used.iter().flat_map(|run| &run.findings) {
        let component = finding.numbers.get("component");
        match all
            .iter_mut()
            .find(|known| known.code == finding.code && known.numbers.get("component") == component)
        {
            Some(known) if finding.severity > known.severity => *known = finding.clone(),
            Some(_) => {}
            None => all.push(finding.clone()),
        }
    }
    if left_out > 0 {
        all.push(Finding::new(Severity::Note, ResultFinding::RunsLeftOut { left_out, runs }));
    }
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all
}

/// The findings of the document of several runs that [`between`] made, about the intervals of the
/// means: a front end puts its remedies into them. All others have those of the runs.
pub fn about_means(document: &mut ResultDocument) -> impl Iterator<Item = &mut Finding> {
    document
        .results
        .iter_mut()
        .flat_map(|series| &mut series.findings)
        .filter(|finding| is_about_width(finding))
}

/// Whether a finding is about the width of an interval.
fn is_about_width(finding: &Finding) -> bool {
    finding.is(code::WIDE_INTERVAL)
}

/// Replaces the bounds that findings name, which are those of one run, by those of all.
fn tell_bounds(series: &mut Series) {
    for finding in series.findings.iter_mut().filter(|finding| finding.is(code::BELOW_RESOLUTION)) {
        let Some(name) = finding.component() else { continue };
        let Some(figure) = series.components.get(name).map(|component| &component.figure) else {
            continue;
        };
        if let Some(bound) = figure.bound() {
            // The front end has given the remedy.
            let remedy = finding.remedy.clone();
            *finding = Finding {
                remedy,
                ..below_finding(name, bound, if figure.in_ns() { "ns" } else { "ticks" })
            };
        }
    }
}

/// Replaces the findings about the widths of the runs' intervals by those about the interval of
/// their mean.
fn judge_widths(series: &mut Series, precision: Option<f64>) {
    let (of_runs, others): (Vec<Finding>, Vec<Finding>) =
        std::mem::take(&mut series.findings).into_iter().partition(is_about_width);
    let asked = precision.or_else(|| of_runs.iter().find_map(asked));
    series.findings = others;
    for (name, component) in &series.components {
        let Some(time) = component.figure.judged().filter(|_| !component.figure.below_resolution)
        else {
            continue;
        };
        series.findings.extend(wide_finding(name, &time, asked, 0.0));
    }
    series.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// Whether a finding says that a precision that was asked for was not reached.
fn misses(finding: &Finding) -> bool {
    is_about_width(finding)
        && asked(finding).is_some_and(|asked| {
            finding.number("half_width_percent").is_some_and(|half| half > 100.0 * asked)
        })
}

/// The precision that a run was asked for and did not reach, as a share.
fn asked(finding: &Finding) -> Option<f64> {
    Some(finding.number("asked_percent")? / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::estimate::Source;
    use hairspring_core::judge::Verdict;
    use serde_json::{Value, json};

    fn run(value: f64, severity: Option<&str>) -> ResultDocument {
        let e = |value: f64| {
            json!({"value": value, "low": value - 0.01, "high": value + 0.01,
            "level": 0.95})
        };
        let cycles = |value: f64| {
            json!({"value": value, "low": value - 0.03, "high": value + 0.03,
            "level": 0.95})
        };
        let series = |name: &str, value: f64| {
            let findings: Vec<Value> = severity
                .iter()
                .map(|word| {
                    json!({"kind": "disturbed", "severity": word,
                    "message": "m", "remedy": "r"})
                })
                .collect();
            json!({"name": name, "components": {"body": {"time_ns": e(value),
                "cycles": cycles(3.0 * value), "below_resolution": false}},
                "overhead": null, "fit": {"rows": 5, "left_out": 0, "rank": 2, "unknowns": 2,
                    "readings": 9, "readings_used": 9,
                "columns": [], "rows_detail": []}, "budget": {}, "findings": findings})
        };
        let text = json!({"schema": "hairspring/result/2", "command": "run", "environment": {},
            "results": [series("a", value), series("b", 2.0 * value)],
            "comparisons": [{"a": "b", "b": "a", "ratio": e(2.0), "verdict": "slower"}],
            "methods": [],
            "run": {"rounds": 10, "measured_ms": 1.0, "elapsed_ms": 2.0,
            "stop": "precision reached", "stolen_ms": null}});
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn times_are_means_with_the_spread_of_the_runs() {
        let all = between(vec![run(1.0, None), run(1.2, None), run(1.4, None)], None).unwrap();
        let body = &all.results[0].components["body"];
        let time = body.figure.time_ns.flatten().unwrap();
        assert!((time.value - 1.2).abs() < 1e-9 && time.high > 1.6, "{time:?}");
        assert!((body.figure.cycles.unwrap().value - 3.6).abs() < 1e-9);
        assert_eq!(body.runs.as_ref().map(Vec::len), Some(3));
        assert_eq!(all.results[0].budget["body"][0].source, Source::Runs);
        assert_eq!(all.run.as_ref().map(|run| (run.processes, run.rounds)), Some((Some(3), 30)));
    }

    #[test]
    fn untrusted_runs_are_left_out_if_enough_are_trusted() {
        let all = between(
            vec![run(9.0, Some("untrusted")), run(1.0, None), run(1.0, Some("warning"))],
            None,
        )
        .unwrap();
        let series = &all.results[0];
        assert!(
            (series.components["body"].figure.time_ns.flatten().unwrap().value - 1.0).abs() < 1e-9
        );
        let kinds: Vec<&str> =
            series.findings.iter().map(|finding| finding.code.as_ref()).collect();
        assert_eq!(kinds, ["disturbed", "runs_left_out"]);
        assert_eq!(all.comparisons[0].verdict, Verdict::Slower);
        let all = between(
            vec![run(9.0, Some("untrusted")), run(1.0, Some("untrusted")), run(1.0, None)],
            None,
        )
        .unwrap();
        assert!(all.results[0].components["body"].figure.time_ns.flatten().unwrap().value > 3.0);
        assert_eq!(all.results[0].findings[0].severity, Severity::Untrusted);
        let ratio = all.comparisons[0].ratio.unwrap();
        assert!(
            ratio.low > 1.0 && all.comparisons[0].verdict == Verdict::Undecided,
            "what is untrusted is not slower: {ratio:?}"
        );
    }

    #[test]
    fn a_small_difference_of_runs_that_lack_layouts_is_undecided() {
        let of = |ratio: f64, lacks: bool| {
            let mut document = run(1.0, Some("warning"));
            document.comparisons[0].ratio =
                Some(Estimate { value: ratio, low: ratio - 0.01, high: ratio + 0.01, level: 0.95 });
            if lacks {
                document.results[0].findings[0].code = code::LAYOUTS_UNTRIED.into();
            }
            document
        };
        let verdict = |ratio: f64, lacks: bool| {
            between(vec![of(ratio, lacks), of(ratio, false)], None).unwrap().comparisons[0].verdict
        };
        assert_eq!(
            [verdict(1.1, false), verdict(1.1, true), verdict(1.9, true)],
            [Verdict::Slower, Verdict::Undecided, Verdict::Slower]
        );
    }

    #[test]
    fn one_run_below_resolution_makes_the_mean_below_resolution() {
        let mut low = run(1.0, None);
        let figure = &mut low.results[0].components["body"].figure;
        (figure.below_resolution, figure.bound_ns) = (true, Some(Some(5.0)));
        let all = between(vec![run(1.0, None), low], None).unwrap();
        let figure = &all.results[0].components["body"].figure;
        assert_eq!((figure.below_resolution, figure.bound_ns), (true, Some(Some(5.0))));
    }

    #[test]
    fn a_mean_that_is_surely_negative_has_no_bound() {
        let all = between(vec![run(-1.0, None), run(-1.0, None)], None).unwrap();
        let figure = &all.results[0].components["body"].figure;
        assert_eq!((figure.below_resolution, figure.bound_ns), (false, None));
    }

    #[test]
    fn the_bound_of_a_finding_is_that_of_all_runs() {
        let low = |bound: f64| {
            let mut low = run(0.0, None);
            let figure = &mut low.results[0].components["body"].figure;
            (figure.below_resolution, figure.bound_ns) = (true, Some(Some(bound)));
            low.results[0]
                .findings
                .push(Finding { remedy: "wait".into(), ..below_finding("body", bound, "ns") });
            low
        };
        let all = between(vec![low(0.5), low(0.75)], None).unwrap();
        let [finding] = &all.results[0].findings[..] else {
            panic!("{:?}", all.results[0].findings)
        };
        assert!(
            finding.message.contains("at most 0.75 ns") && finding.remedy == "wait",
            "{finding:?}"
        );
    }

    /// A run with a finding that its interval is wider than half a percent.
    fn imprecise(value: f64) -> ResultDocument {
        let mut run = run(value, None);
        let finding = wide_finding(
            "body",
            &Estimate { value, low: 0.98 * value, high: 1.02 * value, level: 0.95 },
            Some(0.005),
            0.0,
        )
        .unwrap();
        run.results[0].findings.push(finding);
        run
    }

    #[test]
    fn the_width_is_judged_of_the_interval_of_the_mean() {
        let kinds = |documents: Vec<ResultDocument>, precision: Option<f64>| -> Vec<String> {
            let all = between(documents, precision).unwrap();
            all.results[0].findings.iter().map(|finding| finding.code.to_string()).collect()
        };
        let alike = || vec![run(1.0, None), run(1.0, None), run(1.0, None)];
        assert!(kinds(alike(), None).is_empty() && kinds(alike(), Some(0.02)).is_empty());
        assert_eq!(kinds(alike(), Some(0.005)), ["wide_interval"]);
        // Every run is as precise as asked for, but the runs differ.
        assert_eq!(
            kinds(vec![run(1.0, None), run(1.3, None), run(1.6, None)], Some(0.05)),
            ["wide_interval"]
        );
        // What the program asked for is known from the findings of its runs.
        assert_eq!(kinds(vec![imprecise(1.0), imprecise(1.0)], None), ["wide_interval"]);
        assert!(kinds(vec![imprecise(10.0), imprecise(10.0)], None).is_empty());
    }
}
