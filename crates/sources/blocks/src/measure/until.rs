//! Where calls are ended early.

use crate::analysis::{CountRow, Structure};
use crate::binary::{Code, is_padding};
use crate::error::{Error, Result};
use crate::graph::{Counts, Edge, Graph, block_name};
use crate::trace::JUMP;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most numbers of arrivals at the places of one option, and the largest of them.
const MOST_ARRIVALS: u64 = 1_000;
const LAST_ARRIVAL: u64 = 1_000_000_000;

/// Numbers of arrivals at addresses.
pub type Arrivals = BTreeMap<u64, BTreeSet<u64>>;

/// Blocks before which calls are ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ends {
    each: bool,
    merged: bool,
    named: Arrivals,
    /// The named ones as they were requested, with their address and arrivals.
    requested: Vec<(String, u64, BTreeSet<u64>)>,
}

/// Parses places: `each`, `merged`, or `B4`, `0x1160`, `12` or `file.c:12`, each with `@k` or
/// `@k-m` for the k-th arrival there.
///
/// # Errors
/// A place where no block begins, an unknown line, or bad numbers.
pub fn resolve(wanted_places: &[String], graph: &Graph) -> Result<Ends> {
    let mut ends = Ends::default();
    for place in wanted_places {
        match place.as_str() {
            "each" => ends.each = true,
            "merged" => ends.merged = true,
            _ => {
                let (address, arrivals) = place_and_arrivals("--until", place, graph)?;
                ends.named.entry(address).or_default().extend(&arrivals);
                ends.requested.push((place.clone(), address, arrivals));
            }
        }
    }
    let all_places: usize = ends.named.values().map(BTreeSet::len).sum();
    if all_places as u64 > MOST_ARRIVALS {
        return Err(Error::BadRequest(format!(
            "--until: {MOST_ARRIVALS} arrivals at the most, and these are {all_places}"
        )));
    }
    Ok(ends)
}

/// A place with the numbers of arrivals there; without any, the first one.
///
/// # Errors
/// A place where no block begins, an unknown line, or bad numbers.
pub fn place_and_arrivals(option: &str, text: &str, graph: &Graph) -> Result<(u64, BTreeSet<u64>)> {
    let Some((place, numbers)) = text.rsplit_once('@') else {
        return Ok((one(option, text, graph)?, BTreeSet::from([1])));
    };
    let bad = || {
        let forms = format!(
            "behind the @, give the number of an arrival as 3 or a range as 3-8, from 1 to \
             {LAST_ARRIVAL} and {MOST_ARRIVALS} at the most"
        );
        Error::BadRequest(format!("{option} {text}: {forms}"))
    };
    if option == "--until" && matches!(place, "each" | "merged") {
        return Err(Error::BadRequest(format!(
            "{option} {text}: `each` and `merged` end calls at the first arrival and take no \
             number; give a block for others, as B4@3"
        )));
    }
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let (first, last): (u64, u64) =
        (first.parse().map_err(|_| bad())?, last.parse().map_err(|_| bad())?);
    if first < 1 || last < first || last > LAST_ARRIVAL || last - first >= MOST_ARRIVALS {
        return Err(bad());
    }
    Ok((one(option, place, graph)?, (first..=last).collect()))
}

