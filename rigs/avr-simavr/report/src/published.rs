//! The cells of the published Table 2 beside the same blocks of the reference coder, written anew
//! and compiled here.

use crate::steps::Block;
use crate::table2::{Results, Unknown};
use crate::{AnyError, Check, named};
use std::collections::BTreeMap;
use std::path::Path;

/// The published cells in microseconds, which are cycles, with their half-widths; and what the
/// blocks do.
const CELLS: [(&str, f64, f64, &str); 7] = [
    ("BB0", 52.01, 0.044, "entry, exit, call, toggle"),
    ("BB1", 98.98, 0.003, "whatever runs once a sample"),
    ("BB2", 7.997, 0.005, "sign of the difference"),
    ("BB4", 6.994, 0.006, "4 in the code"),
    ("BB6", 4.998, 0.003, "2 in the code"),
    ("BB8", 3.000, 0.004, "1 in the code"),
    ("BB18", 9.987, 0.016, "a byte is written"),
];
/// Largest distance of a cell from the published one, in cycles: the report's compiler is another
/// one, but the instructions leave it little choice. The sums are not limited.
const SMALL_DISTANCES: [(&str, f64); 5] =
    [("BB2", 0.0), ("BB4", 2.0), ("BB6", 1.0), ("BB8", 1.0), ("BB18", 2.0)];
/// The cell that is what all runs have in common.
const CONSTANT: &str = "BB0";

/// A cell that was found in the coder compiled here.
struct Found<'a> {
    cell: (&'static str, f64, f64, &'static str),
    unknown: &'a Unknown,
}

/// Reads `NAME,LINE`: where the source names a published block.
fn read_names(path: &Path) -> Result<BTreeMap<String, u32>, AnyError> {
    let text = std::fs::read_to_string(path).map_err(|e| named(path, &e))?;
    let entry = |line: &str| {
        line.split_once(',')
            .and_then(|(name, number)| Some((name.to_owned(), number.parse().ok()?)))
    };
    text.lines()
        .map(|line| {
            entry(line).ok_or_else(|| named(path, &format!("`{line}` is no name and line")))
        })
        .collect()
}

/// The unknown with a block that has instructions of this line; of several, the one with the fewest
/// blocks.
fn unknown_of<'a>(
    results: &'a Results,
    blocks: &[Block],
    lines: &BTreeMap<u32, u32>,
    line: u32,
) -> Option<&'a Unknown> {
    let has = |block: &Block| lines.range(block.addresses()).any(|(_, own)| *own == line);
    let names: Vec<String> =
        (0..blocks.len()).filter(|at| has(&blocks[*at])).map(|at| format!("B{at}")).collect();
    let words = |unknown: &Unknown| {
        unknown.name.split_whitespace().filter(|word| word.starts_with('B')).count()
    };
    let all = results.unknowns.iter().filter(|unknown| !unknown.constant);
    all.filter(|unknown| {
        unknown.name.split_whitespace().any(|word| names.iter().any(|name| name == word))
    })
    .min_by_key(|unknown| words(unknown))
}

/// The table as text, and its requirements; `overhead` is what the front end adds to every pulse.
pub fn table(
    results: &Results,
    blocks: &[Block],
    lines: &BTreeMap<u32, u32>,
    names: &Path,
    overhead: f64,
) -> Result<(String, Vec<Check>), AnyError> {
    let known = read_names(names)?;
    let find = |cell: (&'static str, f64, f64, &'static str)| -> Result<Found<'_>, AnyError> {
        let unknown = if cell.0 == CONSTANT {
            results.unknowns.iter().find(|unknown| unknown.constant)
        } else {
            known.get(cell.0).and_then(|line| unknown_of(results, blocks, lines, *line))
        };
        Ok(Found {
            cell,
            unknown: unknown.ok_or_else(|| {
                named(names, &format!("{} is in no unknown of the coder", cell.0))
            })?,
        })
    };
    let found = CELLS.into_iter().map(find).collect::<Result<Vec<Found<'_>>, AnyError>>()?;
    let checks = found.iter().filter_map(check).collect();
    Ok((text(&found, overhead), checks))
}

fn check(cell: &Found<'_>) -> Option<Check> {
    let most = SMALL_DISTANCES.iter().find(|(name, _)| *name == cell.cell.0)?.1;
    let (cycles, published) = (cell.unknown.by_instructions, cell.cell.1);
    let words = format!(
        "{}: {cycles:.3} cycles, published {published:.3}, at most {most} apart",
        cell.cell.0
    );
    Some(Check::new(words, (cycles - published.round()).abs() <= most + 1e-6))
}

fn text(cells: &[Found<'_>], overhead: f64) -> String {
    let mut text =
        String::from("Table 2 as published: the reference coder, written anew; cycles = us\n\n");
    text += "          published         instructions   measured  +- at 95 %\n";
    for Found { cell: (name, value, half, what), unknown } in cells {
        let own = 0.5 * (unknown.high - unknown.low);
        let added = if unknown.constant { overhead } else { 0.0 };
        let published = format!("{value:.3} +- {half:.3}");
        text += &format!(
            "  {name:<5}{published:>17}   {:>12.3} {:>10.3}    {own:<7.3} {what}\n",
            unknown.by_instructions + added,
            unknown.value
        );
    }
    text + "\n  BB0 and BB1 are sums. All others are what a sample takes longer with the block \
            than\n  without: the branch around it takes 2 cycles, and 1 if it is not taken.\n"
}
