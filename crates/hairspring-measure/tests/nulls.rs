//! Two alternatives of equal code through the real loop with its assessments: how often one of the
//! looks claims a difference.
//!
//! `bench/run nulls` runs the 10,000:
//! `cargo test --release -p hairspring-measure --test nulls -- --ignored --nocapture`.

use hairspring_core::judge::{Assessment, Looks, Verdict, verdict};
use hairspring_host::clock::fake;
use hairspring_measure::batches::InProcess;
use hairspring_measure::rounds::Rig;
use hairspring_measure::{Goal, Table, until_precise};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::thread;
use std::time::Duration;

/// Copies of the rows of each alternative.
const COPIES: [u32; 3] = [8, 16, 32];
/// Nanoseconds of a copy. The loop has its fewest rounds at the first look, and 30 times as many at
/// the last.
const COPY: f64 = 5_000.0;
/// Share of nulls for which a difference may be claimed.
const MOST_FALSE: f64 = 0.01;

/// How readings scatter, in standard deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Gaussian,
    /// An exponential distribution, as of waits.
    Skewed,
    /// A first-order process over the readings.
    Correlated,
}

/// The rows of both alternatives, with noise.
struct Equal {
    random: fastrand::Rng,
    noise: Noise,
    before: f64,
    is_warm_up: bool,
}

impl Equal {
    fn deviation(&mut self) -> f64 {
        let gaussian = (0..12).map(|_| self.random.f64()).sum::<f64>() - 6.0;
        match self.noise {
            Noise::Gaussian => gaussian,
            Noise::Skewed => -(1.0 - self.random.f64()).ln() - 1.0,
            Noise::Correlated => {
                self.before = 0.9 * self.before + (1.0 - 0.9_f64.powi(2)).sqrt() * gaussian;
                self.before
            }
        }
    }
}

impl Rig for Equal {
    fn rows(&self) -> usize {
        2 * COPIES.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        // Every row runs twice: the first time is not used.
        self.is_warm_up = !self.is_warm_up;
        if self.is_warm_up {
            return 0;
        }
        let time = 300_000.0
            + COPY * f64::from(COPIES[row % COPIES.len()])
            + 4.0 * COPY * self.deviation();
        let start = fake::read();
        fake::advance(time as u64);
        fake::read() - start
    }
}

/// What the looks of one null saw.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Seen {
    looks: u32,
    /// A look claims a difference: by the verdict that is told, and by one that is meant to be
    /// looked for once.
    claims: bool,
    claims_at_one: bool,
    ends_equal: bool,
}

fn null(noise: Noise, seed: u64) -> Seen {
    fake::set(fake::Settings { per_read: 0, ..fake::Settings::default() });
    let mut table = Table::new(vec!["body".into()]);
    ["code", "again"].iter().for_each(|name| {
        COPIES.iter().for_each(|copies| table.add_row(name, &[f64::from(*copies)]))
    });
    let rig =
        Equal { random: fastrand::Rng::with_seed(seed), noise, before: 0.0, is_warm_up: false };
    let mut rows = InProcess::new(rig, &fake::clock(64), 1, 1);
    // The clock is simulated, and nobody waits: an assessment takes no time of it.
    let goal = Goal {
        precision: 0.001,
        level: 0.95,
        budget: Duration::from_millis(1_600),
        is_firm: true,
        least_rounds: 1,
    };
    let mut outcome = Seen::default();
    let is_claim = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
    let mut look = |found: &Assessment| {
        let comparison = &found.comparisons[0];
        outcome.looks += 1;
        outcome.claims |= is_claim(comparison.verdict);
        outcome.claims_at_one |= is_claim(verdict(&comparison.ratio, Looks::One));
        outcome.ends_equal = comparison.verdict == Verdict::NoDifference;
    };
    let ended = until_precise(
        &goal,
        &mut table,
        &mut rows,
        &|| Duration::from_nanos(fake::read()),
        &mut look,
    );
    assert!(ended.is_ok(), "{ended:?}");
    outcome
}

/// The nulls of these seeds.
fn nulls(noise: Noise, count: u64) -> Vec<Seen> {
    let workers = thread::available_parallelism().map_or(1, usize::from) as u64;
    let share = |worker: u64| {
        (worker..count).step_by(workers as usize).map(|seed| null(noise, seed)).collect::<Vec<_>>()
    };
    let share = &share;
    thread::scope(|scope| {
        let started: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        started.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Runs nulls, tells how many claimed a difference, and returns that number with the one of
/// verdicts for one look.
fn claims(noise: Noise, count: u64) -> (u64, u64) {
    let outcomes = nulls(noise, count);
    let of = |is: fn(&Seen) -> bool| outcomes.iter().filter(|one| is(one)).count() as u64;
    let (claims, at_one) = (of(|one| one.claims), of(|one| one.claims_at_one));
    let looks = outcomes.iter().map(|one| f64::from(one.looks)).sum::<f64>() / count as f64;
    let share = |some: u64| 100.0 * some as f64 / count as f64;
    println!(
        "{noise:?}: {count} nulls, {looks:.1} looks each: a difference is claimed in {:.2} % \
         ({claims}); by the verdict for one look in {:.2} % ({at_one}); no difference at the end \
         in {:.1} %",
        share(claims),
        share(at_one),
        share(of(|one| one.ends_equal))
    );
    (claims, at_one)
}

/// More claims than this among so many nulls are a thousandth of the chances, if the share is
/// [`MOST_FALSE`].
fn most_of(count: u64) -> u64 {
    Binomial::new(MOST_FALSE, count).unwrap().inverse_cdf(0.999)
}

#[test]
fn a_look_claims_a_difference_of_equal_code_in_one_percent_at_most() {
    let count = 600;
    let (claims, at_one) = claims(Noise::Gaussian, count);
    assert!(claims <= most_of(count), "{claims} of {count}");
    assert!(
        at_one > most_of(count),
        "the nulls are too easy: a verdict for one look claims {at_one} of {count}"
    );
}

#[test]
#[ignore = "takes minutes: bench/run nulls"]
fn ten_thousand_nulls() {
    let count = 10_000;
    let claims_by_noise = [Noise::Gaussian, Noise::Skewed, Noise::Correlated]
        .map(|noise| (noise, claims(noise, count).0));
    let wrong: Vec<_> =
        claims_by_noise.into_iter().filter(|(_, claims)| *claims > count / 100).collect();
    assert!(wrong.is_empty(), "more than 1 % of {count} claim a difference: {wrong:?}");
}
