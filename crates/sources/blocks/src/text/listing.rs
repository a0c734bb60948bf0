//! The listing: a line for each block or edge, with its time or where to find it.

use crate::MeasuredFunction;
use crate::analysis::{Place, Unknowns};
use crate::graph::{Block, Source};
use hairspring_core::estimate::Component;
use hairspring_core::judge::Time;
use hairspring_view::cells::Cell;
use hairspring_view::clean::{clean, cut, pad, width};
use hairspring_view::format::{count, digits, fixed, significant};
use hairspring_view::page::{Page, Tone};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum number of lines; if there are more parts, those with the largest times are shown.
const MOST_LISTED: usize = 200;
/// Columns between two others.
const GAP: usize = 2;
/// Columns of the bar.
const BAR: usize = 6;
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
    pub main_file: Option<&'a str>,
}

/// One line.
struct Line {
    cells: [String; 3],
    runs: String,
    share: Share,
    text: String,
    address: String,
}

/// The share of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Share {
    /// Of the time of all calls.
    Time(f64),
    /// Of the instructions, where the time of this line alone is not known.
    Instructions(f64),
}

impl Share {
    fn value(self) -> f64 {
        match self {
            Share::Time(share) | Share::Instructions(share) => share,
        }
    }

    fn text(self) -> String {
        match self {
            Share::Time(share) => percent(share),
            Share::Instructions(0.0) => String::new(),
            Share::Instructions(share) => format!("({})", percent(share)),
        }
    }
}

impl<'a> Listing<'a> {
    /// The listing of a measurement.
    pub fn new(measured: &'a MeasuredFunction) -> Listing<'a> {
        let analysis = &measured.analysis;
        let (mut shown_components, mut listed) = (HashSet::new(), HashSet::new());
        for place in &analysis.places {
            match place {
                Place::Alone(at) | Place::With(at) | Place::Together(at) => {
                    shown_components.insert(*at);
                }
                Place::Combined(at) => drop(listed.insert(*at)),
                Place::NeverRan | Place::Common => {}
            }
        }
        let components = 0..analysis.series().components.len();
        let combined: Vec<usize> =
            components.filter(|at| listed.contains(at) || !shown_components.contains(at)).collect();
        let numbers = combined.iter().enumerate().map(|(number, at)| (*at, number + 1)).collect();
        let main_file = measured
            .graph
            .blocks
            .get(measured.graph.entry)
            .and_then(|block| Some(block.source.as_ref()?.file.as_str()));
        Listing { measured, combined, numbers, main_file }
    }

    /// The number of a combination in the report.
    pub fn number(&self, component: usize) -> usize {
        self.numbers.get(&component).copied().unwrap_or(0)
    }

    /// The source files of the blocks, that of the first block first.
    pub fn files(&self) -> Vec<&'a str> {
        let all_files: BTreeSet<&str> = self
            .measured
            .graph
            .blocks
            .iter()
            .filter_map(|block| Some(block.source.as_ref()?.file.as_str()))
            .collect();
        let other_files = all_files.iter().copied().filter(|file| Some(*file) != self.main_file);
        self.main_file.into_iter().chain(other_files).collect()
    }

    /// A time, and its share of all calls unless it is a bound or a difference.
    pub fn timed(&self, component: usize) -> (String, Option<f64>) {
        let analysis = &self.measured.analysis;
        let time = &analysis.series().components[component].time;
        let mark = if self.holds_overhead(component) { " *" } else { "" };
        (shown(time) + mark, analysis.own_share(component).filter(|_| time.bound.is_none()))
    }

    fn holds_overhead(&self, component: usize) -> bool {
        self.measured.analysis.series().solution.components[component]
            .parts
            .iter()
            .any(|(name, _)| name == "overhead")
    }

