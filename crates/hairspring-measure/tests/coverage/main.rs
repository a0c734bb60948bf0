//! How often intervals hold, on simulated cores and made-up readings: for every noise and every
//! estimator, the share of trusted results, the share of their intervals that contain the truth,
//! and how wide these are. Fixed seeds make the test deterministic.
//!
//! The table of the book is made from the same counts:
//! `UPDATE_EXPECT=1 cargo test -p hairspring-measure --test coverage`.

mod lines;
mod shared_core;
mod tally;

use hairspring_core::estimate::ratio::apart;
use hairspring_host::clock::fake::{CoRunner, SimulatedCore};
use lines::{Noise, Totals};
use shared_core::{LONG_ROUNDS, Plan, normal, skewed};
use std::path::Path;
use std::thread;
use tally::{Claim, Found, Tally};

/// Runs with the same noise, and what is claimed of their intervals.
struct Group {
    noise: &'static str,
    runs: u64,
    run: Box<dyn Fn(u64) -> Vec<Found> + Sync>,
    claims: Vec<Claim>,
}

/// Name of the estimator that compares the core cycles of two separate runs.
const COMPARE: &str = "compare";

fn made_up(noise: &'static str, kind: Noise, quantum: f64, claims: Vec<Claim>) -> Group {
    Group { noise, runs: 1_000, run: Box::new(move |seed| lines::run(kind, quantum, seed)), claims }
}

fn unrepeated(noise: &'static str, kind: Totals) -> Group {
    Group {
        noise,
        runs: 1_000,
        run: Box::new(move |seed| lines::run_unrepeated(kind, seed)),
        claims: vec![Claim::exact("fit")],
    }
}

fn on_core(noise: &'static str, runs: u64, plan: Plan, claims: Vec<Claim>) -> Group {
    Group { noise, runs, run: Box::new(move |seed| plan.run(seed)), claims }
}

/// All runs of a group, in the order of the seeds.
fn results(group: &Group) -> Vec<Vec<Found>> {
    let workers = thread::available_parallelism().map_or(1, usize::from) as u64;
    let share = |worker: u64| {
        (worker..group.runs)
            .step_by(workers as usize)
            .map(|seed| (group.run)(seed))
            .collect::<Vec<_>>()
    };
    let share = &share;
    let mut shares: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        started.into_iter().map(|thread| thread.join().unwrap().into_iter()).collect()
    });
    (0..group.runs).filter_map(|seed| shares[(seed % workers) as usize].next()).collect()
}

/// Ratios of the core cycles of every two runs, as `compare` forms them from two saved results.
fn compared(runs: &[Vec<Found>]) -> Vec<Found> {
    let cycles = |run: &Vec<Found>| run.iter().find(|found| found.estimator == "cycles").copied();
    let pair = |pair: &[Vec<Found>]| {
        let both_cycles = cycles(&pair[0]).zip(cycles(&pair[1]));
        let estimate = both_cycles.as_ref().and_then(|(a, b)| apart(&a.estimate?, &b.estimate?));
        let is_trusted = both_cycles.is_some_and(|(a, b)| a.is_trusted && b.is_trusted);
        Found { estimator: COMPARE, truth: 1.0, estimate, is_trusted }
    };
    runs.chunks_exact(2).map(pair).collect()
}

/// The lines of the table for a group, and what contradicts its claims.
fn lines_of(group: &Group) -> (String, Vec<String>) {
    let runs = results(group);
    let pairs = compared(&runs);
    let (mut lines, mut wrong) = (String::new(), Vec::new());
    for claim in &group.claims {
        let all_results = if claim.estimator == COMPARE {
            pairs.iter().collect()
        } else {
            runs.iter().flatten().collect::<Vec<_>>()
        };
        let tally =
            Tally::new(all_results.into_iter().filter(|found| found.estimator == claim.estimator));
        let line = format!("| {} | {} | {} |\n", group.noise, claim.estimator, tally.cells());
        print!("{line}");
        wrong.extend(
            tally
                .contradictions(claim)
                .into_iter()
                .map(|why| format!("{}, {}: {why}", group.noise, claim.estimator)),
        );
        lines += &line;
    }
    (lines, wrong)
}

/// The claims of the line fit and of the methods beside it.
fn all_methods() -> Vec<Claim> {
    ["line fit", "ratio", "differential", "direct", "through-origin"].map(Claim::exact).into()
}

/// As [`all_methods`]. Rows of exact pulses scatter less than two roundings at even phases, which
/// the line fit takes for the least.
fn of_exact_pulses() -> Vec<Claim> {
    let wider = |claim: Claim| {
        if ["line fit", "ratio"].contains(&claim.estimator) {
            Claim::wide(claim.estimator, 1.3)
        } else {
            claim
        }
    };
    all_methods().into_iter().map(wider).collect()
}