fn one(option: &str, place: &str, graph: &Graph) -> Result<u64> {
    let bad = |reason: String| Error::BadRequest(format!("{option} {place}: {reason}"));
    if let Some(number) = place.strip_prefix('B').and_then(|digits| digits.parse::<usize>().ok()) {
        let block = number.checked_sub(1).and_then(|at| graph.blocks.get(at));
        return block.map(|block| block.start).ok_or_else(|| {
            bad(format!("the function has the blocks B1 to {}", block_name(graph.blocks.len() - 1)))
        });
    }
    if let Some(address) =
        place.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())
    {
        let block = graph.block_at(address).map(|at| &graph.blocks[at]);
        let block = block.ok_or_else(|| bad("the function has no block there".into()))?;
        return if block.start == address {
            Ok(address)
        } else {
            Err(bad(format!("the block there begins at {:#x}", block.start)))
        };
    }
    let (file, line) = as_line(place).ok_or_else(|| {
        bad("give a block as B4, an address as 0x1160, a line as 12 or file.c:12; for --until also \
             `each` or `merged`".into())
    })?;
    let found_block = on_line(file, line, graph).next().map(|at| graph.blocks[at].start);
    found_block.ok_or_else(|| match graph.blocks.iter().any(|block| block.source.is_some()) {
        true => bad("no block begins on that line".into()),
        false => {
            bad("the program has no line numbers (compile with -g): give a block or an address"
                .into())
        }
    })
}

/// A line, as `12` or `file.c:12`.
fn as_line(place: &str) -> Option<(&str, u32)> {
    let (file, line) = place.rsplit_once(':').map_or(("", place), |(file, line)| (file, line));
    Some((file, line.parse().ok()?))
}

/// Blocks that begin on a line.
fn on_line<'a>(file: &'a str, line: u32, graph: &'a Graph) -> impl Iterator<Item = usize> + 'a {
    // Whole parts of the path: `c:3` does not mean `a.c:3`.
    let is_file = move |path: &str| file.is_empty() || Path::new(path).ends_with(file);
    let begins = move |at: &usize| {
        graph.blocks[*at]
            .source
            .as_ref()
            .is_some_and(|source| is_file(&source.file) && source.line == line)
    };
    (0..graph.blocks.len()).filter(begins)
}

/// Messages about lines on which several blocks begin, of `--until` or `--from`, and what happens
/// there.
pub fn notes(option: &str, event: &str, wanted_places: &[String], graph: &Graph) -> Vec<String> {
    let note = |place: &String| {
        let (file, line) =
            as_line(place.rsplit_once('@').map_or(place.as_str(), |(place, _)| place))?;
        let all_blocks: Vec<String> = on_line(file, line, graph).map(block_name).collect();
        let (first, other_blocks) =
            all_blocks.split_first().filter(|(_, other_blocks)| !other_blocks.is_empty())?;
        Some(format!(
            "{option} {place}: {event} {first}; {} begin on that line, too, and can be given by \
             name",
            other_blocks.join(", ")
        ))
    };
    wanted_places.iter().filter_map(note).collect()
}

/// Runs of a block in a call from which some of its arrivals are worth an end.
const SEVERAL_RUNS: u64 = 4;
/// Most blocks at whose arrivals calls are ended.
const MOST_BLOCKS: usize = 8;

impl Ends {
    /// Ends that tell the parts of a loop apart where all calls ran alike: at some arrivals at its
    /// blocks, and behind it. `None` without a loop.
    pub fn in_loops(graph: &Graph, counts: &Counts) -> Option<Ends> {
        let mut by_runs: BTreeMap<u64, usize> = BTreeMap::new();
        for (at, runs) in counts
            .blocks
            .iter()
            .enumerate()
            .filter(|(at, runs)| **runs >= SEVERAL_RUNS && *at != graph.entry)
        {
            by_runs.entry(*runs).or_insert(at);
        }
        let behind = |edge: &&Edge| {
            edge.to.is_some_and(|to| counts.blocks[to] == 1)
                && counts.blocks[edge.from] >= SEVERAL_RUNS
        };
        let mut named = Arrivals::new();
        for (runs, block) in by_runs.iter().rev().take(MOST_BLOCKS) {
            named.insert(
                graph.blocks[*block].start,
                BTreeSet::from([1, runs / 4, runs / 2, 3 * runs / 4]),
            );
        }
        for to in graph.edges.iter().filter(behind).filter_map(|edge| edge.to).take(MOST_BLOCKS) {
            named.insert(graph.blocks[to].start, BTreeSet::from([1]));
        }
        (!by_runs.is_empty()).then_some(Ends { named, ..Ends::default() })
    }

