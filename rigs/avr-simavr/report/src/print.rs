//! The tables as text.

use crate::table1::{self, Found, PUBLISHED_OVERHEAD, PUBLISHED_ROWS, Row};
use crate::table2;

/// Table 1, the published figures beside those of two methods to find edges.
pub fn table1(band_limited: &table1::Results, three_point: &table1::Results) -> String {
    let mut text =
        String::from("Table 1: a routine of exactly 100 us; mean (standard deviation), in us\n\n");
    text += "                      published           band-limited        three-point\n";
    for (at, (row, mean, sd)) in PUBLISHED_ROWS.into_iter().enumerate() {
        let (ours, as_theirs) = (&band_limited.rows[at], &three_point.rows[at]);
        let note = if row == Row::Direct(210) { " *" } else { "" };
        text += &format!(
            "  {:<18}{mean:>9.3} ({sd:.3})   {}   {}{note}\n",
            row.name(),
            figure(ours),
            figure(as_theirs)
        );
    }
    text += &format!(
        "  {:<18}{PUBLISHED_OVERHEAD:>9.1}   {:>17.3}{:>20.3}\n",
        "overhead", band_limited.overhead, three_point.overhead
    );
    text += &format!("\n  lines 1x to 20x, {} captures\n", band_limited.coverage.1);
    let (ours, as_theirs) = (100.0 * band_limited.coverage.0, 100.0 * three_point.coverage.0);
    text += &format!(
        "  +- at 95 % {:>35.4}{:>20.4}\n",
        band_limited.half_width, three_point.half_width
    );
    text += &format!("  hold the true time {ours:>25.1} %{as_theirs:>18.1} %\n");
    text += "\n  * 100 + 8.5 / 210 = 100.040: with an overhead of 8.5, on which all other\n";
    text += "    rows agree, the published 100.004 cannot be had.\n";
    text += &differences(three_point);
    text += "  Three-point differences keep what makes one copy unlike the others: its trailing\n";
    text + "  edge lies 19.6 samples behind the leading one, where the sound card's filter rings.\n"
}

/// Why the published differences scatter more than those here.
fn differences(three_point: &table1::Results) -> String {
    let [one, two] = three_point.pulse_sds;
    let published: Vec<String> =
        table1::published_differences().iter().map(|sd| format!("{sd:.3}")).collect();
    let mut text = format!(
        "  One three-point difference scatters by {:.3}: a pulse of 1 copy by {one:.3}, of 2 by\n",
        one.hypot(two)
    );
    text += &format!(
        "    {two:.3}. The published rows need {}, as if 2 copies scattered like 10\n",
        published.join(", ")
    );
    text + "    (1.35); see README.md for why no phase between samples gives that here.\n"
}

fn figure(row: &Found) -> String {
    format!("{:>9.3} ({:.3})", row.mean, row.sd)
}

/// Figure 7: the error of direct measurements against overhead / N.
pub fn figure7(results: &table1::Results) -> String {
    let mut text = String::from("Figure 7: error of N executions divided by N, in us\n\n");
    text += "      N   8.5 / N   published       here   0.01      0.1       1         10\n";
    for (found, (row, mean, _)) in results.rows.iter().zip(PUBLISHED_ROWS) {
        let Row::Direct(copies) = row else { continue };
        let (theory, ours) = (PUBLISHED_OVERHEAD / f64::from(copies), found.mean - 100.0);
        text += &format!(
            "  {copies:>5} {theory:>9.4} {:>11.4} {ours:>10.4}   {}\n",
            mean - 100.0,
            place(&[(theory, '|'), (mean - 100.0, 'o'), (ours, 'x')])
        );
    }
    text + "\n  | 8.5 / N, o published, x here, # several of them; logarithmic\n"
}