    /// Writes it.
    pub fn write(&self, page: &mut Page) {
        let analysis = &self.measured.analysis;
        let lines: Vec<Line> = (0..analysis.names.len()).map(|index| self.line(index)).collect();
        let chosen = chosen(&lines);
        let widths = widths(&lines, &chosen);
        let title = if analysis.unknowns == Unknowns::Blocks { "block" } else { "edge" };
        let has_source = self.main_file.is_some();
        let head = [title, if has_source { "line" } else { "" }, "time each"].map(str::to_owned);
        let head = row(widths, &head, "runs/call", "of total", "");
        let widest = |of: &dyn Fn(&Line) -> usize| {
            chosen.iter().map(|at| of(&lines[*at])).max().unwrap_or(0)
        };
        let text = widest(&|line| width(&clean(&line.text)));
        let address = widest(&|line| width(&line.address));
        let room = page.table_width().saturating_sub(width(&head));
        let last = Last::new(has_source, text, address, room);
        page.table_line(
            &last.beside(&head, Last::text_head(has_source), Last::ADDRESS),
            Tone::Quiet,
        );
        let largest = lines.iter().map(|line| line.share.value()).fold(0.0, f64::max);
        for line in chosen.iter().map(|at| &lines[*at]) {
            let share = line.share.value();
            let tone = if share > 0.0 && share == largest { Tone::Strong } else { Tone::Plain };
            let times =
                row(widths, &line.cells, &line.runs, &line.share.text(), &bar(share, largest));
            page.table_line(&last.beside(&times, &line.text, &line.address), tone);
        }
        self.footnotes(page, &lines, chosen.len());
    }

    fn footnotes(&self, page: &mut Page, lines: &[Line], shown_notes: usize) {
        let analysis = &self.measured.analysis;
        if lines.len() > shown_notes {
            let more = count(lines.len() - shown_notes);
            page.line(
                &format!(
                    "and {more} more, which take less or never ran: all are in the document \
                     (--json)"
                ),
                Tone::Quiet,
            );
        }
        if lines.iter().any(|line| matches!(line.share, Share::Instructions(share) if share > 0.0))
        {
            let why = if analysis.quality.is_carried() {
                "its own time is unknown"
            } else {
                "the time of no part is known"
            };
            page.line(&format!("( ) share of the instructions that ran: {why}"), Tone::Quiet);
        }
        if analysis.places.iter().any(|place| matches!(place, Place::Together(_))) {
            page.line(
                "with: runs of this part come with runs of that one, whose time is that of both",
                Tone::Quiet,
            );
        }
        if analysis.quality.is_carried()
            && (0..analysis.series().components.len()).any(|at| self.holds_overhead(at))
        {
            page.line("* includes the timing overhead of every call", Tone::Quiet);
        }
    }

    fn line(&self, index: usize) -> Line {
        let (measured, analysis) = (self.measured, &self.measured.analysis);
        let block = match analysis.unknowns {
            Unknowns::Blocks => index,
            Unknowns::Edges => measured.graph.edges[index].from,
        };
        let block = &measured.graph.blocks[block];
        let (place, text) = self.place_of(block);
        let (time, share) = self.time_of(index);
        Line {
            cells: [analysis.names[index].clone(), place, time],
            runs: runs(analysis.totals[index] / analysis.calls.max(1) as f64),
            share: share.map_or_else(
                || Share::Instructions(measured.instruction_share(index)),
                Share::Time,
            ),
            text,
            address: format!("{:#x}", block.start),
        }
    }

    /// A block's place in the source, what it calls, the statement there, and its hottest
    /// instructions.
    fn place_of(&self, block: &Block) -> (String, String) {
        const NAMED_BLOCKS: usize = 2;
        let number = |(name, times): &(String, u32)| {
            if *times > 1 { format!("{times} {name}") } else { name.clone() }
        };
        let hottest =
            block.hottest.iter().take(NAMED_BLOCKS).map(number).collect::<Vec<_>>().join(" ");
        let calls = if block.calls.is_empty() {
            String::new()
        } else {
            format!("calls {}; ", block.calls.join(", "))
        };
        let Some(source) = &block.source else { return (String::new(), calls + &hottest) };
        let file = if Some(source.file.as_str()) == self.main_file {
            String::new()
        } else {
            format!("{}:", base(&source.file))
        };
        let last = if source.last_line > source.line {
            format!("-{}", source.last_line)
        } else {
            String::new()
        };
        let statement = statement(source);
        let text = if statement.is_empty() { hottest } else { format!("{statement}  [{hottest}]") };
        (format!("{file}{}{last}", source.line), calls + &text)
    }

    /// The leads of the times that hold an unknown.
    fn leads_of(&self, index: usize) -> Vec<&str> {
        let analysis = &self.measured.analysis;
        let components = analysis.series().solution.components.iter();
        let holds = |component: &&Component| {
            component.parts.iter().any(|(name, _)| *name == analysis.names[index])
        };
        components
            .filter(|component| !component.is_difference())
            .filter(holds)
            .map(|component| component.parts[0].0.as_str())
            .collect()
    }

