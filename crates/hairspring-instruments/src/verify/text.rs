//! The certificate of the instrument as text.

use super::document::certified;
use crate::verify::coverage::{fewest_hits, least, most_low};
use crate::verify::trust::Trust;
use crate::verify::{
    Certificate, ChainResult, ON_LATTICE_PERCENT, PAIR_PERCENT, PairResult, Standing, Verdict,
};
use hairspring_result::Environment;
use hairspring_view::cells::{Cell, align};
use hairspring_view::clean::{clean, pad, width};
use hairspring_view::format::{count, plus_minus, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::all_findings;
use hairspring_view::text::environment;

/// The certificate as text.
pub fn certificate(
    certificate: &Certificate,
    circumstances: &Environment,
    style: &Style,
) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring verify: chains of known length, measured", Tone::Strong);
    page.gap();
    chains(&mut page, &certificate.chains);
    pairs(&mut page, &certificate.pairs);
    let level = significant(100.0 * certificate.core_hz.level, 4);
    page.marked("", &format!("core cycles; intervals of {level} % confidence"));
    page.gap();
    clock(&mut page, certificate);
    page.gap();
    all_findings(&mut page, &certificate.findings);
    page.gap();
    environment(&mut page, &certified(certificate, circumstances));
    page.gap();
    verdict(&mut page, certificate);
    page.finish()
}

fn chains(page: &mut Page, chains: &[ChainResult]) {
    let name =
        chains.iter().map(|chain| width(&clean(&chain.name))).max().unwrap_or(0).clamp(8, 20);
    let cycles = align(&chains.iter().map(cycles).collect::<Vec<_>>());
    let second = cycles.first().map_or(0, |text| width(text)).max(6);
    page.line(
        &format!(
            "  {}  {}  {:>7}  {:>9}  {:>8}",
            pad("chain", name),
            pad("cycles", second),
            "integer",
            "distance",
            "coverage"
        ),
        Tone::Strong,
    );
    for (chain, cycles) in chains.iter().zip(cycles) {
        let distance = if chain.standing == Standing::None {
            "-".to_owned()
        } else {
            format!("{:+.3} %", chain.distance_percent)
        };
        let integer = match chain.standing {
            Standing::None => "none".to_owned(),
            Standing::Unsteady | Standing::Open => "?".to_owned(),
            Standing::Whole | Standing::Slowed => chain.integer.to_string(),
        };
        let coverage = chain.coverage.map_or_else(
            || "-".to_owned(),
            |coverage| format!("{:.0} %", 100.0 * coverage.share()),
        );
        let tone = match chain.standing {
            Standing::Whole if chain.distance_percent.abs() > ON_LATTICE_PERCENT => Tone::Alarm,
            Standing::Slowed | Standing::Unsteady => Tone::Warning,
            _ => Tone::Plain,
        };
        let name = pad(&clean(&chain.name), name);
        page.line(
            &format!(
                "  {name}  {}  {:>7}  {distance:>9}  {coverage:>8}",
                pad(&cycles, second),
                integer
            ),
            tone,
        );
    }
}

/// The length as a cell; the reference chain is the unit, so it has no interval.
fn cycles(chain: &ChainResult) -> Cell {
    if chain.cycles.half_width() == 0.0 {
        Cell::exact(chain.cycles.value)
    } else {
        Cell::ratio(&chain.cycles)
    }
}

fn pairs(page: &mut Page, pairs: &[PairResult]) {
    if pairs.is_empty() {
        return;
    }
    page.gap();
    let name = pairs.iter().map(|pair| width(&clean(&pair.name))).max().unwrap_or(0).clamp(8, 20);
    let column = |cells: Vec<Cell>| align(&cells);
    let bodies = column(pairs.iter().map(|pair| Cell::ratio(&pair.body.0)).collect());
    let inits = column(pairs.iter().map(|pair| Cell::ratio(&pair.init.0)).collect());
    let (second, third) = (
        bodies.first().map_or(0, |text| width(text)).max(4),
        inits.first().map_or(0, |text| width(text)).max(4),
    );
    let head = format!(
        "  {}  {}  {:>5}  {}  {:>5}",
        pad("pair", name),
        pad("body", second),
        "true",
        pad("init", third),
        "true"
    );
    page.line(&head, Tone::Strong);
    for ((pair, body), init) in pairs.iter().zip(bodies).zip(inits) {
        let (name, body, init) =
            (pad(&clean(&pair.name), name), pad(&body, second), pad(&init, third));
        page.line(
            &format!(
                "  {name}  {body}  {:>5}  {init}  {:>5}",
                significant(pair.body.1, 4),
                significant(pair.init.1, 4)
            ),
            Tone::Plain,
        );
    }
}

