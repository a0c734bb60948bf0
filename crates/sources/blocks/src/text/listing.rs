//! The listing: a line for each block or edge, with its time or where to find it.

use crate::MeasuredFunction;
use crate::analysis::{Place, Unknowns};
use crate::graph::{Block, Source};
use hairspring_core::judge::Time;
use hairspring_view::cells::Cell;
use hairspring_view::clean::{clean, cut, pad, width};
use hairspring_view::format::{count, digits, fixed, significant};
use hairspring_view::page::{Page, Tone};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum number of lines; if there are more parts, those with the largest times are shown.
const MOST_LISTED: usize = 200;
/// Largest widths of a name, a place and a time, in columns.
const MOST_COLUMNS: [usize; 3] = [16, 24, 32];

/// Properties of the components for the whole report.
pub struct Listing<'a> {
    /// What was measured.
    pub measured: &'a MeasuredFunction,
    /// Components other than the time of a single block or of blocks that always run together.
    pub combined: Vec<usize>,
    /// The numbers that these have in the report.
    numbers: HashMap<usize, usize>,
    /// The file of the function's first block.
    main_file: Option<&'a str>,
}

/// One line.
struct Line {
    cells: [String; 3],
    runs: String,
    share: String,
    text: String,
    /// Its share of the time of all calls, if known; then how often it ran.
    weight: (f64, f64),
}

impl<'a> Listing<'a> {
    /// The listing of a measurement.
    pub fn new(measured: &'a MeasuredFunction) -> Listing<'a> {
        let analysis = &measured.analysis;
        let (mut shown, mut listed) = (HashSet::new(), HashSet::new());
        for place in &analysis.places {
            match place {
                Place::Alone(at) | Place::With(at) => drop(shown.insert(*at)),
                Place::Combined(at) => drop(listed.insert(*at)),
                Place::NeverRan | Place::Common => {}
            }
        }
        let components = 0..analysis.series().components.len();
        let combined: Vec<usize> = components.filter(|at| listed.contains(at) || !shown.contains(at)).collect();
        let numbers = combined.iter().enumerate().map(|(number, at)| (*at, number + 1)).collect();
        let main_file = measured.graph.blocks.get(measured.graph.entry).and_then(|block| Some(block.source.as_ref()?.file.as_str()));
        Listing { measured, combined, numbers, main_file }
    }

    /// The number of a combination in the report.
    pub fn number(&self, component: usize) -> usize {
        self.numbers.get(&component).copied().unwrap_or(0)
    }

    /// The source files of the blocks, that of the first block first.
    pub fn files(&self) -> Vec<&'a str> {
        let all: BTreeSet<&str> =
            self.measured.graph.blocks.iter().filter_map(|block| Some(block.source.as_ref()?.file.as_str())).collect();
        let others = all.iter().copied().filter(|file| Some(*file) != self.main_file);
        self.main_file.into_iter().chain(others).collect()
    }

    /// A time, and its share of all calls unless it is a bound or a difference.
    pub fn timed(&self, component: usize) -> (String, Option<f64>) {
        let analysis = &self.measured.analysis;
        let time = &analysis.series().components[component].time;
        let mark = if self.holds_overhead(component) { " *" } else { "" };
        (shown(time) + mark, analysis.share(component).filter(|_| time.bound.is_none()))
    }

    fn holds_overhead(&self, component: usize) -> bool {
        self.measured.analysis.series().solution.components[component].parts.iter().any(|(name, _)| name == "overhead")
    }