    /// Addresses of the file where calls are ended, and at which arrivals.
    pub fn arrivals(&self, graph: &Graph) -> Arrivals {
        let start = |at: usize| graph.blocks[at].start;
        let merged = if self.merged { Structure::from_graph(graph).merged() } else { Vec::new() };
        let each = (0..graph.blocks.len()).filter(|_| self.each);
        let mut all_arrivals = self.named.clone();
        for at in each.chain(merged).filter(|at| *at != graph.entry) {
            all_arrivals.entry(start(at)).or_default().insert(1);
        }
        all_arrivals
    }

    /// Messages about named ends where no row ends.
    pub fn unreached(&self, graph: &Graph, rows: &[CountRow]) -> Vec<String> {
        let ends_at = |row: &CountRow, address: u64, arrivals: &BTreeSet<u64>| {
            let is_there = row.until.is_some_and(|until| graph.blocks[until].start == address);
            is_there && arrivals.contains(&row.counted.map_or(1, |counted| counted.arrivals))
        };
        let missing = self.requested.iter().filter(|(_, address, arrivals)| {
            !rows.iter().any(|row| ends_at(row, *address, arrivals))
        });
        let note = |(place, ..): &(String, u64, BTreeSet<u64>)| {
            format!(
                "--until {place}: no call was ended there: none got there that often, or the jump \
                 that ends a call would overwrite code that runs before; give another block or \
                 arrival, or inputs that get there"
            )
        };
        missing.map(note).collect()
    }

    /// Whether the jump that ends a call can be put at an address: it must not overwrite code that
    /// runs earlier.
    pub fn can_end(&self, graph: &Graph, code: &Code, counts: &Counts, address: u64) -> bool {
        let end = address + JUMP as u64;
        let over = |at: usize| (address + 1..end).contains(&graph.blocks[at].start);
        let runs_before = (0..graph.blocks.len()).any(|at| over(at) && counts.blocks[at] > 0);
        let inside = code
            .ranges()
            .find(|range| range.contains(&address))
            .is_some_and(|range| end <= range.end || self.is_free(code, range.end));
        !runs_before && inside
    }