/// What the certificate says about the clock.
fn clock(page: &mut Page, certificate: &Certificate) {
    let reading = &certificate.reading;
    page.item(
        "overhead",
        &format!("{} ticks for a row", plus_minus(&certificate.overhead_ticks)),
        Tone::Quiet,
    );
    if reading.quantum == 0 {
        page.item("quantum", "unknown: the clock did not move between reads", Tone::Alarm);
    }
    if reading.backward > 0 {
        page.item(
            "backward",
            &format!("the clock went backwards {} times", count(reading.backward)),
            Tone::Alarm,
        );
    }
}

fn verdict(page: &mut Page, certificate: &Certificate) {
    page.item("trust", &trust(&certificate.trust(), certificate.core_hz.level), Tone::Strong);
    let (failures, open) = (certificate.failures(), certificate.open());
    if certificate.verdict() == Verdict::Passed {
        page.item("PASSED", &limits(certificate), Tone::Strong);
    }
    failures.iter().for_each(|failure| page.item("FAILED", failure, Tone::Alarm));
    if !failures.is_empty() {
        page.marked("-> ", REMEDY);
    }
    open.iter().for_each(|open| page.item("OPEN", open, Tone::Warning));
    if !open.is_empty() {
        page.marked("-> ", if certificate.is_shared() { REMEDY_BESIDE } else { REMEDY_OF_NOISE });
    }
}

/// What a certificate that passes promises.
fn limits(certificate: &Certificate) -> String {
    let all_chains = certificate.chains.len();
    let whole = certificate.chains.iter().filter(|chain| chain.standing == Standing::Whole).count();
    let which = if whole == all_chains {
        "chains".to_owned()
    } else {
        format!("{whole} of {all_chains} chains (the others are no rulers now)")
    };
    format!(
        "{which} within {ON_LATTICE_PERCENT} % of their integers or their intervals, bodies \
         within {PAIR_PERCENT} %{}",
        coverage(certificate)
    )
}

/// What measurements are worth on this machine now.
fn trust(trust: &Trust, level: f64) -> String {
    let percent = |value: f64| if value < 0.005 { "0.005".into() } else { significant(value, 2) };
    let mut text = format!("chains within {} %", percent(trust.chains_percent));
    if let Some(bodies) = trust.bodies_percent {
        text += &format!(", bodies behind an init within {} %", percent(bodies));
    }
    let Some(coverage) = trust.coverage else { return text };
    text += &format!(
        "; {:.0} % of {} intervals of short runs hold",
        100.0 * coverage.share(),
        coverage.runs
    );
    let level = significant(100.0 * level, 4);
    match trust.widening {
        Some(factor) if factor.is_finite() && factor > 1.005 => {
            text += &format!(" ({level} % if they were {} times as wide)", significant(factor, 2));
        }
        Some(factor) if factor.is_infinite() => {
            text += &format!(" (too many runs gave none to reach {level} %)")
        }
        _ => {}
    }
    if trust.refused > 0 {
        let runs = if trust.refused == 1 { "run was" } else { "runs were" };
        text += &format!("; {} {runs} refused because something else used the core", trust.refused);
    }
    text
}

/// What to do about a failure.
const REMEDY: &str = "verify again, on another CPU (--cpu) or for longer (--budget is for each \
                      chain); if it fails again, do not trust this clock here: choose another one \
                      (--clock) and report what you see";
/// What to do where something else used the core.
const REMEDY_BESIDE: &str = "this says nothing about the instrument: something else used the \
                             core; verify again on a quieter machine or CPU (--cpu), or for \
                             longer (--budget is for each chain)";
/// What to do where intervals are too wide.
const REMEDY_OF_NOISE: &str = "the intervals are too wide to check these: verify for longer \
                               (--budget is for each chain), or on another CPU (--cpu)";

/// The limits of the coverage, if there were short runs.
fn coverage(certificate: &Certificate) -> String {
    let (covered, level) = (certificate.covered(), certificate.core_hz.level);
    let Some((_, first)) = covered.first() else { return String::new() };
    let fewest = fewest_hits(first.runs, covered.len(), level);
    let mean = significant(100.0 * least(level), 3);
    let but = most_low(covered.len(), level);
    format!(
        ", coverage {mean} % or more on average, and in {fewest} of {} runs or more for all but \
         {but} of the chains",
        first.runs
    )
}
