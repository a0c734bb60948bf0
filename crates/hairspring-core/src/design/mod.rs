//! The choice of counts from a pilot run, so that the line is long enough for the clock, short
//! enough for a scheduler slice, and begins where it is straight.

mod each;
pub mod enough;
pub mod loops;
mod repeat;
pub mod table;
#[cfg(test)]
mod table_tests;

use crate::math::{exp2, log2};
use crate::observations::Role;
use serde::{Deserialize, Serialize};
use table::Order;
pub use table::{FEWEST_ROWS, SHORTEST_CHECK_SHARE, SHORTEST_SHARE};

impl Order {
    /// The role of a series with rows of this order; `None` if such a series does not check another
    /// one.
    pub fn role(self) -> Option<Role> {
        match self {
            Order::InPlace => Some(Role::InPlace),
            Order::Fenced => Some(Role::Fenced),
            Order::BehindBody => Some(Role::BehindBody),
            Order::BehindInit => Some(Role::BehindInit),
            Order::AtEnd | Order::FencedChain => None,
        }
    }
}

/// Target length of the longest row: much longer than the clock's quantum, much shorter than the
/// time between interrupts.
pub const TARGET_WINDOW_NS: f64 = 1_500.0;
/// Target length of the longest row on a coarse clock, in quanta.
const TARGET_QUANTA: f64 = 5.0;
/// No row is longer than this unless the body itself is: windows of 20 ms fail on a shared machine.
pub const MOST_WINDOW_NS: f64 = 50_000.0;
/// Most code in one row: well below a first-level instruction cache of 32 KiB.
const MOST_CODE_BYTES: f64 = 16_384.0;
/// Most compiled copies in one row, because compile time grows with their sum.
const MOST_COPIES: f64 = 256.0;
/// The same for a coarse clock, or if [`MOST_COPIES`] take less than [`SHORT_NS`], which justifies
/// a longer compilation. A chain of one cycle ends up to 1.5 cycles early in long rows on some
/// cores, which makes 256 copies 0.2 % short, and some counters move by 10 ns.
const MOST_COPIES_OF_SHORT_ROWS: f64 = 512.0;
const SHORT_NS: f64 = 100.0;
/// There may be more of short copies if they have this much code at most: 2,560 bytes take a
/// compiler 0.1 to 0.2 s.
const COMPILED_BYTES: f64 = 2_560.0;
/// Most copies of code that an assembler repeats, which takes it little time. Rows are off the line
/// by up to one latency of the code, and a reading of a short row is rounded to a large part of its
/// time: a longer line divides both.
const MOST_ASSEMBLED_COPIES: f64 = 1_024.0;
/// Lengths of the rows, as shares of the longest.
const SHARES: [f64; 9] =
    [1.0 / SHORTEST_SHARE as f64, 0.1875, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0];

/// Most copies in a block, and the code that is wanted in one, which has to stay in the cache of
/// decoded instructions. A longest block of 16 copies gives a row to each share, and may have more
/// code.
const MOST_COPIES_OF_BLOCKS: f64 = 128.0;
const BLOCK_BYTES: f64 = 2_560.0;
const FEWEST_LONGEST_BLOCK: f64 = 16.0;
const MOST_COPY_BYTES: f64 = 400.0;
/// Code whose straight copies take longer than this is run in short blocks: what a core learns of
/// it is a smaller part of its time, but it learns each copy by itself, and cannot keep many. Of
/// shorter code it may be most: eight increments of one variable take 59 cycles, or 15 ns, at
/// first, and 8 cycles once the core has learnt them.
const MOST_BLOCK_NS: f64 = 50.0;
/// Code whose straight copies take longer than this is not run in blocks: a core does not learn it
/// whole, wherever it lies, and the rows would take long.
const MOST_SHORT_BLOCK_NS: f64 = 500.0;
const MOST_SHORT_COPY_BYTES: f64 = 1_600.0;
/// Short blocks of shorter code would be short beside the reads of the clock and the loop around
/// them. Six integers sorted behind an init take 30 to 37 cycles in loops, 35 in short blocks, and
/// 43 in straight rows; a `push_back` of 4 cycles takes 5 in straight rows, and 2 in short blocks.
const LEAST_SHORT_BLOCK_NS: f64 = 4.0;
/// Code that takes so many times longer than the limit of a kind of rows has these rows, too, if it
/// is compared with code that has them.
const ALSO_OF_THE_KIND: f64 = 2.0;
/// Copies in the blocks as shares of the longest: what runs a block again overlaps with much of a
/// shorter one.
const BLOCK_SHARES: [f64; 9] = [0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625, 0.75, 0.875, 1.0];
/// Copies in short blocks, and how often rows run them: as in loops with the code at one place or
/// at two. A core runs three or four copies of a sort more slowly, each of them, than two. No two
/// rows have equal counts.
const FEW_COPIES: [u32; 2] = [1, 2];
const RUNS_OF_SHORT_BLOCKS: [u32; 3] = [8, 10, 12];
/// Most copies in a short block.
pub const MOST_COPIES_OF_SHORT_BLOCKS: u32 = FEW_COPIES[1];
/// Further inits in short blocks.
const FURTHER_INITS_OF_FEW: [u32; 2] = [0, 3];
/// Bodies, each with one init, of the short rows that stand in for [`behind`].
pub const FEW_BEHIND: [u32; ROWS_BEHIND] = [1, 2, 3, 4];

