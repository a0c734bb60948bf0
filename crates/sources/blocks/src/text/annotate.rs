//! Source and assembly side by side: each line with its time, or with its share of the instructions
//! where no time can be told.

use super::listing::{Listing, bar, base, beside, percent, runs, shown, without_attributes};
use super::many;
use crate::analysis::{At, Line, Unknowns, by_line};
use crate::graph::{Block, Step, block_name};
use hairspring_view::clean::{clean, cut, pad};
use hairspring_view::page::{Page, Tone};

/// Lines in the list of source lines; more are in the document.
const MOST_LINES: usize = 40;
/// Columns of a share with its word.
const SHARE: usize = 14;
/// Columns of an instruction with its address.
const ASSEMBLY: usize = 40;

/// Writes the lines by their share, then the code in the order of its addresses.
pub fn write(page: &mut Page, listing: &Listing) {
    let measured = listing.measured;
    let lines = by_line(&measured.graph, &measured.rows, &measured.analysis);
    page.gap();
    by_share(page, listing, &lines);
    code(page, listing);
}

/// A share, and the word that says of what.
fn share_of_time(share: f64) -> String {
    format!("{} time", percent(share))
}

fn share_of_instructions(share: f64) -> String {
    format!("{} instr.", percent(share))
}

fn share_of(line: &Line) -> f64 {
    line.time.as_ref().map_or(line.instruction_share, |(_, share)| *share)
}

fn by_share(page: &mut Page, listing: &Listing, lines: &[Line]) {
    if lines.is_empty() {
        page.line(
            "no source lines: the program has no debug information (compile with -g)",
            Tone::Quiet,
        );
        return;
    }
    page.line("source lines, most first; their time in a call where it is known:", Tone::Quiet);
    let largest = lines.first().map_or(0.0, share_of);
    let ran = lines.iter().filter(|line| line.instruction_share > 0.0);
    for line in ran.clone().take(MOST_LINES) {
        let (share, time) = match &line.time {
            Some((time, share)) => (share_of_time(beside(time, *share)), shown(time)),
            None => (share_of_instructions(line.instruction_share), String::new()),
        };
        let bar = bar(share_of(line), largest);
        let text =
            format!("{share:>SHARE$} {bar:<6}  {}  {}", pad(&time, 24), place(listing, &line.at));
        page.table_line(&text, if share_of(line) == largest { Tone::Strong } else { Tone::Plain });
    }
    if ran.clone().count() > MOST_LINES {
        page.line(
            &format!("and {} more, in the JSON document", many(ran.count() - MOST_LINES, "line")),
            Tone::Quiet,
        );
    }
    if lines.iter().any(|line| line.time.is_none() && line.instruction_share > 0.0) {
        page.line(
            "instr.: share of the instructions that ran; its own time is unknown",
            Tone::Quiet,
        );
    }
    page.gap();
}

/// A line with its number, its file if it is not the main one, and its text.
fn place(listing: &Listing, at: &At) -> String {
    let (file, line) = at;
    let file = if Some(file.as_str()) == listing.main_file {
        String::new()
    } else {
        format!("{}:", base(file))
    };
    let text = listing
        .measured
        .graph
        .statements
        .get(at)
        .map(|text| without_attributes(text))
        .unwrap_or_default();
    format!("{file}{line}  {}", clean(&text))
}

fn code(page: &mut Page, listing: &Listing) {
    let (blocks, analysis) = (&listing.measured.graph.blocks, &listing.measured.analysis);
    let total = |at: usize| listing.measured.block_instruction_share(at);
    let mut never = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        if total(at) == 0.0 {
            never.push(block_name(at));
            continue;
        }
        let unknowns: Vec<usize> = match analysis.unknowns {
            Unknowns::Blocks => vec![at],
            Unknowns::Edges => (0..analysis.names.len())
                .filter(|edge| listing.measured.graph.edges[*edge].from == at)
                .collect(),
        };
        unknowns
            .iter()
            .for_each(|index| page.table_line(&head(listing, *index, total(at)), Tone::Strong));
        steps(page, listing, block, total(at));
    }
    if !never.is_empty() {
        page.item("not run", &cut(&never.join(" "), super::MOST_NAMES), Tone::Quiet);
    }
}

/// The line over a block's code: its time, its share and how often it runs.
fn head(listing: &Listing, index: usize, instructions: f64) -> String {
    let analysis = &listing.measured.analysis;
    let (time, share) = listing.time_of(index);
    let share = share.map_or_else(|| share_of_instructions(instructions), share_of_time);
    let runs = runs(analysis.totals[index] / analysis.calls.max(1) as f64);
    let time = if time == "?" { "no time of its own".to_owned() } else { time };
    format!("{share:>SHARE$}  {}: {time}, {runs} runs/call", analysis.names[index])
}

/// The instructions of a block beside the source lines from which they come.
fn steps(page: &mut Page, listing: &Listing, block: &Block, share: f64) {
    let source = page.table_width().saturating_sub(SHARE + 2 + ASSEMBLY + 2);
    let is_one_line = block.code.windows(2).all(|pair| pair[0].place == pair[1].place);
    let mut last: Option<&At> = None;
    for (at, step) in block.code.iter().enumerate() {
        let is_new = at == 0 || step.place.as_ref() != last;
        last = step.place.as_ref();
        let own_instructions =
            block.code[at..].iter().take_while(|next| next.place == step.place).count();
        let part = if is_new && !is_one_line && step.place.is_some() {
            share_of_instructions(share * own_instructions as f64 / block.code.len() as f64)
        } else {
            String::new()
        };
        let place_text =
            step.place.as_ref().filter(|_| is_new).map(|at| place(listing, at)).unwrap_or_default();
        page.table_line(&row(&part, &cut(&place_text, source), source, step), Tone::Plain);
    }
}

fn row(share: &str, place_text: &str, columns: usize, step: &Step) -> String {
    let address = format!("{:#x}", step.address);
    format!("{share:>SHARE$}  {}  {address:<8} {}", pad(place_text, columns), clean(&step.text))
}
