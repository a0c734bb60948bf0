//! The CPU for a measurement: the last one, or another one if somebody else uses its core all the
//! time.

use crate::sampling::Sampling;
use hairspring_core::observations::Observations;
use hairspring_host::chains::{ChainRole, chains};
use hairspring_host::clock::Clock;
use hairspring_host::seat::Seat;
use hairspring_host::thread::{PreparedThread, allowed_cpus, prepare_thread};
use std::time::Duration;

/// Time for which each CPU is looked at.
const TIME: Duration = Duration::from_millis(3);
/// With this share of undisturbed reads of the clock, a measurement gets by, and no other CPU is
/// looked at.
const ENOUGH_SHARE: f64 = 0.2;
/// Most CPUs that are looked at.
const MOST_CPUS: usize = 8;
/// Guards are about as long as the shortest, those of one reading in so many, up to this factor: a
/// co-runner lengthens a read of the clock by a third.
const SHORT_FACTOR: f64 = 1.15;
const SHORTEST_PART: usize = 20;
/// Fewest reads that show a share.
const FEWEST_READS: usize = 100;

/// Prepares the calling thread as [`prepare_thread`] does, on the given CPU or, if none is given,
/// on one whose core is quiet now.
///
/// # Errors
/// Those of [`prepare_thread`], and those of [`Clock::ready`] on that CPU.
///
/// # Cost
/// 3 ms for each CPU that is looked at: only the last one unless something else uses its core, and
/// 8 at most.
pub fn prepare_thread_where_quiet(
    cpu: Option<usize>,
    clock: Clock,
) -> hairspring_host::error::Result<PreparedThread> {
    let thread = prepare_thread(cpu.or_else(|| quiet_cpu(clock)))?;
    clock.ready()?; // programs may be allowed to read it on some CPUs only
    Ok(thread)
}

/// The CPU to measure on: the last allowed one (the first serves most interrupts), unless the clock
/// reads show that its core is hardly ever undisturbed and that another one is. `None` if no CPU
/// may be chosen. The thread may run where it could before.
///
/// # Cost
/// That of [`prepare_thread_where_quiet`].
pub fn quiet_cpu(clock: Clock) -> Option<usize> {
    let mut cpus = allowed_cpus();
    let last = cpus.pop()?;
    if cpus.is_empty() {
        return Some(last);
    }
    let others = spread(&cpus, MOST_CPUS - 1).into_iter().map(|cpu| (cpu, undisturbed(cpu, clock)));
    Some(choose((last, undisturbed(last, clock)), others))
}

/// The first CPU if it has enough undisturbed reads or cannot be judged, else the one with the
/// most, if these are clearly more. Of equal ones the one that comes first.
fn choose(
    first: (usize, Option<f64>),
    other_cpus: impl Iterator<Item = (usize, Option<f64>)>,
) -> usize {
    let Some(share) = first.1.filter(|share| *share < ENOUGH_SHARE) else { return first.0 };
    let judged = other_cpus.filter_map(|(cpu, share)| Some((cpu, share?)));
    let clearly_more = judged.filter(|other| other.1 > ENOUGH_SHARE && other.1 > 2.0 * share);
    clearly_more
        .reduce(|best, other| if other.1 > best.1 { other } else { best })
        .map_or(first.0, |best| best.0)
}

/// At most so many of the CPUs, spread evenly, the last first.
fn spread(cpus: &[usize], most_cpus: usize) -> Vec<usize> {
    cpus.iter().rev().copied().step_by(cpus.len().div_ceil(most_cpus).max(1)).collect()
}

/// Share of the clock reads on a CPU during which nobody else used its core; `None` if the CPU
/// cannot be used, or its clock is too coarse to show it.
fn undisturbed(cpu: usize, clock: Clock) -> Option<f64> {
    let all_chains = chains();
    let chain = all_chains.iter().find(|chain| chain.role == ChainRole::Simple)?;
    let _seat = Seat::take(Some(cpu)).ok()?;
    clock.ready().ok()?;
    share_undisturbed(&Sampling::new(clock).with_chain(chain).run(TIME, 0))
}

/// Share of the readings whose guards are about as long as the shortest ones, in times of the chain
/// between them: a step of the core clock lengthens both alike. `None` if the quantum of the clock
/// is too large, or there are too few readings.
fn share_undisturbed(table: &Observations) -> Option<f64> {
    let ratio = |reading: &hairspring_core::observations::Reading| {
        let (guard, counts) =
            (f64::from(reading.guard?.get()), &table.rows()[reading.row as usize].counts);
        Some((guard, guard * counts.iter().sum::<f64>() / reading.ticks))
    };
    let guards: Vec<(f64, f64)> = table.readings().iter().filter_map(ratio).collect();
    let mut ratios: Vec<f64> =
        guards.iter().map(|guard| guard.1).filter(|ratio| ratio.is_finite()).collect();
    ratios.sort_by(f64::total_cmp);
    let shortest = *ratios.get(FEWEST_READS.max(ratios.len()) / SHORTEST_PART)?;
    let mean = guards.iter().map(|guard| guard.0).sum::<f64>() / guards.len() as f64;
    let is_fine = table.origin.quantum() < (SHORT_FACTOR - 1.0) * mean;
    (is_fine && ratios.len() >= FEWEST_READS).then(|| {
        ratios.partition_point(|ratio| *ratio <= SHORT_FACTOR * shortest) as f64
            / ratios.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_cpu_is_chosen_only_where_the_first_is_disturbed_and_it_is_not() {
        let chosen = |first: f64, other_shares: &[f64]| {
            choose((9, Some(first)), other_shares.iter().copied().map(Some).enumerate())
        };
        assert_eq!(chosen(0.8, &[1.0]), 9, "the first is good enough");
        assert_eq!(chosen(0.05, &[0.1, 0.7, 0.5]), 1);
        assert_eq!(chosen(0.05, &[0.08, 0.19]), 9, "no other is much better");
        assert_eq!(chosen(0.15, &[0.25]), 9, "a little better is the chance of 3 ms");
        assert_eq!(chosen(0.05, &[0.9, 0.9]), 0, "of equal ones the first that was looked at");
        assert_eq!(chosen(0.0, &[]), 9);
        assert_eq!(
            choose((9, Some(0.0)), [(1, None), (2, Some(0.6))].into_iter()),
            2,
            "what cannot be judged is not chosen"
        );
        assert_eq!(choose((9, None), [(1, Some(1.0))].into_iter()), 9);
    }

    #[test]
    fn no_other_cpu_is_looked_at_without_need() {
        let others = std::iter::once_with(|| panic!("it was looked at"));
        assert_eq!(choose((3, Some(0.5)), others), 3);
    }

    #[test]
    fn few_of_many_cpus_are_looked_at() {
        assert_eq!(spread(&[0], 7), [0]);
        assert_eq!(spread(&(0..7).collect::<Vec<_>>(), 7), [6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(spread(&(0..128).collect::<Vec<_>>(), 7).len(), 7);
    }

    #[test]
    fn looking_leaves_the_thread_where_it_was() {
        let before = allowed_cpus();
        let cpu = quiet_cpu(hairspring_host::clock::default_clock()).unwrap();
        assert!(before.contains(&cpu) && allowed_cpus() == before);
    }
}