    /// The time of an unknown and its share, or where to find it.
    pub fn time_of(&self, index: usize) -> (String, Option<f64>) {
        let analysis = &self.measured.analysis;
        if !analysis.quality.is_carried() {
            return (
                if analysis.places[index] == Place::NeverRan { "-".into() } else { "?".into() },
                None,
            );
        }
        let leads = |component: usize| analysis.leads[component] == Some(index);
        match analysis.places[index] {
            Place::NeverRan => ("-".into(), None),
            Place::Common => ("in the overhead".into(), None),
            Place::Alone(component) => self.timed(component),
            Place::With(component) | Place::Together(component) if leads(component) => {
                self.timed(component)
            }
            Place::Together(_) => (format!("with {}", some_of(&self.leads_of(index))), None),
            Place::With(component) => (
                format!("with {}", analysis.series().solution.components[component].parts[0].0),
                None,
            ),
            Place::Combined(component) => (format!("in [{}]", self.number(component)), None),
        }
    }
}

/// The first names, and how many others there are.
fn some_of(names: &[&str]) -> String {
    const SHOWN_NAMES: usize = 2;
    match names.len().saturating_sub(SHOWN_NAMES) {
        0 => names.join(", "),
        others => format!("{} and {others} more", names[..SHOWN_NAMES].join(", ")),
    }
}

/// The lines to show: those with the largest share first, those that never ran last.
fn chosen(lines: &[Line]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    // Equal shares stay in the order of the code.
    order.sort_by(|a, b| lines[*b].share.value().total_cmp(&lines[*a].share.value()));
    order.truncate(MOST_LISTED);
    order
}

/// A bar for a share, the longest for the largest one.
pub fn bar(share: f64, largest: f64) -> String {
    let length =
        if largest > 0.0 { (BAR as f64 * share.max(0.0) / largest).round() as usize } else { 0 };
    "#".repeat(length.min(BAR))
}

/// Widths of name, place and time, in columns.
fn widths(lines: &[Line], chosen: &[usize]) -> [usize; 3] {
    const HEADS: [usize; 3] = [5, 4, 9];
    std::array::from_fn(|column| {
        let widest = chosen.iter().map(|at| width(&lines[*at].cells[column])).max().unwrap_or(0);
        widest.clamp(HEADS[column], MOST_COLUMNS[column])
    })
}

fn row(
    widths: [usize; 3],
    [name, place, time]: &[String; 3],
    runs: &str,
    share: &str,
    bar: &str,
) -> String {
    let (name, place, time) = (pad(name, widths[0]), pad(place, widths[1]), pad(time, widths[2]));
    format!("{name}  {place} {runs:>9}  {time} {share:>9} {bar:BAR$}")
}

/// Widths of the last two columns, 0 for one that has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Last {
    text: usize,
    address: usize,
}

impl Last {
    /// The columns that fit into `room`, for texts and addresses of up to these widths. Lines of
    /// source fill it, and addresses stand only behind the longest of them; where there is no
    /// source, addresses tell the blocks apart, and the names of instructions are cut for them.
    fn new(has_source: bool, text: usize, address: usize, room: usize) -> Last {
        /// Columns below which a text says nothing, with the space before it.
        const FEWEST_COLUMNS: usize = 8;
        let text = if text == 0 { 0 } else { text.max(width(Last::text_head(has_source))) };
        let address = address.max(width(Last::ADDRESS));
        let beside = room.saturating_sub(2 * GAP + address);
        match () {
            () if text > 0 && (text <= beside || !has_source && beside >= FEWEST_COLUMNS) => {
                Last { text: text.min(beside), address }
            }
            () if text > 0 && room >= GAP + FEWEST_COLUMNS => {
                Last { text: text.min(room - GAP), address: 0 }
            }
            () if room >= GAP + address => Last { text: 0, address },
            () => Last { text: 0, address: 0 },
        }
    }

    const ADDRESS: &'static str = "address";

    /// The head of the column with the text.
    fn text_head(has_source: bool) -> &'static str {
        if has_source { "source" } else { "instructions" }
    }

    /// A line with what stands in these columns.
    fn beside(self, line: &str, text: &str, address: &str) -> String {
        let gap = " ".repeat(GAP);
        let text = if self.text > 0 {
            gap.clone() + &pad(&cut(&clean(text), self.text), self.text)
        } else {
            String::new()
        };
        let address = if self.address > 0 { gap + address } else { String::new() };
        (line.to_owned() + &text + &address).trim_end().to_owned()
    }
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