/// How the rows of a piece of code run its copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// Once, in a straight line.
    Straight,
    /// Again and again, in blocks of up to 128 copies.
    Blocks,
    /// Again and again, in blocks of one or two copies.
    ShortBlocks,
}

/// The result of a pilot run for one copy (of the body, or of init and body together).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// Approximate time of one copy.
    pub copy_ns: f64,
    /// Approximate code size of one copy.
    pub copy_bytes: f64,
    /// Quantum of the clock that will be used; 0 for a fine clock.
    pub quantum_ns: f64,
    /// Whether an assembler repeats the copies, and no compiler.
    pub assembled: bool,
}

/// Copies for a straight-line fit (Moreno and Fischmeister, section 4, with k spread so that the
/// line is long).
///
/// ```
/// use hairspring_core::design::{Pilot, line};
/// assert_eq!(line(Pilot { copy_ns: 0.27, copy_bytes: 5.0, quantum_ns: 10.0,
///     assembled: false }).last(), Some(&512));
/// assert_eq!(line(Pilot { copy_ns: 0.54, copy_bytes: 4.0, quantum_ns: 10.0,
///     assembled: false }).last(), Some(&256));
/// assert_eq!(line(Pilot { copy_ns: 0.27, copy_bytes: 15.0, quantum_ns: 10.0,
///     assembled: false }).last(), Some(&512));
/// assert_eq!(line(Pilot { copy_ns: 1e7, copy_bytes: 50.0, quantum_ns: 10.0, assembled: false }),
///     [1, 2, 3, 4]);
/// ```
pub fn line(pilot: Pilot) -> Vec<u32> {
    let (wanted_copies, allowed_copies) = longest(pilot);
    let longest = usual_length(wanted_copies, allowed_copies);
    let mut copies: Vec<u32> =
        SHARES.iter().map(|share| (share * f64::from(longest)).round().max(1.0) as u32).collect();
    if longest <= 10 {
        copies = (1..=longest).collect();
    }
    copies.dedup();
    copies
}

/// The kind of rows of each of these pieces of code, which a core may learn, by their straight
/// copies: the shorter the code, the more copies are in a block. Two that take about as long have
/// rows of the same kind, so that they stay comparable.
///
/// ```
/// use hairspring_core::design::{Pilot, RowKind::{Blocks, ShortBlocks, Straight}, row_kinds};
/// let pilot = |copy_ns: &f64| Pilot { copy_ns: *copy_ns, copy_bytes: 20.0, quantum_ns: 1.0,
///     assembled: false };
/// let kinds = |copies_ns: &[f64]| row_kinds(&copies_ns.iter().map(pilot).collect::<Vec<Pilot>>());
/// assert_eq!(kinds(&[3.0, 60.0, 110.0]), [Blocks, Blocks, ShortBlocks]);
/// assert_eq!(kinds(&[60.0, 600.0, 1_100.0]), [ShortBlocks, ShortBlocks, Straight]);
/// assert_eq!(row_kinds(&[Pilot { quantum_ns: 1_000.0, ..pilot(&60.0) }]), [Straight]);
/// ```
pub fn row_kinds(pilots: &[Pilot]) -> Vec<RowKind> {
    let is_any = |fits: fn(&Pilot, f64) -> bool| pilots.iter().any(|pilot| fits(pilot, 1.0));
    let (some_fit, some_fit_short) = (is_any(fits_blocks), is_any(fits_short_blocks));
    let kind = |pilot: &Pilot| {
        if some_fit && fits_blocks(pilot, ALSO_OF_THE_KIND) {
            RowKind::Blocks
        } else if some_fit_short && fits_short_blocks(pilot, ALSO_OF_THE_KIND) {
            RowKind::ShortBlocks
        } else {
            RowKind::Straight
        }
    };
    pilots.iter().map(kind).collect()
}

