//! Where calls are ended early.

use crate::binary::{Code, is_padding};
use crate::error::{Error, Result};
use crate::graph::{Counts, Graph, block_name};
use crate::trace::JUMP;
use std::collections::BTreeSet;

/// Blocks before which calls are ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ends {
    each: bool,
    named: BTreeSet<u64>,
}

/// Parses places: `each`, `B4`, `0x1160`, `12` or `file.c:12`.
///
/// # Errors
/// A place where no block begins, or an unknown line.
pub fn resolve(wanted: &[String], graph: &Graph) -> Result<Ends> {
    let mut ends = Ends::default();
    for place in wanted {
        if place == "each" {
            ends.each = true;
        } else {
            ends.named.insert(one(place, graph)?);
        }
    }
    Ok(ends)
}

fn one(place: &str, graph: &Graph) -> Result<u64> {
    let bad = |reason: String| Error::BadRequest(format!("--until {place}: {reason}"));
    if let Some(number) = place.strip_prefix('B').and_then(|digits| digits.parse::<usize>().ok()) {
        let block = number.checked_sub(1).and_then(|at| graph.blocks.get(at));
        return block
            .map(|block| block.start)
            .ok_or_else(|| bad(format!("the function has the blocks B1 to {}", block_name(graph.blocks.len() - 1))));
    }
    if let Some(address) = place.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        let block = graph.block_at(address).map(|at| &graph.blocks[at]);
        let block = block.ok_or_else(|| bad("the function has no block there".into()))?;
        return if block.start == address { Ok(address) } else { Err(bad(format!("the block there begins at {:#x}", block.start))) };
    }
    let (file, line) =
        as_line(place).ok_or_else(|| bad("give `each`, a block as B4, an address as 0x1160, or a line as 12 or file.c:12".into()))?;
    let found = on_line(file, line, graph).next().map(|at| graph.blocks[at].start);
    found.ok_or_else(|| match graph.blocks.iter().any(|block| block.source.is_some()) {
        true => bad("no block begins on that line".into()),
        false => bad("the program has no line numbers (compile with -g): give a block or an address".into()),
    })
}

/// A line, as `12` or `file.c:12`.
fn as_line(place: &str) -> Option<(&str, u32)> {
    let (file, line) = place.rsplit_once(':').map_or(("", place), |(file, line)| (file, line));
    Some((file, line.parse().ok()?))
}

/// Blocks that begin on a line.
fn on_line<'a>(file: &'a str, line: u32, graph: &'a Graph) -> impl Iterator<Item = usize> + 'a {
    let begins =
        move |at: &usize| graph.blocks[*at].source.as_ref().is_some_and(|source| source.file.ends_with(file) && source.line == line);
    (0..graph.blocks.len()).filter(begins)
}

/// Messages about lines on which several blocks begin.
pub fn notes(wanted: &[String], graph: &Graph) -> Vec<String> {
    let note = |place: &String| {
        let (file, line) = as_line(place)?;
        let all: Vec<String> = on_line(file, line, graph).map(block_name).collect();
        let (first, others) = all.split_first().filter(|(_, others)| !others.is_empty())?;
        Some(format!("--until {place}: calls end before {first}; {} begin on that line, too, and can be given by name", others.join(", ")))
    };
    wanted.iter().filter_map(note).collect()
}

impl Ends {
    /// Addresses of the file where calls are ended.
    pub fn addresses(&self, graph: &Graph) -> BTreeSet<u64> {
        let entry = graph.blocks.get(graph.entry).map(|block| block.start);
        let each = graph.blocks.iter().map(|block| block.start).filter(|_| self.each);
        each.chain(self.named.iter().copied()).filter(|address| Some(*address) != entry).collect()
    }

    /// Whether the jump that ends a call can be put at an address: it must not overwrite code that runs earlier.
    pub fn can_end(&self, graph: &Graph, code: &Code, counts: &Counts, address: u64) -> bool {
        let end = address + JUMP as u64;
        let over = |at: usize| (address + 1..end).contains(&graph.blocks[at].start);
        let runs_before = (0..graph.blocks.len()).any(|at| over(at) && counts.blocks[at] > 0);
        let inside =
            code.ranges().find(|range| range.contains(&address)).is_some_and(|range| end <= range.end || self.is_free(code, range.end));
        !runs_before && inside
    }

    /// Whether the bytes after the function are free: functions are aligned to more than a jump's length.
    fn is_free(&self, code: &Code, end: u64) -> bool {
        const ALIGNMENT: u64 = 16;
        code.decode(end).as_ref().is_some_and(is_padding) || end % ALIGNMENT > 0 && end % ALIGNMENT <= ALIGNMENT - JUMP as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::graph;

    #[test]
    fn places_are_parsed_and_errors_name_valid_ones() {
        let graph = graph(3, &[(0, Some(1)), (1, Some(2)), (2, None)]);
        let at = |place: &str| resolve(&[place.to_owned()], &graph);
        assert_eq!(at("B3").unwrap().addresses(&graph), BTreeSet::from([32]));
        assert_eq!(at("0x10").unwrap().addresses(&graph), BTreeSet::from([16]));
        assert_eq!(at("each").unwrap().addresses(&graph), BTreeSet::from([16, 32]));
        assert!(at("B9").unwrap_err().to_string().contains("B1 to B3"));
        assert!(at("0x11").unwrap_err().to_string().contains("begins at 0x10"));
        assert!(at("12").unwrap_err().to_string().contains("no line numbers"));
        assert!(at("there").unwrap_err().to_string().contains("give `each`"));
    }

    #[test]
    fn the_first_of_several_blocks_on_a_line_is_used() {
        let mut graph = graph(4, &[(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, None)]);
        for (at, line) in [(0, 7), (1, 8), (2, 8), (3, 9)] {
            let (file, text) = ("src/a.c".to_owned(), String::new());
            graph.blocks[at].source = Some(crate::graph::Source { file, line, last_line: line, text });
        }
        let wanted = |place: &str| [place.to_owned()];
        assert_eq!(resolve(&wanted("a.c:8"), &graph).unwrap().addresses(&graph), BTreeSet::from([16]));
        let said = notes(&wanted("8"), &graph);
        assert!(said.len() == 1 && said[0].contains("before B2; B3 begin"), "{said:?}");
        assert!(notes(&["9".to_owned(), "each".to_owned(), "B2".to_owned()], &graph).is_empty());
    }
}