/// The share that stands beside a time: one that is only known to be below a bound takes no less
/// than nothing.
pub fn beside(time: &Time, share: f64) -> f64 {
    if time.bound.is_some() { share.max(0.0) } else { share }
}

/// The name of a file without its folders.
pub fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The first line of a block.
fn statement(source: &Source) -> String {
    without_attributes(&source.text)
}

/// A line of source without leading attributes.
pub fn without_attributes(text: &str) -> String {
    const ATTRIBUTE: &str = "__attribute__((";
    let text = text.trim();
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

    fn line(share: Share) -> Line {
        let cells = [String::new(), String::new(), String::new()];
        Line { cells, runs: String::new(), share, text: String::new(), address: String::new() }
    }

    #[test]
    fn the_largest_shares_come_first_and_equal_ones_in_code_order() {
        let mut lines: Vec<Line> = (0..9_000).map(|_| line(Share::Instructions(0.0))).collect();
        lines[4_711] = line(Share::Time(0.9));
        lines[17] = line(Share::Instructions(0.05));
        let chosen = chosen(&lines);
        assert!(chosen.len() == MOST_LISTED && chosen[..4] == [4_711, 17, 0, 1], "{chosen:?}");
        assert_eq!(
            (bar(0.9, 0.9), bar(0.05, 0.9), bar(-0.1, 0.9)),
            ("#".repeat(BAR), String::new(), String::new())
        );
    }

    #[test]
    fn a_time_below_a_bound_has_no_share_below_zero() {
        let time = |bound| {
            let ticks = hairspring_core::estimate::Estimate {
                value: -1.0,
                low: -2.0,
                high: 2.0,
                level: 0.95,
            };
            Time { ticks, ns: None, cycles: None, bound }
        };
        let bound = Some(hairspring_core::judge::Bound { shown: 1.5, cycles: None });
        assert_eq!(
            (beside(&time(bound), -0.001), beside(&time(bound), 0.02), beside(&time(None), -0.001)),
            (0.0, 0.02, -0.001)
        );
    }

    #[test]
    fn a_share_of_instructions_is_marked() {
        assert_eq!(
            (Share::Time(0.25).text(), Share::Instructions(0.25).text()),
            ("25.0 %".into(), "(25.0 %)".into())
        );
    }

    #[test]
    fn source_fills_the_remaining_columns_and_addresses_stand_where_all_have_room() {
        let last = |room| Last::new(true, 12, 6, room);
        let found_texts =
            [7, 9, 10, 14, 22, 23, 60].map(|room| (last(room).text, last(room).address));
        assert_eq!(found_texts, [(0, 0), (0, 7), (8, 0), (12, 0), (12, 0), (12, 7), (12, 7)]);
        // Without source, addresses come first.
        let found_texts = [7, 9, 10, 19, 22, 60]
            .map(|room| Last::new(false, 30, 6, room))
            .map(|last| (last.text, last.address));
        assert_eq!(found_texts, [(0, 0), (0, 7), (8, 0), (8, 7), (11, 7), (30, 7)]);
    }

    #[test]
    fn every_column_that_is_printed_has_its_head() {
        let lines = |has_source: bool, room: usize| {
            let last = Last::new(has_source, 12, 6, room);
            [
                last.beside("block  of total", Last::text_head(has_source), Last::ADDRESS),
                last.beside("B1       99.9 %", "switch (*s) {", "0x11e0"),
            ]
        };
        assert_eq!(
            lines(true, 60),
            ["block  of total  source        address", "B1       99.9 %  switch (*...  0x11e0"]
        );
        assert_eq!(lines(true, 14), ["block  of total  source", "B1       99.9 %  switch (*..."]);
        assert_eq!(
            lines(false, 60),
            ["block  of total  instructions  address", "B1       99.9 %  switch (*...  0x11e0"]
        );
        assert_eq!(lines(false, 9), ["block  of total  address", "B1       99.9 %  0x11e0"]);
        assert_eq!(lines(true, 0), ["block  of total", "B1       99.9 %"]);
    }

    #[test]
    fn attributes_are_removed_from_statements() {
        let source =
            |text: &str| Source { file: "a.c".into(), line: 1, last_line: 1, text: text.into() };
        assert_eq!(
            statement(&source("__attribute__((noinline)) long f(int n) {")),
            "long f(int n) {"
        );
        assert_eq!(statement(&source("  x++;")), "x++;");
        assert_eq!(statement(&source("__attribute__((weak)")), "__attribute__((weak)");
    }
}