/// Whether code suits blocks, if it may take so many times as long as usual.
fn fits_blocks(pilot: &Pilot, times: f64) -> bool {
    pilot.copy_ns <= times * MOST_BLOCK_NS && pilot.copy_bytes <= MOST_COPY_BYTES
}

/// Whether code suits short blocks, if it may take so many times as long as usual. By a coarse
/// clock rows have to be longer.
pub fn fits_short_blocks(pilot: &Pilot, times: f64) -> bool {
    let is_coarse = window(*pilot) > TARGET_WINDOW_NS;
    let ns = LEAST_SHORT_BLOCK_NS..=times * MOST_SHORT_BLOCK_NS;
    !is_coarse && ns.contains(&pilot.copy_ns) && pilot.copy_bytes <= MOST_SHORT_COPY_BYTES
}

/// A row: its block of bodies and inits, and how often it runs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Bodies in the block.
    pub bodies: u32,
    /// Inits in the block.
    pub inits: u32,
    /// How often the row runs it.
    pub runs: u32,
}

/// Short blocks without an init, or with one before each body and further ones at the end, as in
/// [`pairs`].
///
/// ```
/// use hairspring_core::design::short_blocks;
/// assert_eq!((short_blocks(false).len(), short_blocks(true).len()), (6, 12));
/// ```
pub fn short_blocks(with_init: bool) -> Vec<Block> {
    let further: &[u32] = if with_init { &FURTHER_INITS_OF_FEW } else { &[0] };
    let blocks = FEW_COPIES
        .iter()
        .flat_map(|bodies| further.iter().map(move |further| (*bodies, bodies + further)));
    blocks
        .flat_map(|(bodies, inits)| RUNS_OF_SHORT_BLOCKS.map(|runs| Block { bodies, inits, runs }))
        .collect()
}

/// Short blocks with one or two inits before each body, as in [`rearranged`].
pub fn rearranged_short_blocks() -> Vec<Block> {
    let block = |bodies, each, runs| Block { bodies, inits: bodies * each, runs };
    let [fewest_runs, _, most_runs] = RUNS_OF_SHORT_BLOCKS;
    FEW_COPIES
        .iter()
        .flat_map(|bodies| {
            [1, 2].into_iter().flat_map(move |each| {
                [fewest_runs, most_runs].map(|runs| block(*bodies, each, runs))
            })
        })
        .collect()
}

/// Copies in the blocks of a straight-line fit, if each row runs a block so many times.
///
/// ```
/// use hairspring_core::design::{Pilot, blocks};
/// let pilot = Pilot { copy_ns: 0.27, copy_bytes: 4.0, quantum_ns: 10.0, assembled: false };
/// assert_eq!(blocks(pilot, 8), [32, 40, 48, 56, 64, 80, 96, 112, 128]);
/// assert_eq!(blocks(Pilot { copy_ns: 15.0, ..pilot }, 8), [4, 5, 6, 7, 8, 10, 12, 14, 16]);
/// ```
pub fn blocks(pilot: Pilot, runs: u32) -> Vec<u32> {
    let allowed_copies = (window(pilot) / (f64::from(runs) * pilot.copy_ns.max(0.01)))
        .min(BLOCK_BYTES / pilot.copy_bytes.max(1.0));
    let wanted_copies = allowed_copies.clamp(FEWEST_LONGEST_BLOCK, MOST_COPIES_OF_BLOCKS);
    let longest = usual_length(wanted_copies, allowed_copies.max(FEWEST_LONGEST_BLOCK));
    BLOCK_SHARES.map(|share| (share * f64::from(longest)) as u32).to_vec()
}

/// The wanted length of the longest row in nanoseconds.
fn window(pilot: Pilot) -> f64 {
    TARGET_WINDOW_NS.max(TARGET_QUANTA * pilot.quantum_ns).min(MOST_WINDOW_NS)
}