fn all_of_a_core() -> Vec<Claim> {
    // Intervals have bounds for what rows do not show, and those of two runs are combined by their
    // worst ends.
    vec![
        Claim::wide("cycles", 2.0),
        Claim::wide("nanoseconds", 2.3),
        Claim::wide("ratio", 1.8),
        Claim::wide(COMPARE, 3.2),
    ]
}

/// As [`all_of_a_core`], where a run ends before the core clock had each of its levels often:
/// earlier runs show how it moves.
fn of_stepping_clock() -> Vec<Claim> {
    let [cycles, nanoseconds, ratio, compare] = all_of_a_core()[..] else { return Vec::new() };
    vec![cycles, Claim { widest: f64::INFINITY, ..nanoseconds }, ratio, compare]
}

/// As [`all_of_a_core`], where some intervals are too wide to be trusted.
fn at_times_too_wide() -> Vec<Claim> {
    all_of_a_core().into_iter().map(|claim| claim.trusted(0.8, 1.0)).collect()
}

/// Bounds for what is not known of pauses are wider than the errors need.
fn beside_pauses() -> Vec<Claim> {
    ["cycles", "nanoseconds", "ratio", COMPARE]
        .map(|estimator| Claim::wide(estimator, f64::INFINITY))
        .into()
}

fn beside_a_co_runner() -> Vec<Claim> {
    vec![Claim::wide("cycles", 2.6), Claim::wide("ratio", 1.8)]
}

/// A core that is measured for long.
fn long(core: SimulatedCore) -> Plan {
    Plan { rounds: LONG_ROUNDS, ..Plan::on(core) }
}

/// Made-up readings.
fn made_up_readings() -> Vec<Group> {
    vec![
        made_up("exact pulses, quantum 26", Noise::Exact, 26.0, of_exact_pulses()),
        made_up("gaussian, quantum 26", Noise::Gaussian, 26.0, all_methods()),
        made_up("heavy tails", Noise::HeavyTails, 2.0, all_methods()),
        made_up("bursts in 5 %", Noise::Bursts, 2.0, all_methods()),
        made_up("frequency steps", Noise::Steps, 2.0, all_methods()),
        unrepeated("no repeats, even noise", Totals::Even),
        unrepeated("no repeats, noise grows with size", Totals::GrowsWithSize),
        unrepeated("no repeats, spikes", Totals::Spikes),
    ]
}

/// Cores whose clock is fine.
fn cores() -> Vec<Group> {
    vec![
        on_core("calm core", 80, Plan::on(SimulatedCore::CALM), all_of_a_core()),
        on_core(
            "two levels, 30 ms",
            80,
            Plan::on(SimulatedCore::LEVELS).after_others(),
            of_stepping_clock(),
        ),
        on_core(
            "three levels, 8 ms",
            80,
            Plan::on(SimulatedCore::FAR_LEVELS).after_others(),
            of_stepping_clock(),
        ),
        on_core("interrupts", 200, Plan::on(SimulatedCore::INTERRUPTS), all_of_a_core()),
        on_core(
            "pauses, rows of 7 to 52 us",
            80,
            Plan { body: 256.0, ..Plan::on(SimulatedCore::PAUSES) },
            beside_pauses(),
        ),
        on_core(
            "pauses, rows of 38 to 307 us",
            80,
            Plan { body: 1_500.0, ..Plan::on(SimulatedCore::PAUSES) },
            beside_pauses(),
        ),
        on_core("bursts of a co-runner", 80, Plan::on(SimulatedCore::BURSTS), all_of_a_core()),
    ]
}

/// Cores beside a co-runner, whose clock is fine.
fn cores_beside_others() -> Vec<Group> {
    // A co-runner slows code that keeps many units busy by half or more, and chains as always.
    let throughput = |idle: f64| {
        let co_runner = CoRunner {
            idle,
            busy: 4_200.0,
            strength: (1.0, 0.3),
            ..SimulatedCore::STALLS.co_runner
        };
        Plan {
            slower: 0.6,
            of_chains: 0.05,
            fills: true,
            ..Plan::on(SimulatedCore { co_runner, ..SimulatedCore::LEVELS })
        }
    };
    vec![
        on_core("co-runner that stalls", 40, long(SimulatedCore::STALLS), beside_a_co_runner()),
        on_core("co-runner in episodes", 40, long(SimulatedCore::EPISODES), beside_a_co_runner()),
        on_core("thin co-runner", 40, long(SimulatedCore::THIN), vec![Claim::wide("cycles", 2.6)]),
        on_core(
            "co-runner that guards do not show",
            200,
            Plan::on(SimulatedCore::UNSEEN),
            vec![Claim::wide("cycles", 2.0)],
        ),
        on_core(
            "co-runner that never stalls",
            40,
            Plan::on(SimulatedCore::NEVER_QUIET),
            vec![Claim::wide("cycles", 2.0)],
        ),
        on_core(
            "throughput, quiet in 30 %",
            40,
            throughput(1_800.0),
            vec![Claim::wide("cycles", 4.5)],
        ),
        on_core("throughput, quiet in 5 %", 40, throughput(300.0), vec![Claim::doubted("cycles")]),
    ]
}