/// Marks on a logarithmic line from 0.003 to 30, ten letters a decade.
fn place(marks: &[(f64, char)]) -> String {
    let mut line = vec![' '; 36];
    for (value, mark) in marks {
        let at = (10.0 * (value / 0.01).log10()).round() + 5.0;
        if let Some(slot) = line.get_mut(at.clamp(0.0, 35.0) as usize) {
            *slot = if *slot == ' ' { *mark } else { '#' };
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// Cycles of the toggle, which every overhead includes.
pub const TOGGLE: f64 = 2.0;

/// Table 2: one line for each unknown with blocks as unknowns, and the checks with edges as
/// unknowns. `places` are the blocks' lines in the source, `overhead` is that of Table 1.
pub fn table2(
    blocks: &table2::Results,
    edges: &table2::Results,
    places: &[(u32, u32)],
    overhead: f64,
) -> String {
    let mut text =
        String::from("Table 2: blocks of an IMA ADPCM coder on the ATmega2560, cycles = us\n\n");
    text += "   instructions    measured   +- at 95 %    block or combination\n";
    for unknown in &blocks.unknowns {
        let half = 0.5 * (unknown.high - unknown.low);
        let mark = match (unknown.low..=unknown.high).contains(&unknown.by_instructions) {
            _ if unknown.constant => "(c)",
            true => "",
            false => "!",
        };
        let (exact, name) = (unknown.by_instructions, wrapped(&unknown.name));
        text +=
            &format!("  {exact:>13.3} {:>11.3}    {half:<8.3} {mark:<3} {name}\n", unknown.value);
    }
    let counts = |results: &table2::Results| {
        format!("{} columns, {} unknowns", results.columns, results.unknowns.len())
    };
    text += &format!(
        "\n  {} inputs; blocks: {}; edges: {}\n",
        blocks.inputs,
        counts(blocks),
        counts(edges)
    );
    text += "  Only these sums can be told apart; a branch that is not taken is shorter.\n";
    for constant in blocks.unknowns.iter().filter(|unknown| unknown.constant) {
        let (exact, added) = (constant.by_instructions, overhead - TOGGLE);
        text +=
            "  (c) is what all runs have in common, less what other lines count too often. The\n";
        text += &format!(
            "  front end adds {added:.3} (Table 1: its overhead less the toggle's {TOGGLE:.0}), \
             and so\n"
        );
        text +=
            &format!("  {exact:.3} + {added:.3} = {:.3} is to be expected there.\n", exact + added);
    }
    text += "  ! marks an interval that does not hold the cycles of the instruction set.\n";
    text += "\n  blocks by the lines of firmware/coder.c:\n";
    text + &indented(
        &places.iter().enumerate().map(|(at, lines)| place_of(at, *lines)).collect::<Vec<_>>(),
    )
}

/// `B9 57`, `B11 59-61`.
fn place_of(at: usize, (first, last): (u32, u32)) -> String {
    match (first, last) {
        (0, _) => format!("B{at} unknown"),
        _ if first == last => format!("B{at} {first}"),
        _ => format!("B{at} {first}-{last}"),
    }
}

/// Words with commas in lines of 78 letters.
fn indented(words: &[String]) -> String {
    let mut lines = vec![String::new()];
    for (at, word) in words.iter().enumerate() {
        let word = if at + 1 < words.len() { format!(" {word},") } else { format!(" {word}") };
        match lines.last_mut().filter(|line| line.len() + word.len() <= 75) {
            Some(line) => *line += &word,
            None => lines.push(word),
        }
    }
    lines.iter().map(|line| format!("   {line}\n")).collect()
}

/// The sum in lines that fit beside the figures.
fn wrapped(sum: &str) -> String {
    const INDENT: usize = 44;
    const WIDTH: usize = 36;
    let mut lines: Vec<String> = Vec::new();
    for term in sum.replace(" + ", "\n+ ").replace(" - ", "\n- ").split('\n') {
        match lines.last_mut().filter(|line| line.len() + 1 + term.len() <= WIDTH) {
            Some(line) => *line += &format!(" {term}"),
            None => lines.push(term.to_owned()),
        }
    }
    lines.join(&format!("\n{}", " ".repeat(INDENT)))
}