/// The wanted number of copies in the longest row, and the largest that is allowed.
fn longest(pilot: Pilot) -> (f64, f64) {
    let copy_ns = pilot.copy_ns.max(0.01);
    let window = window(pilot);
    let is_short = window > TARGET_WINDOW_NS || MOST_COPIES * copy_ns < SHORT_NS;
    let most_copies = match (pilot.assembled, is_short) {
        (true, _) => MOST_ASSEMBLED_COPIES,
        (false, true) => (COMPILED_BYTES / pilot.copy_bytes.max(1.0))
            .clamp(MOST_COPIES_OF_SHORT_ROWS, MOST_ASSEMBLED_COPIES),
        (false, false) => MOST_COPIES,
    };
    let wanted_copies = (window / copy_ns).clamp(8.0, most_copies);
    let allowed_copies =
        (MOST_WINDOW_NS / copy_ns).min(MOST_CODE_BYTES / pilot.copy_bytes.max(1.0));
    (wanted_copies.min(allowed_copies), allowed_copies)
}

/// The number of copies in the longest row of a design with several components. It is not rounded
/// to a power of two: the rows would be up to a third shorter, which made the init of a short sort
/// uncertain by 23 % instead of 5 %.
fn longest_of_pairs(pilot: Pilot) -> u32 {
    longest(pilot).0.max(FEWEST_ROWS as f64) as u32
}

/// The largest number of bodies in the designs of bodies and inits. A pair counts as one copy;
/// there are up to as many further inits.
fn longest_with_inits(pilot: Pilot) -> u32 {
    longest_of_pairs(Pilot {
        copy_ns: pilot.copy_ns * 1.5,
        copy_bytes: pilot.copy_bytes * 1.5,
        ..pilot
    })
    .min(48)
}

/// The power of two that is closest to a length, and allowed. Two pilots of the same code differ,
/// not least because the core clock does. Code whose rows are off the line has another time by
/// another design, so a design that follows its pilot closely makes runs differ.
fn usual_length(wanted_copies: f64, allowed_copies: f64) -> u32 {
    let closest = exp2(log2(wanted_copies).round());
    let usual = if closest <= allowed_copies { closest } else { closest / 2.0 };
    usual.max(FEWEST_ROWS as f64) as u32
}

/// Indices of the rows that are long enough for a straight line: those with at least 1/`share` of
/// the most bodies.
///
/// ```
/// use hairspring_core::design::{SHORTEST_SHARE, straight};
/// assert_eq!(straight(&[1, 4, 8, 16, 32], SHORTEST_SHARE), [1, 2, 3, 4]);
/// ```
pub fn straight(bodies: &[u32], share: u32) -> Vec<usize> {
    let most = bodies.iter().copied().max().unwrap_or(0);
    (0..bodies.len()).filter(|at| bodies[*at].saturating_mul(share) >= most).collect()
}