    /// Writes it.
    pub fn write(&self, page: &mut Page) {
        let analysis = &self.measured.analysis;
        let lines: Vec<Line> = (0..analysis.names.len()).map(|index| self.line(index)).collect();
        let chosen = chosen(&lines);
        let widths = widths(&lines, &chosen);
        let title = if analysis.unknowns == Unknowns::Blocks { "block" } else { "edge" };
        let (at, source) = if self.main_file.is_some() { ("line", "source") } else { ("address", "") };
        let head = [title, at, "time each"].map(str::to_owned);
        page.table_line(&with_source(row(widths, &head, "runs/call", "of total"), source, page.table_width()), Tone::Quiet);
        let largest = lines.iter().map(|line| line.weight.0).fold(0.0, f64::max);
        for line in chosen.iter().map(|at| &lines[*at]) {
            let tone = if line.weight.0 > 0.0 && line.weight.0 == largest { Tone::Strong } else { Tone::Plain };
            let times = row(widths, &line.cells, &line.runs, &line.share);
            page.table_line(&with_source(times, &line.text, page.table_width()), tone);
        }
        if lines.len() > chosen.len() {
            let more = count(lines.len() - chosen.len());
            page.line(&format!("and {more} more, which take less or never ran: all are in the document (--json)"), Tone::Quiet);
        }
        if analysis.quality.is_carried() && (0..analysis.series().components.len()).any(|at| self.holds_overhead(at)) {
            page.line("* includes the timing overhead of every call", Tone::Quiet);
        }
    }

    fn line(&self, index: usize) -> Line {
        let (measured, analysis) = (self.measured, &self.measured.analysis);
        let block = match analysis.unknowns {
            Unknowns::Blocks => index,
            Unknowns::Edges => measured.graph.edges[index].from,
        };
        let (place, text) = self.place_of(&measured.graph.blocks[block]);
        let (time, share) = self.time_of(index);
        let per_call = analysis.totals[index] / analysis.calls.max(1) as f64;
        Line {
            cells: [analysis.names[index].clone(), place, time],
            runs: runs(per_call),
            share: share.map_or_else(String::new, percent),
            text,
            weight: (share.unwrap_or(0.0), per_call),
        }
    }

    /// A block's place in the source or in the file, and the statement there.
    fn place_of(&self, block: &Block) -> (String, String) {
        let calls = if block.calls.is_empty() { String::new() } else { format!("calls {}; ", block.calls.join(", ")) };
        let Some(source) = &block.source else {
            return (format!("{:#x}", block.start), calls.trim_end_matches("; ").to_owned());
        };
        let file = if Some(source.file.as_str()) == self.main_file { String::new() } else { format!("{}:", base(&source.file)) };
        let last = if source.last_line > source.line { format!("-{}", source.last_line) } else { String::new() };
        (format!("{file}{}{last}", source.line), calls + &statement(source))
    }

    /// The time of an unknown and its share, or where to find it.
    fn time_of(&self, index: usize) -> (String, Option<f64>) {
        let analysis = &self.measured.analysis;
        if !analysis.quality.is_carried() {
            return (if analysis.places[index] == Place::NeverRan { "-".into() } else { "?".into() }, None);
        }
        let leads = |component: usize| analysis.leads[component] == Some(index);
        match analysis.places[index] {
            Place::NeverRan => ("-".into(), None),
            Place::Common => ("in the overhead".into(), None),
            Place::Alone(component) => self.timed(component),
            Place::With(component) if leads(component) => self.timed(component),
            Place::With(component) => (format!("with {}", analysis.series().solution.components[component].parts[0].0), None),
            Place::Combined(component) => (format!("in [{}]", self.number(component)), None),
        }
    }
}

/// The lines to show, in code order: those with the largest share, then those that run most often.
fn chosen(lines: &[Line]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    if lines.len() > MOST_LISTED {
        let weight = |at: usize| lines[at].weight;
        order.sort_by(|a, b| weight(*b).0.total_cmp(&weight(*a).0).then(weight(*b).1.total_cmp(&weight(*a).1)));
        order.truncate(MOST_LISTED);
        order.sort_unstable();
    }
    order
}

/// Widths of name, place and time, in columns.
fn widths(lines: &[Line], chosen: &[usize]) -> [usize; 3] {
    const HEADS: [usize; 3] = [5, 7, 9];
    std::array::from_fn(|column| {
        let widest = chosen.iter().map(|at| width(&lines[*at].cells[column])).max().unwrap_or(0);
        widest.clamp(HEADS[column], MOST_COLUMNS[column])
    })
}