/// Coarse clocks.
fn coarse_clocks() -> Vec<Group> {
    let coarse = |quantum_ns: u64, longer: f64| Plan {
        longer,
        ..Plan::on(SimulatedCore::coarse(quantum_ns))
    };
    vec![
        on_core(
            "coarse read of 26 ticks",
            80,
            Plan::on(SimulatedCore::COARSE_READ),
            all_of_a_core(),
        ),
        on_core(
            "coarse read, co-runner in episodes",
            40,
            long(SimulatedCore::COARSE_READ.beside(SimulatedCore::LONG_EPISODES)),
            beside_a_co_runner(),
        ),
        on_core(
            "coarse read, co-runner that stalls",
            80,
            Plan::on(SimulatedCore::COARSE_READ.beside(SimulatedCore::STALLS)),
            vec![Claim::wide("cycles", 3.0)],
        ),
        on_core("clock of 40 ns", 80, coarse(40, 1.0), all_of_a_core()),
        on_core("clock of 1 us", 80, coarse(1_000, 16.0), at_times_too_wide()),
    ]
}

/// Rows, placements or evaluations that differ.
fn uneven_cores() -> Vec<Group> {
    vec![
        on_core(
            "two rows one latency off",
            80,
            Plan { offset: 1.0, ..Plan::on(SimulatedCore::CALM) },
            vec![Claim::wide("cycles", 2.2)],
        ),
        on_core(
            "rows off by 0.3 % of their length",
            200,
            Plan { uneven: 0.003, ..Plan::on(SimulatedCore::CALM) },
            vec![Claim::wide("cycles", 2.2)],
        ),
        on_core(
            "placements differ by 0.3 %",
            80,
            Plan {
                placements: (6, |random| normal(random, 0.003)),
                ..Plan::on(SimulatedCore::CALM)
            },
            vec![Claim::wide("cycles", 1.8)],
        ),
        on_core(
            "one evaluation in 1,000 takes 3,000 cycles",
            200,
            Plan { slow: (1_000.0, 3_000.0), ..Plan::on(SimulatedCore::INTERRUPTS) },
            all_of_a_core(),
        ),
        on_core(
            "20 placements, skewed",
            400,
            Plan { placements: (20, skewed), ..Plan::on(SimulatedCore::CALM) },
            vec![Claim::wide("cycles", 1.8)],
        ),
    ]
}

fn groups() -> Vec<Group> {
    [made_up_readings(), cores(), cores_beside_others(), coarse_clocks(), uneven_cores()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn intervals_hold_as_often_as_claimed() {
    // For a quick look, without the table: only groups whose noise contains this text, and so many
    // runs of each.
    let only = std::env::var("COVERAGE_OF").ok();
    let runs: Option<u64> = std::env::var("COVERAGE_RUNS").ok().and_then(|runs| runs.parse().ok());
    let mut all_groups = groups();
    all_groups.iter_mut().for_each(|group| group.runs = runs.unwrap_or(group.runs));
    let chosen = all_groups
        .iter()
        .filter(|group| only.as_ref().is_none_or(|only| group.noise.contains(only)));
    let (lines, wrong): (Vec<String>, Vec<Vec<String>>) = chosen.map(lines_of).unzip();
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if only.is_none() && runs.is_none() {
        assert_table(&lines.concat());
    }
}

/// The table in the book. `UPDATE_EXPECT=1` writes it anew.
fn assert_table(lines: &str) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coverage.md"));
    let text = std::fs::read_to_string(path).unwrap();
    let columns = "| noise | estimator | runs | trusted | held | half-width | too wide by | bias \
                   |\n|---|---|---|---|---|---|---|---|\n";
    let (before, rest) = text.split_once(columns).expect("docs/coverage.md has a table of counts");
    let after: String =
        rest.split_inclusive('\n').skip_while(|line| line.starts_with('|')).collect();
    expect_test::expect_file![path].assert_eq(&format!("{before}{columns}{lines}{after}"));
}