    /// Whether the bytes after the function are free: functions are aligned to more than a jump's
    /// length.
    fn is_free(&self, code: &Code, end: u64) -> bool {
        const ALIGNMENT: u64 = 16;
        code.decode(end).as_ref().is_some_and(is_padding)
            || end % ALIGNMENT > 0 && end % ALIGNMENT <= ALIGNMENT - JUMP as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Counted;
    use crate::graph::tests::graph;

    #[test]
    fn places_are_parsed_and_errors_name_valid_ones() {
        let graph = graph(3, &[(0, Some(1)), (1, Some(2)), (2, None)]);
        let at = |place: &str| resolve(&[place.to_owned()], &graph);
        let once = |addresses: &[u64]| {
            addresses.iter().map(|address| (*address, BTreeSet::from([1]))).collect::<Arrivals>()
        };
        assert_eq!(at("B3").unwrap().arrivals(&graph), once(&[32]));
        assert_eq!(at("0x10").unwrap().arrivals(&graph), once(&[16]));
        assert_eq!(at("each").unwrap().arrivals(&graph), once(&[16, 32]));
        // All three run once in every call.
        assert_eq!(at("merged").unwrap().arrivals(&graph), once(&[16, 32]));
        assert_eq!(
            at("B3@2-4").unwrap().arrivals(&graph),
            Arrivals::from([(32, BTreeSet::from([2, 3, 4]))])
        );
        for bad in ["B3@", "B3@0", "B3@4-2", "B3@1-2000", "B3@x", "B3@-1", "B3@2000000000"] {
            assert!(at(bad).unwrap_err().to_string().contains("behind the @"), "{bad}");
        }
        let many: Vec<String> = ["B2@1-600", "B3@1-600"].map(str::to_owned).to_vec();
        assert!(
            resolve(&many, &graph)
                .unwrap_err()
                .to_string()
                .contains("1000 arrivals at the most, and these are 1200")
        );
        assert!(at("B9").unwrap_err().to_string().contains("B1 to B3"));
        assert!(at("0x11").unwrap_err().to_string().contains("begins at 0x10"));
        assert!(at("12").unwrap_err().to_string().contains("no line numbers"));
        assert!(at("each@2").unwrap_err().to_string().contains("take no number"));
        assert!(at("there").unwrap_err().to_string().contains("`each` or `merged`"));
    }

    #[test]
    fn the_first_of_several_blocks_on_a_line_is_used() {
        let mut graph = graph(4, &[(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, None)]);
        for (at, line) in [(0, 7), (1, 8), (2, 8), (3, 9)] {
            let (file, text) = ("src/a.c".to_owned(), String::new());
            graph.blocks[at].source =
                Some(crate::graph::Source { file, line, last_line: line, text });
        }
        let wanted_places = |place: &str| [place.to_owned()];
        assert_eq!(
            resolve(&wanted_places("a.c:8"), &graph).unwrap().arrivals(&graph),
            Arrivals::from([(16, BTreeSet::from([1]))])
        );
        let said = notes("--until", "calls end before", &wanted_places("8"), &graph);
        assert!(said.len() == 1 && said[0].contains("before B2; B3 begin"), "{said:?}");
        assert!(
            notes("--until", "", &["9".to_owned(), "each".to_owned(), "B2".to_owned()], &graph)
                .is_empty()
        );
        // A file is given by whole parts of its path.
        assert!(resolve(&wanted_places("src/a.c:8"), &graph).is_ok());
        assert!(
            resolve(&wanted_places("c:8"), &graph)
                .unwrap_err()
                .to_string()
                .contains("no block begins on that line")
        );
    }

    #[test]
    fn ends_in_loops_are_spread_over_their_trips() {
        // 0 -> loop 1, 2 -> 3 -> out
        let graph = graph(4, &[(0, Some(1)), (1, Some(2)), (2, Some(1)), (1, Some(3)), (3, None)]);
        let counts = |blocks: [u64; 4]| Counts { blocks: blocks.to_vec(), edges: Vec::new() };
        let some = |numbers: &[u64]| numbers.iter().copied().collect::<BTreeSet<u64>>();
        let ends = Ends::in_loops(&graph, &counts([1, 101, 100, 1])).unwrap().arrivals(&graph);
        assert_eq!(
            ends,
            BTreeMap::from([
                (16, some(&[1, 25, 50, 75])),
                (32, some(&[1, 25, 50, 75])),
                (48, some(&[1]))
            ])
        );
        assert!(Ends::in_loops(&graph, &counts([1, 1, 0, 1])).is_none());
    }

    #[test]
    fn ends_without_a_row_are_named() {
        let graph = graph(3, &[(0, Some(1)), (1, Some(2)), (2, None)]);
        let wanted_places: Vec<String> =
            ["each", "B2", "B2@3", "B3", "B3@2-4"].map(str::to_owned).to_vec();
        let ends = resolve(&wanted_places, &graph).unwrap();
        let row = |until, counted| CountRow { counts: Counts::default(), until, counted };
        let counted = |block, arrivals| Some(Counted { block, arrivals, twice: false });
        let notes = ends.unreached(
            &graph,
            &[row(None, counted(1, 3)), row(Some(1), None), row(Some(2), counted(2, 4))],
        );
        assert!(
            notes.len() == 2
                && notes[0].starts_with("--until B2@3: no call")
                && notes[1].starts_with("--until B3: "),
            "{notes:?}"
        );
    }
}