fn row(widths: [usize; 3], [name, place, time]: &[String; 3], runs: &str, share: &str) -> String {
    let (name, place, time) = (pad(name, widths[0]), pad(place, widths[1]), pad(time, widths[2]));
    format!("{name}  {place} {runs:>9}  {time} {share:>8}")
}

/// The line followed by its source, if there is room for some of it.
fn with_source(line: String, source: &str, columns: usize) -> String {
    const SOME: usize = 8;
    let room = columns.saturating_sub(width(&line) + 2);
    if room < SOME { line } else { format!("{line}  {}", cut(&clean(source), room)) }
}

/// How often something runs in a call.
pub fn runs(per_call: f64) -> String {
    match per_call {
        0.0 => "never".to_owned(),
        exact if exact.fract() == 0.0 && exact < 1e6 => format!("{exact}"),
        other => significant(other, 4),
    }
}

/// A share of the total.
pub fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 1))
}

/// The name of a file without its folders.
pub fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// A line of source without leading attributes.
fn statement(source: &Source) -> String {
    const ATTRIBUTE: &str = "__attribute__((";
    let text = source.text.trim();
    let Some(rest) = text.strip_prefix(ATTRIBUTE) else { return text.to_owned() };
    rest.split_once("))").map_or(text, |(_, rest)| rest.trim()).to_owned()
}

/// A time in core cycles, else in nanoseconds or ticks.
pub fn shown(time: &Time) -> String {
    let level = time.ticks.level;
    if let Some(bound) = &time.bound {
        return match bound.cycles {
            Some(cycles) => Cell::cycles_below(cycles).text(),
            None => Cell::below(bound.shown, time.ns.is_some()).text(),
        };
    }
    let (estimate, unit) = match (&time.cycles, &time.ns) {
        (Some(cycles), _) => (cycles.estimate(level), "cycles"),
        (None, Some(ns)) => (ns.estimate(level), "ns"),
        (None, None) => (time.ticks, "ticks"),
    };
    // A difference may be negative.
    let digits = digits(&estimate);
    format!("{} {unit} +- {}", digits.value, digits.half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(share: f64, per_call: f64) -> Line {
        let cells = [String::new(), String::new(), String::new()];
        Line { cells, runs: String::new(), share: String::new(), text: String::new(), weight: (share, per_call) }
    }

    #[test]
    fn largest_blocks_are_shown_in_code_order() {
        let mut lines: Vec<Line> = (0..9_000).map(|at| line(0.0, f64::from(at % 7))).collect();
        lines[4_711] = line(0.9, 1.0);
        lines[17] = line(0.05, 1.0);
        let chosen = chosen(&lines);
        assert!(chosen.len() == MOST_LISTED && chosen.contains(&4_711) && chosen.contains(&17) && chosen.is_sorted());
        assert!(chosen.iter().all(|at| lines[*at].weight.0 > 0.0 || lines[*at].weight.1 == 6.0));
    }

    #[test]
    fn source_lines_fill_the_remaining_columns_only() {
        let line = || "B1     7          1  118.0 cycles    99.9 %".to_owned();
        assert_eq!(with_source(line(), "switch (*s) {", 50), line());
        assert_eq!(with_source(line(), "switch (*s) {", 54), line() + "  switch...");
        assert_eq!(with_source(line(), "switch (*s) {", 80), line() + "  switch (*s) {");
    }

    #[test]
    fn attributes_are_removed_from_statements() {
        let source = |text: &str| Source { file: "a.c".into(), line: 1, last_line: 1, text: text.into() };
        assert_eq!(statement(&source("__attribute__((noinline)) long f(int n) {")), "long f(int n) {");
        assert_eq!(statement(&source("  x++;")), "x++;");
        assert_eq!(statement(&source("__attribute__((weak)")), "__attribute__((weak)");
    }
}
