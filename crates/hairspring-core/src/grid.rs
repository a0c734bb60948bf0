//! How the rounds of a run are divided: into spans that share their placement, and these into
//! blocks. Everything behind the readings is computed from the means of rows in blocks, because
//! what differs between blocks shows noise of any kind, and what differs between spans shows what
//! each new process draws.

use crate::limit::{Basis, FEWEST_MEANS, limits};
use crate::observations::Observations;
use std::ops::Range;

limits! {
    /// Blocks that a run is divided into, if it has as many rounds.
    MOST_BLOCKS = 32.0, "blocks",
        Basis::Size("more blocks show shorter noise, and have more of it");
    /// Fewest rounds that are a span of their own; shorter placements share one with their
    /// neighbours.
    ROUNDS_OF_SPAN = 8.0, "rounds",
        Basis::Size("two blocks of four rounds; a block of fewer often lacks a row");
    /// Most spans.
    MOST_SPANS = 1024.0, "spans",
        Basis::Size("memory of the blocks; a span of 128 more says nothing new");
}

/// Some rounds of one placement, or of neighbouring short ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub rounds: Range<u32>,
    /// The layout of the code in it; `None` if the code has one layout, or these rounds several.
    pub layout: Option<usize>,
    /// Placements that share the span.
    pub placements: usize,
}

/// A part of a span.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub rounds: Range<u32>,
    pub span: usize,
}

/// The division of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Grid {
    pub spans: Vec<Span>,
    pub blocks: Vec<Block>,
    /// Number of layouts of the code; at least 1.
    pub layouts: usize,
    /// Neighbouring layouts that differ by the order of the alternatives only; at least 1.
    pub crossover: usize,
}

impl Grid {
    /// The division of a table with this number of rounds, with so many blocks in a run of one
    /// span, and so many layouts; as if it had one placement, without layouts.
    pub fn new(table: &Observations, rounds: u32, blocks: usize, layouts: Option<usize>) -> Grid {
        let (is_one, layouts) = (layouts.is_none(), layouts.unwrap_or(1).max(1));
        let crossover = (table.origin.crossover as usize).max(1);
        let placements = if is_one {
            std::iter::once(0..rounds).collect()
        } else {
            table.placements_until(rounds)
        };
        let spans = spans(&placements, layouts);
        // Two at least: a variance needs two values.
        let each = if spans.len() > 1 { blocks.div_ceil(spans.len()).max(2) } else { blocks };
        let parts = |(span, span_of_rounds): (usize, &Span)| {
            let length = span_of_rounds.rounds.end - span_of_rounds.rounds.start;
            let most_blocks =
                if spans.len() > 1 { length / (ROUNDS_OF_SPAN as u32 / 2) } else { length };
            divided(&span_of_rounds.rounds, (each as u32).min(most_blocks).max(1))
                .map(move |rounds| Block { rounds, span })
        };
        let blocks = spans.iter().enumerate().flat_map(parts).collect();
        Grid {
            blocks,
            layouts,
            crossover: if layouts % crossover == 0 { crossover } else { 1 },
            spans,
        }
    }

    /// The same spans in so many blocks.
    pub fn in_blocks(&self, table: &Observations, rounds: u32, blocks: usize) -> Grid {
        Grid::new(table, rounds, blocks, (self.spans.len() > 1).then_some(self.layouts))
    }

    /// The number of the block in which a round lies.
    pub fn block_of(&self, round: u32) -> usize {
        self.blocks.partition_point(|block| block.rounds.end <= round).min(self.blocks.len() - 1)
    }

    /// Whether the spans show what differs between placements.
    pub fn has_spans(&self) -> bool {
        self.spans.len() >= FEWEST_MEANS as usize
    }
}

/// A range in parts of about the same length.
pub(crate) fn divided(rounds: &Range<u32>, parts: u32) -> impl Iterator<Item = Range<u32>> + use<> {
    let (start, length) = (rounds.start, u64::from(rounds.end - rounds.start));
    let border =
        move |part: u32| start + (u64::from(part) * length).div_ceil(u64::from(parts)) as u32;
    (0..parts).map(move |part| border(part)..border(part + 1))
}

/// Groups of neighbouring placements with enough rounds each.
fn spans(placements: &[Range<u32>], layouts: usize) -> Vec<Span> {
    let rounds: u32 = placements.iter().map(|one| one.end - one.start).sum();
    let least_rounds = rounds.div_ceil(MOST_SPANS as u32).max(ROUNDS_OF_SPAN as u32);
    let mut spans: Vec<Span> = Vec::new();
    for (at, placement) in placements.iter().enumerate() {
        match spans.last_mut() {
            Some(last) if last.rounds.end - last.rounds.start < least_rounds => last.add(placement),
            _ => spans.push(Span {
                rounds: placement.clone(),
                layout: (layouts > 1).then_some(at % layouts),
                placements: 1,
            }),
        }
    }
    // The last group may have too few rounds.
    let is_short = spans
        .last()
        .is_some_and(|last| last.rounds.end - last.rounds.start < ROUNDS_OF_SPAN as u32);
    if let Some(last) = if is_short && spans.len() > 1 { spans.pop() } else { None } {
        spans.iter_mut().next_back().into_iter().for_each(|before| before.add(&last.rounds));
    }
    spans
}

impl Span {
    fn add(&mut self, placement: &Range<u32>) {
        (self.rounds.end, self.layout, self.placements) =
            (placement.end, None, self.placements + 1);
    }
}
