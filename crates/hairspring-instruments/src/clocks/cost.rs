//! The cost of a read of a clock, by a line fit: straight-line reads of it between two reads of the
//! best clock.

use hairspring_core::estimate::Options;
use hairspring_core::judge::{Question, SeriesResult, assess};
use hairspring_core::observations::Observations;
use hairspring_host::chains::{ReadsFn, reads};
use hairspring_host::clock::{Clock, ReadFn};
use hairspring_measure::Table;
use hairspring_measure::rounds::Rig;
use hairspring_measure::sampling::sample;
use std::time::Duration;

/// The rows of reads.
struct Reads {
    outer: ReadFn,
    inner: ReadFn,
    rows: Vec<(u32, ReadsFn)>,
}

impl Rig for Reads {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        (self.rows[row].1)(self.outer, self.inner)
    }
}

/// Cost of one read of `clock` in ticks and nanoseconds of `outer`, with its budget and findings;
/// the overhead is that of the two outer reads. The clocks must be ready.
///
/// # Errors
/// The line cannot be solved; the message says why.
pub fn read_cost(
    clock: &Clock,
    outer: Clock,
    time: Duration,
    level: f64,
) -> Result<SeriesResult, String> {
    let table = acquire(clock, outer, time);
    let question =
        Question { options: Options { level, ..Options::default() }, ..Question::default() };
    let assessment = assess(&table, &question).map_err(|e| e.to_string())?;
    assessment.series.into_iter().next().ok_or_else(|| "nothing was read".to_owned())
}

fn acquire(clock: &Clock, outer: Clock, time: Duration) -> Observations {
    let rig = Reads { outer: outer.read, inner: clock.read, rows: reads() };
    let mut table = Table::new(vec!["read".into()]);
    rig.rows.iter().for_each(|(copies, _)| table.add_row(clock.name, &[f64::from(*copies)]));
    sample(table, rig, outer, time, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;

    #[test]
    fn the_cost_of_a_read_is_the_slope_and_free_of_the_outer_reads() {
        for quantum in [1, 26] {
            fake::set(fake::Settings { quantum, per_read: 37, ..fake::Settings::default() });
            let clock = fake::clock(64);
            let cost = read_cost(&clock, clock, Duration::from_millis(1), 0.95).unwrap();
            let ns = cost.components[0].time.ns.as_ref().unwrap().estimate(0.95);
            // The number of rounds depends on the machine's load. One interval in twenty may miss
            // the value, by a little.
            let off = (ns.value - 37.0).abs();
            assert!(
                off < 0.2 && off < 3.0 * ns.half_width().max(0.01),
                "quantum {quantum}: {ns:?}"
            );
        }
    }

    #[test]
    fn a_counter_that_wraps_gives_the_same_cost() {
        fake::set(fake::Settings { per_read: 37, bits: 16, ..fake::Settings::default() });
        let clock = fake::clock(16);
        let cost = read_cost(&clock, clock, Duration::from_millis(1), 0.95).unwrap();
        let ns = cost.components[0].time.ns.as_ref().unwrap();
        assert!((ns.value - 37.0).abs() < 1e-6, "{ns:?}");
    }
}
