//! Whether the intervals are as narrow as they should be, and what is left open.

use crate::estimate::{Estimate, Source, Uncertain};
use crate::finding::words::{bound, in_percent, short};
use crate::finding::{Finding, Severity, code, with_unit};
use crate::limit::SLIGHT_SHARE;
use crate::limit::{Basis, WIDE_SHARE, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::result::{Looks, Open, SeriesResult, Time, Verdict, excludes};
use crate::stages::{Did, Stage, State};

limits! {
    /// Half-width above which the value says little.
    TOO_WIDE = 0.25, "share of the time", Basis::Derived("half a digit");
    /// An interval is wide for one cause if that alone would make it this share as wide.
    MOSTLY_PLACEMENTS = 0.7, "share of the half-width", Basis::Derived("half of the variance");
    /// A ratio whose interval is wider than a verdict needs, but by this factor at most, is worth
    /// more rounds: what is left to chance shrinks with their square root.
    IN_REACH = 5.0, "", Basis::Seen("100 ms of equal sorts beside a busy process: 7 to 10 %; \
                                     Intel family 6, November 2026");
}

pub(crate) const STAGE: Stage = Stage {
    name: "widths",
    question: "Are the intervals narrow enough, and would more rounds make them narrower?",
    needs: &[],
    limits: &[LIMITS],
    source: None,
    says,
};

/// Says what further rounds would be good for.
pub(crate) fn look(state: &mut State) -> Did {
    let level = state.options.level;
    let narrowest = |cycles: &Uncertain| cycles.without(Source::Fence).estimate(level).relative();
    let body = |series: &SeriesResult| {
        let time = &series.components.first()?.time;
        Some(time.cycles.as_ref().map_or(time.ticks.relative(), narrowest))
    };
    let ratios = state.comparisons.iter().map(|comparison| comparison.ratio.relative());
    let widest = state.results.iter().filter_map(body).chain(ratios).fold(0.0, f64::max);
    let warm_up = state.warm_up.as_ref();
    let open = |comparison: &crate::result::Comparison| {
        let is_decided = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
        let is_excluded = excludes(&Looks::Every.interval(&comparison.ratio)) <= SLIGHT_SHARE;
        !is_decided && !is_excluded && comparison.ratio.half_width() <= IN_REACH * SLIGHT_SHARE
    };
    state.open = Open {
        widest,
        is_disturbed: super::controls::is_disturbed(state),
        varies: warm_up.is_some_and(|warm_up| warm_up.left > 0.0)
            || state.results.iter().any(|series| varies(series, level)),
        warms_up_late: warm_up.is_some_and(super::settling::WarmUp::is_late),
        is_undecided: state.comparisons.iter().any(open),
    };
    Did::something(format!("+-{} at the widest", in_percent(100.0 * widest)))
}

/// Whether a body's interval is wide, and mostly for the differences between placements.
fn varies(series: &SeriesResult, level: f64) -> bool {
    let time = series
        .components
        .first()
        .and_then(|body| body.time.cycles.as_ref().or(body.time.ns.as_ref()));
    time.is_some_and(|time| {
        let estimate = time.estimate(level);
        estimate.relative() > WIDE_SHARE
            && time.part(Source::Placement, level) > MOSTLY_PLACEMENTS * estimate.half_width()
    })
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let name = state.name(series);
    let Some(result) = state.results.iter().find(|result| result.name == name) else {
        return Vec::new();
    };
    let level = state.options.level;
    let (_, unit) = state.shown_unit();
    let finding_of =
        |(at, component): (usize, &crate::result::ComponentResult)| match component.time.bound {
            Some(bound) if is_short(state, series, bound.shown) => {
                Some(below_finding(&component.name, bound.shown, unit))
            }
            Some(bound) => Some(unknown_finding(&component.name, bound.shown, unit)),
            None => {
                let fence = component
                    .time
                    .cycles
                    .as_ref()
                    .map_or(0.0, |cycles| cycles.part(Source::Fence, level));
                let asked = state.precision.filter(|_| at == 0);
                wide_finding(&component.name, &component.time.judged(level), asked, fence)
                    .or_else(|| wide_in_ns(&component.name, &component.time, level))
            }
        };
    result.components.iter().enumerate().filter_map(finding_of).collect()
}

/// A finding if the interval is wide in nanoseconds, and not in core cycles.
fn wide_in_ns(component: &str, time: &Time, level: f64) -> Option<Finding> {
    let (cycles, ns) = (time.cycles.as_ref()?.estimate(level), time.ns.as_ref()?.estimate(level));
    let (half_width_percent, cycles_percent) = (100.0 * ns.relative(), 100.0 * cycles.relative());
    let message = format!(
        "the interval of {component} is +-{half_width_percent:.0} % in ns, and \
         +-{cycles_percent:.2} % in cycles: the core clock moves"
    );
    let component = component.to_owned();
    let remedy = "compare core cycles, or measure again: earlier runs on the machine show how far \
                  its core clock moves";
    let numbers = numbers! { component, half_width_percent, cycles_percent };
    let finding = Finding {
        keeps_remedy: true,
        ..Finding::of(Severity::Warning, code::WIDE_INTERVAL, message, numbers, remedy)
    };
    (ns.low > 0.0 && ns.relative() > WIDE_SHARE).then_some(finding)
}

/// Whether a bound is short beside what a copy takes in the longest row: only then the code takes
/// next to no time.
fn is_short(state: &State, series: SeriesId, bound: f64) -> bool {
    let per_tick = state.shown_unit().0;
    let of = |row: &crate::estimate::RowFit| {
        Some(row.location / row.counts.first().filter(|count| **count > 0.0)?)
    };
    let copies = state
        .solution(series)
        .map(|solution| solution.rows.iter().filter_map(of).fold(f64::INFINITY, f64::min));
    copies.is_none_or(|least| least <= 0.0 || bound < TOO_WIDE * least * per_tick)
}

/// The finding that the interval of a component contains zero although its rows take long.
fn unknown_finding(component: &str, most_ticks: f64, unit: &str) -> Finding {
    let message = format!(
        "the interval of {component} is so wide that it contains zero: it ends at {} {unit}",
        bound(most_ticks)
    );
    let component = component.to_owned();
    let numbers = numbers! { component }
        .into_iter()
        .chain(with_unit(unit, [("bound", most_ticks.into())]))
        .collect();
    Finding::of(
        Severity::Untrusted,
        code::WIDE_INTERVAL,
        message,
        numbers,
        "repeat the rows more often, or use rows with larger counts",
    )
}

/// The finding that a component is below resolution, with the bound of its time.
pub fn below_finding(component: &str, most_ticks: f64, unit: &str) -> Finding {
    let message = format!(
        "{component} is below resolution: the time is indistinguishable from zero; it is at most \
         {} {unit}",
        bound(most_ticks)
    );
    let component = component.to_owned();
    let numbers = numbers! { component }
        .into_iter()
        .chain(with_unit(unit, [("bound", most_ticks.into())]))
        .collect();
    let remedy = "use rows in which it runs more often, or repeat the rows more often";
    Finding::of(Severity::Warning, code::BELOW_RESOLUTION, message, numbers, remedy)
}

/// A finding if the interval of a component's time is so wide that its value says little, or wider
/// than the precision that was `asked` for, a share of the value. A `fence` may hide so many
/// cycles, which no longer run reduces.
pub fn wide_finding(
    component: &str,
    time: &Estimate,
    asked: Option<f64>,
    fence: f64,
) -> Option<Finding> {
    let relative = time.relative();
    let is_missed = asked.is_some_and(|asked| relative > asked);
    let severity = if relative > TOO_WIDE { Severity::Untrusted } else { Severity::Warning };
    let (half_width_percent, asked_percent) = (100.0 * relative, asked.map(|asked| 100.0 * asked));
    let width = if relative > WIDE_SHARE {
        format!("+-{half_width_percent:.0} %")
    } else {
        format!("+-{half_width_percent:.2} %")
    };
    let missed = asked_percent
        .filter(|_| is_missed)
        .map(|asked| format!(": the requested precision of {} was not reached", percent(asked)));
    let is_fence = fence > time.half_width() / 2.0;
    let hides = if is_fence {
        format!("; a fence hides up to {:.1} cycles of the code after it", 2.0 * fence)
    } else {
        String::new()
    };
    let message =
        format!("the interval of {component} is {width}{}{hides}", missed.unwrap_or_default());
    let component = component.to_owned();
    let remedy = if is_fence {
        "time a longer piece of code, for example several evaluations in a row; a longer run does \
         not help"
    } else {
        "repeat the rows more often, or use rows with larger counts"
    };
    let numbers = numbers! { component, half_width_percent, asked_percent };
    let finding = Finding {
        keeps_remedy: is_fence,
        ..Finding::of(severity, code::WIDE_INTERVAL, message, numbers, remedy)
    };
    (time.low > 0.0 && (relative > WIDE_SHARE || is_missed)).then_some(finding)
}

fn percent(asked: f64) -> String {
    if asked < 0.1 { format!("{} %", short(asked)) } else { in_percent(asked) }
}