/// Bodies and inits for a body that needs an initialisation before every run: rows (N, M) with M >=
/// N (Moreno and Fischmeister, equations 6 to 8). `pilot` is of one init with its body.
///
/// ```
/// let rows = hairspring_core::design::pairs(hairspring_core::design::Pilot { copy_ns: 40.0,
///     copy_bytes: 150.0, quantum_ns: 10.0, assembled: false });
/// assert!(rows.iter().all(|(n, m)| m >= n));
/// ```
pub fn pairs(pilot: Pilot) -> Vec<(u32, u32)> {
    let longest = longest_with_inits(pilot);
    let part = |share: f64| (share * f64::from(longest)).round().max(1.0) as u32;
    let mut rows: Vec<(u32, u32)> = Vec::new();
    for bodies in [part(0.125), part(0.25), part(0.5), part(0.75), part(1.0)] {
        for extra in [0, part(0.25), part(0.5), part(1.0)] {
            if bodies + extra <= longest + part(0.5) {
                rows.push((bodies, bodies + extra));
            }
        }
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Rows (N, M) with M a multiple of N, for another arrangement of the bodies and inits of
/// [`pairs`]. They check that body and init add up.
pub fn rearranged(pilot: Pilot) -> Vec<(u32, u32)> {
    let unit = (longest_with_inits(pilot) / 5).max(1);
    [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8)].map(|(n, m)| (n * unit, m * unit)).to_vec()
}

/// Rows whose first init follows a body, and as many whose first init follows an init: enough that
/// their spread shows the error of the difference.
pub const ROWS_BEHIND: usize = 4;

/// Numbers of bodies, each with one init, of rows that show whether an init takes longer behind a
/// body than behind an init: the fewest of [`pairs`], where one init is the largest part.
///
/// ```
/// let pilot = hairspring_core::design::Pilot { copy_ns: 40.0, copy_bytes: 150.0, quantum_ns: 10.0,
///     assembled: false };
/// assert_eq!(hairspring_core::design::behind(pilot).len(), 4);
/// ```
pub fn behind(pilot: Pilot) -> Vec<u32> {
    let mut bodies: Vec<u32> =
        pairs(pilot).into_iter().filter(|(n, m)| n == m).map(|(n, _)| n).collect();
    bodies.truncate(ROWS_BEHIND);
    bodies
}

/// Rows for a body whose data are flushed from the caches first. There is at most one flush more
/// than bodies, because flushing data that no body has fetched again takes less time.
pub fn cold(pilot: Pilot) -> Vec<(u32, u32)> {
    let longest = longest_of_pairs(pilot).min(12);
    (0..=longest)
        .flat_map(|bodies| [(bodies, bodies), (bodies, bodies + 1)])
        .filter(|row| *row != (0, 0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pilots_that_differ_a_little_give_the_same_design() {
        let design =
            |copy_ns| line(Pilot { copy_ns, copy_bytes: 60.0, quantum_ns: 1.0, assembled: false });
        for copy_ns in [0.3, 3.9, 26.0, 46.0, 105.0, 1_500.0] {
            assert!(
                [0.9, 1.1].iter().all(|factor| design(factor * copy_ns) == design(copy_ns)),
                "{copy_ns}"
            );
        }
        assert_eq!(design(46.0), [4, 6, 8, 12, 16, 20, 24, 28, 32]);
    }

    #[test]
    fn short_blocks_are_rows_of_their_own_and_have_full_rank() {
        for (blocks, with_init) in [
            (short_blocks(false), false),
            (short_blocks(true), true),
            (rearranged_short_blocks(), true),
        ] {
            let counts = |block: &Block| {
                (block.bodies * block.runs, if with_init { block.inits * block.runs } else { 0 })
            };
            let distinct_counts: std::collections::BTreeSet<(u32, u32)> =
                blocks.iter().map(counts).collect();
            assert_eq!(distinct_counts.len(), blocks.len());
            let design: Vec<Vec<f64>> = distinct_counts
                .iter()
                .map(|(n, m)| vec![f64::from(*n), f64::from(*m), 1.0])
                .collect();
            assert_eq!(
                crate::estimate::exact_rank(&design).pivots.len(),
                if with_init { 3 } else { 2 }
            );
            let bodies: Vec<u32> = distinct_counts.iter().map(|(n, _)| *n).collect();
            assert_eq!(straight(&bodies, SHORTEST_CHECK_SHARE).len(), bodies.len());
        }
    }

    #[test]
    fn rows_do_not_become_longer_than_allowed() {
        for (copy_ns, copy_bytes) in
            [(0.3, 100.0), (9_000.0, 10.0), (16_000.0, 10.0), (40.0, 2_000.0), (0.3, 9_000.0)]
        {
            let copies = line(Pilot { copy_ns, copy_bytes, quantum_ns: 1.0, assembled: false });
            let longest = copies[copies.len() - 1];
            let fits = f64::from(longest) * copy_ns <= MOST_WINDOW_NS
                && f64::from(longest) * copy_bytes <= MOST_CODE_BYTES;
            assert!(fits || longest == FEWEST_ROWS as u32, "{longest} copies of {copy_ns} ns");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_design_has_spare_rows_and_full_rank(copy_ns in 0.001f64..1e9,
            copy_bytes in 0.0f64..1e5, quantum_ns in 0.0f64..1e7, assembled: bool) {
            let pilot = Pilot { copy_ns, copy_bytes, quantum_ns, assembled };
            let copies = line(pilot);
            proptest::prop_assert!(copies.len() >= 4 && copies.is_sorted());
            let most = if assembled || quantum_ns > 0.0 || copy_ns < 0.4 { 6_000 } else { 2_000 };
            proptest::prop_assert!(copies.iter().sum::<u32>() < most);
            let (shortest, longest) = (copies[0], copies[copies.len() - 1]);
            proptest::prop_assert!(longest <= 10 || (shortest + 1) * SHORTEST_SHARE > longest);
            let checks: Vec<u32> = rearranged(pilot).iter().map(|(bodies, _)| *bodies).collect();
            proptest::prop_assert_eq!(straight(&checks, SHORTEST_CHECK_SHARE).len(), checks.len());
            for rows in [pairs(pilot), cold(pilot), rearranged(pilot)] {
                proptest::prop_assert!(rows.iter().all(|(n, m)| m >= n));
                let design: Vec<Vec<f64>> = rows.iter().map(|(n, m)| vec![f64::from(*n),
                    f64::from(*m), 1.0]).collect();
                proptest::prop_assert_eq!(crate::estimate::exact_rank(&design).pivots.len(), 3);
                proptest::prop_assert!(rows.len() >= 5);
            }
        }
    }
}
