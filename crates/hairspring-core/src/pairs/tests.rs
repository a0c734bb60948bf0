use super::*;
use laws::{heaviest, heavy, normal, skewed, spiky, two_layouts};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Laws of the noise of a single time, as its logarithm; all from uniform numbers.
mod laws {
    use super::{Pcg64Mcg, Rng};

    /// A standard normal number.
    pub fn normal(random: &mut Pcg64Mcg) -> f64 {
        let (a, b): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// Student's number with three degrees of freedom.
    pub fn heavy(random: &mut Pcg64Mcg) -> f64 {
        let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
        normal(random) / (squares / 3.0).sqrt()
    }

    /// Cauchy's number: it has no mean.
    pub fn heaviest(random: &mut Pcg64Mcg) -> f64 {
        let a: f64 = random.random();
        (std::f64::consts::PI * (a - 0.5)).tan()
    }

    /// Normal noise, and in one of ten readings something else on the core.
    pub fn spiky(random: &mut Pcg64Mcg) -> f64 {
        let is_hit = random.random::<f64>() < 0.1;
        normal(random) + if is_hit { 40.0 * random.random::<f64>() } else { 0.0 }
    }

    /// Noise that only lengthens.
    pub fn skewed(random: &mut Pcg64Mcg) -> f64 {
        let a: f64 = random.random();
        -3.0 * (1.0 - a).ln()
    }

    /// One of two layouts, some standard deviations apart.
    pub fn two_layouts(random: &mut Pcg64Mcg) -> f64 {
        normal(random) + if random.random() { 10.0 } else { 0.0 }
    }
}

type Law = fn(&mut Pcg64Mcg) -> f64;

const LAWS: [(&str, Law); 6] = [
    ("normal", normal),
    ("heavy", heavy),
    ("heaviest", heaviest),
    ("spiky", spiky),
    ("skewed", skewed),
    ("two layouts", two_layouts),
];

const MOST_PAIRS: u32 = 100;

/// Times that spread by 0.3 % by this law; the spread of the pair is `by` times as large.
fn pair(law: Law, by: f64, change: f64, random: &mut Pcg64Mcg) -> Pair {
    let mut time = |factor: f64| factor * 100.0 * (0.003 * by * law(random)).exp();
    Pair { head: time(1.0 + change), base: time(1.0), again: time(1.0) }
}

/// The first number of pairs with this verdict, of a run that is looked at behind every pair.
fn first(
    verdict: impl Fn(&Compared) -> bool,
    mut next: impl FnMut(u32) -> Pair,
    most: u32,
) -> Option<u32> {
    let mut pairs = Pairs::default();
    (1..=most).find(|number| {
        pairs.push(&next(*number));
        verdict(&pairs.compared(level_of_each(1), WIDE_SHARE))
    })
}

fn claims(found: &Compared) -> bool {
    matches!(found.verdict, Verdict::Faster | Verdict::Slower)
}

/// How many of so many nulls are claimed to differ at any of 100 looks.
fn false_claims(law: Law, nulls: u64, spread: impl Fn(u32) -> f64) -> usize {
    let claimed = |seed: &u64| {
        let mut random = Pcg64Mcg::seed_from_u64(*seed);
        let next = |number| pair(law, spread(number), 0.0, &mut random);
        first(claims, next, MOST_PAIRS).is_some()
    };
    (0..nulls).filter(claimed).count()
}

#[test]
fn equal_builds_are_claimed_to_differ_in_one_of_a_hundred_at_all_looks_together() {
    // 10,000 nulls of normal noise, 2,000 of each other law; three standard deviations above 1 %
    // would be 130 and 33.
    let found = false_claims(normal, 10_000, |_| 1.0);
    assert!((10..=130).contains(&found), "{found} of 10000");
    for (name, law) in LAWS {
        let found = false_claims(law, 2_000, |_| 1.0);
        assert!(found <= 33, "{name}: {found} of 2000");
    }
}

#[test]
fn unequal_spreads_of_the_pairs_do_not_make_claims() {
    for (name, law) in LAWS {
        let bursts = false_claims(law, 2_000, |number| if number % 10 < 3 { 20.0 } else { 1.0 });
        let calmer = false_claims(law, 2_000, |number| 30.0 / f64::from(number));
        assert!(bursts <= 33 && calmer <= 33, "{name}: {bursts} and {calmer} of 2000");
    }
}

#[test]
fn a_build_that_spreads_more_than_the_other_is_not_claimed_to_be_slower() {
    let claimed = |seed: &u64| {
        let mut random = Pcg64Mcg::seed_from_u64(*seed);
        let next = |_| {
            let head = 100.0 * (0.03 * normal(&mut random)).exp();
            Pair { head, ..pair(normal, 1.0, 0.0, &mut random) }
        };
        first(claims, next, MOST_PAIRS).is_some()
    };
    let found = (0..2_000).filter(claimed).count();
    assert!(found <= 33, "{found}");
}

/// The number of pairs after which a change is claimed with its sign in nine of ten runs.
fn pairs_for_nine_of_ten(law: Law, change: f64) -> u32 {
    let sign = if change > 0.0 { Verdict::Slower } else { Verdict::Faster };
    let number = |seed| {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let next = |_| pair(law, 1.0, change, &mut random);
        first(|found| found.verdict == sign, next, 1_000).unwrap_or(u32::MAX)
    };
    let mut all: Vec<u32> = (0..500).map(number).collect();
    all.sort_unstable();
    all[450]
}

#[test]
fn one_percent_is_found_in_nine_of_ten_runs() {
    for change in [0.01, -0.01] {
        let (normal, heavy) =
            (pairs_for_nine_of_ten(normal, change), pairs_for_nine_of_ten(heavy, change));
        assert!(normal <= 10 && heavy <= 18, "{normal} and {heavy} pairs");
    }
}

#[test]
fn a_null_that_excludes_1_extends_the_ratio_and_takes_its_claim() {
    let mut pairs = Pairs::default();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for _ in 0..20 {
        // Each arm takes 1 % more than the one that is measured before it.
        let even = pair(normal, 0.1, 0.0, &mut random);
        pairs.push(&Pair { head: 1.015 * even.head, again: 1.01 * even.again, ..even });
    }
    let found = pairs.compared(0.99, 0.05);
    assert!(found.null.low > 1.0 && found.widened_by > 1.01, "{found:?}");
    assert_eq!(found.verdict, Verdict::NoDifference, "{found:?}");
    assert!(found.ratio.contains(1.01) && found.smallest_seen > 0.01, "{found:?}");
}

#[test]
fn few_pairs_decide_nothing() {
    let mut pairs = Pairs::default();
    for number in 0..fewest(0.99) {
        assert_eq!(pairs.compared(0.99, 1e9).verdict, Verdict::Undecided, "{number}");
        pairs.push(&Pair { head: 200.0, base: 100.0, again: 100.0 });
    }
    assert_eq!(pairs.compared(0.99, 0.05).verdict, Verdict::Slower);
    assert_eq!([1, 10, 1_000, 10_000].map(|number| fewest(level_of_each(number))), [4, 5, 7, 8]);
}

#[test]
fn numbers_that_are_no_times_make_no_pair() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Pair::of(bad, 1.0, 1.0), None);
        assert_eq!(Pair::of(1.0, 1.0, bad), None);
    }
    let mut pairs = Pairs::default();
    for _ in 0..10 {
        pairs.push(&Pair::of(1e300, 1e-300, 1e-300).unwrap());
    }
    assert_eq!(pairs.compared(0.99, 0.05).verdict, Verdict::Slower);
}
