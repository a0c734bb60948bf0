use super::*;
use crate::estimate::simulated::{CALM, Core};
use crate::judge::{Comparison, Progress, Time, assess, progress};
use crate::observations::Rate;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const ROUNDS: u32 = 48;

/// Rows of 1 to 8 copies of a body of 100 ticks, in placements in which the body differs by this standard deviation.
fn table(placements: u32, sd: f64, seed: u64) -> Observations {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    // A sum of 12 uniform numbers is nearly normal.
    let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    let mut table = Observations::new(vec!["body".into()]);
    let series = table.series("a");
    for placement in 0..placements {
        let body = 100.0 + sd * normal();
        for round in placement * ROUNDS..(placement + 1) * ROUNDS {
            for copies in 1..=8 {
                let row = table.row(series, &[f64::from(copies)]);
                table.push(row, round, body * f64::from(copies) + 40.0 + normal());
            }
        }
    }
    table.origin.placements = (1..placements).map(|placement| placement * ROUNDS).collect();
    table
}

fn body(table: &Observations) -> Time {
    assess(table, &Question::default()).unwrap().series[0].components[0].time.clone()
}

#[test]
fn placements_of_disturbed_readings_do_not_shift_the_value() {
    let whole = table(20, 0.3, 7);
    for taken in [1, 5, 6, 7, 9] {
        // A counter that something else took reads 0, and its readings are flagged.
        let mut lost = Observations::new(vec!["body".into()]);
        let series = lost.series("a");
        for reading in whole.readings() {
            let row = lost.row(series, &whole.rows()[reading.row as usize].counts);
            let is_taken = reading.round < taken * ROUNDS;
            let (ticks, flags) = if is_taken { (0.0, Flags::SWITCHED) } else { (reading.ticks, Flags::NONE) };
            lost.push_flagged(row, reading.round, ticks, flags);
        }
        lost.origin.placements.clone_from(&whole.origin.placements);
        let time = body(&lost);
        assert!((time.ticks.value - 100.0).abs() < 1.0 && time.ticks.high < 101.0, "{taken}: {:?}", time.ticks);
    }
}

#[test]
fn intervals_hold_the_mean_of_many_placements() {
    const RUNS: u32 = 300;
    let (mut covered, mut width) = (0, 0.0);
    for seed in 0..RUNS {
        let time = body(&table(6, 1.0, seed.into()));
        covered += u32::from(time.ticks.contains(100.0));
        width += time.ticks.half_width() / f64::from(RUNS);
    }
    assert!((92 * RUNS / 100..=98 * RUNS / 100).contains(&covered), "{covered} of {RUNS}");
    // The mean of six placements has a standard deviation of 0.41, and Student's quantile is 2.57.
    assert!((0.8..1.3).contains(&width), "{width}");
}

#[test]
fn differences_between_placements_have_their_entry_in_the_budget() {
    let sources = |sd| {
        let mut with_rate = table(6, sd, 3);
        with_rate.origin.unit = crate::observations::Unit::TimeNs;
        let budget = body(&with_rate).ns.unwrap().budget;
        budget.iter().filter(|entry| entry.half_width(0.95) > 0.1).map(|entry| entry.source).collect::<Vec<_>>()
    };
    assert_eq!(sources(2.0), [Source::Placement]);
    assert!(sources(0.0).is_empty());
}

#[test]
fn placements_that_agree_hardly_widen_the_interval() {
    let widths = |placements: bool| -> f64 {
        let one = |seed| {
            let mut table = table(6, 0.0, seed);
            if !placements {
                table.origin.placements.clear();
            }
            body(&table).ticks.half_width()
        };
        (0..20).map(one).sum()
    };
    let (with, without) = (widths(true), widths(false));
    assert!(with < 1.4 * without, "{with} and {without}");
}

/// Placements in which the body takes 100 ticks, but for those with another time.
fn with_others(placements: u32, others: &[(u32, f64)]) -> Observations {
    let table = table(placements, 0.0, 3);
    let spans = table.placements();
    table.with_times(|_, row, reading| {
        let placement = spans.iter().position(|span| span.contains(&reading.round)).unwrap() as u32;
        let further = others.iter().find(|(at, _)| *at == placement).map_or(0.0, |(_, further)| *further);
        reading.ticks + further * row.counts[0]
    })
}

fn kinds(found: &Assessment) -> Vec<&str> {
    found.series[0].findings.iter().map(|finding| &*finding.code).collect()
}

#[test]
fn a_time_that_is_nothing_has_no_placements_of_another_kind() {
    let nothing = |others: &[(u32, f64)]| {
        let usual = (0..20).filter(|at| others.iter().all(|(other, _)| other != at)).map(|at| (at, -100.0));
        assess(&with_others(20, &usual.chain(others.iter().copied()).collect::<Vec<_>>()), &Question::default()).unwrap()
    };
    for others in [[(4, 180.0), (11, 200.0)], [(4, -180.0), (11, 200.0)]] {
        let found = nothing(&others);
        assert!(!kinds(&found).contains(&"other_placements"), "{found:?}");
    }
}

#[test]
fn few_placements_of_another_kind_are_left_out_and_named() {
    let found = assess(&with_others(20, &[(4, 180.0), (11, 200.0)]), &Question::default()).unwrap();
    let time = found.series[0].components[0].time.ticks;
    assert!((time.value - 100.0).abs() < 1.0 && time.half_width() < 1.0, "{time:?}");
    let finding = found.series[0].findings.iter().find(|finding| finding.code == "other_placements").unwrap();
    assert!(finding.message.starts_with("in 2 of 20 placements body takes 2.8"), "{}", finding.message);
}

#[test]
fn many_placements_of_another_kind_and_close_ones_are_a_part_of_the_time() {
    let many: Vec<(u32, f64)> = (0..6).map(|at| (3 * at, 200.0)).collect();
    let near = [(4, 15.0), (9, -15.0)];
    for others in [&many[..], &near] {
        let table = with_others(20, others);
        let found = assess(&table, &Question::default()).unwrap();
        assert!(!kinds(&found).contains(&"other_placements"), "{:?}", kinds(&found));
    }
    let few = with_others(6, &[(1, 200.0)]);
    assert!(!kinds(&assess(&few, &Question::default()).unwrap()).contains(&"other_placements"));
}

#[test]
fn more_placements_are_worth_their_time_where_they_differ_by_much() {
    let progress = |others: &[(u32, f64)]| {
        let mut table = with_others(20, others);
        table.origin.rate = Some(Rate { hz: 1e9, uncertainty_ppm: 1.0, provenance: "test".into() });
        progress(&mut table, 0.95, 0.0001)
    };
    let many: Vec<(u32, f64)> = (0..6).map(|at| (3 * at, 200.0)).collect();
    assert_eq!(progress(&many), Progress::Varied);
    for others in [[(4, 180.0), (11, 200.0)], [(4, 4.0), (9, -4.0)]] {
        assert_ne!(progress(&others), Progress::Varied, "{others:?}");
    }
}

#[test]
fn skewed_placements_have_the_mean_of_all_and_a_wider_interval() {
    // A pooled solution lies with most of the placements, at 100 ticks.
    let shorter = [(1, -12.0), (5, -10.0), (9, -14.0), (13, -8.0), (16, -13.0)];
    let time = body(&with_others(20, &shorter));
    assert!((time.ticks.value - (100.0 - 57.0 / 20.0)).abs() < 0.2, "{time:?}");
    // Their standard error is 1.16 ticks, and Student's quantile 2.09.
    assert!((2.55..3.0).contains(&time.ticks.half_width()), "{time:?}");
}

#[test]
fn short_placements_are_solved_although_their_control_chains_are_uncertain() {
    let mut table = Core { quantum: 26.0, ..CALM }.table(1.0, 5);
    let rounds = table.rounds();
    table.origin.placements = (1..20).map(|at| at * rounds / 20).collect();
    let (question, chains) = (Question::default(), Options::default());
    let whole = Solver::new(&table, &chains);
    let found = assess(&table, &question).unwrap();
    let solved = Placements::new(&table, &question, &chains, (&whole, &found)).solved.len();
    assert!(solved >= 18, "{solved} of 20 placements of {} rounds", rounds / 20);
}

/// Placements of four layouts, in which the body takes 100, 120, 130 and 90 ticks.
fn in_layouts(placements: u32, layouts: u32) -> Observations {
    let further: Vec<(u32, f64)> = (0..placements).map(|at| (at, [0.0, 20.0, 30.0, -10.0][at as usize % 4])).collect();
    let mut table = with_others(placements, &further);
    table.origin.layouts = layouts;
    table
}

#[test]
fn the_time_of_code_in_several_layouts_is_their_mean() {
    for placements in [8, 10, 11, 13, 19] {
        let found = assess(&in_layouts(placements, 4), &Question::default()).unwrap();
        let time = found.series[0].components[0].time.ticks;
        assert!((time.value - 110.0).abs() < 0.3 && time.half_width() < 1.0, "{placements} placements: {time:?}");
        let finding = found.series[0].findings.iter().find(|finding| finding.code == "layouts_differ").unwrap();
        assert!(finding.severity == Severity::Warning && finding.message.contains("0.82 to 1.18"), "{}", finding.message);
        assert!(!kinds(&found).contains(&"other_placements"), "{placements} placements: {:?}", kinds(&found));
    }
    let few = assess(&in_layouts(3, 4), &Question::default()).unwrap();
    let untried = few.series[0].findings.iter().find(|finding| finding.code == "layouts_untried").unwrap();
    assert!(untried.message.starts_with("the code ran in 3 of 4 layouts"), "{}", untried.message);
    let unknown = assess(&in_layouts(13, 0), &Question::default()).unwrap();
    assert!(unknown.series[0].components[0].time.ticks.half_width() > 5.0 && !kinds(&unknown).contains(&"layouts_differ"));
}

#[test]
fn alternatives_that_have_the_same_times_in_other_layouts_do_not_differ() {
    const TIMES: [f64; 4] = [36.0, 41.0, 46.0, 45.0];
    for placements in [12, 15] {
        let own = table(placements, 0.1, 11);
        let mut both = Observations::new(vec!["body".into()]);
        both.origin.placements.clone_from(&own.origin.placements);
        both.origin.layouts = 4;
        for reading in own.readings() {
            let copies = own.rows()[reading.row as usize].counts[0];
            let layout = own.placements().iter().position(|span| span.contains(&reading.round)).unwrap();
            for (at, name) in ["a", "b"].into_iter().enumerate() {
                let series = both.series(name);
                let row = both.row(series, &[copies]);
                both.push(row, reading.round, reading.ticks + copies * (TIMES[(layout + at) % 4] - 100.0));
            }
        }
        let found = assess(&both, &Question::default()).unwrap();
        let compared = &found.comparisons[0];
        // Layouts of 36 to 46 ticks, in another order: which layouts were tried decides nothing.
        assert!((compared.ratio.value - 1.0).abs() < 0.005 && compared.ratio.half_width() > 0.1, "{compared:?}");
        assert_eq!(compared.verdict, crate::judge::Verdict::Undecided);
    }
}

#[test]
fn the_value_is_the_mean_of_the_placements_where_all_rounds_together_are_on_one_side() {
    let (table, question, chains) = (table(20, 0.1, 12), Question::default(), Options::default());
    let found = assess(&table, &question).unwrap();
    let placements = Placements::new(&table, &question, &chains, (&Solver::new(&table, &chains), &found));
    let of = |value: f64, sd: f64| Uncertain { value, budget: vec![Contribution::standard(Source::Stochastic, sd, 20.0)] };
    let of_time = |divided: Divided| {
        let is_mean = divided.is_mean;
        divided.value(is_mean)
    };
    // The two times of memcpy of 512 bytes, by its layout; all rounds together are near one of them.
    let turn = std::cell::Cell::new(0);
    let alternating = |_: &Assessment| Some(of([27.3, 33.1][turn.replace(turn.get() + 1) % 2], 0.05));
    let divided = of_time(placements.divided(of(27.9, 0.1), 0.95, alternating));
    assert!((divided.value - 30.2).abs() < 1e-9 && divided.estimate(0.95).half_width() > 1.0, "{divided:?}");
    // Of two alternatives, whose times are alike in each placement, all rounds together may be near another one of them.
    let ratio = placements.divided_by_sample(of(1.04, 0.01), 0.95, false, |_| Some(of(1.0, 0.003)));
    assert!(ratio.value == 1.0 && ratio.estimate(0.95).half_width() < 0.003, "{ratio:?}");
    // A chain's placements are alike: all rounds together say more than their mean.
    let chain = of_time(placements.divided(of(3.0003, 0.0001), 0.95, |_| Some(of(3.001, 0.0004))));
    assert_eq!(chain.value, 3.0003);
}

#[test]
fn rounds_of_two_layouts_that_are_solved_together_leave_the_times_of_the_others() {
    let value = |layout: Option<usize>, value: f64| Value { rounds: 8.0, layout, value: Uncertain { value, budget: Vec::new() } };
    let mut values: Vec<Value> = (0..12).map(|at| value(Some(at % 4), [36.0, 41.0, 46.0, 45.0][at % 4])).collect();
    values.insert(5, value(None, 38.5));
    let found = Placements { layouts: 4, ..Placements::default() }.layouts_of(&values).unwrap();
    assert!(found.differ && found.means == [36.0, 41.0, 46.0, 45.0], "{found:?}");
}

/// Two equal codes, whose times depend on the layout and on which of them comes first.
fn in_turns(placements: u32, second: f64, crossover: u32) -> Comparison {
    const LAYOUTS: [f64; 4] = [36.0, 41.0, 46.0, 45.0];
    let own = table(placements, 0.1, 12);
    let mut both = Observations::new(vec!["body".into()]);
    both.origin.placements.clone_from(&own.origin.placements);
    (both.origin.layouts, both.origin.crossover) = (8, crossover);
    for reading in own.readings() {
        let copies = own.rows()[reading.row as usize].counts[0];
        let placement = own.placements().iter().position(|span| span.contains(&reading.round)).unwrap();
        for (at, name) in ["a", "b"].into_iter().enumerate() {
            let series = both.series(name);
            let row = both.row(series, &[copies]);
            let place = if (placement + at) % 2 == 0 { 1.0 } else { 1.05 };
            let time = LAYOUTS[placement / 2 % 4] * place * if at == 1 { second } else { 1.0 };
            both.push(row, reading.round, reading.ticks + copies * (time - 100.0));
        }
    }
    assess(&both, &Question::default()).unwrap().comparisons[0].clone()
}

#[test]
fn alternatives_that_have_the_places_of_each_other_are_compared_without_what_a_place_adds() {
    use crate::judge::Verdict::{NoDifference, Slower};
    for placements in [16, 19, 24] {
        let same = in_turns(placements, 1.0, 2);
        assert!((same.ratio.value - 1.0).abs() < 0.003 && same.ratio.half_width() < 0.01, "{same:?}");
        assert_eq!((same.verdict, in_turns(placements, 1.03, 2).verdict), (NoDifference, Slower));
        assert!(in_turns(placements, 1.0, 1).ratio.half_width() > 0.03, "eight layouts that differ by chance");
    }
}

#[test]
fn layouts_that_are_alike_are_not_told() {
    let mut table = table(16, 0.3, 9);
    table.origin.layouts = 4;
    let found = assess(&table, &Question::default()).unwrap();
    assert!(!kinds(&found).contains(&"layouts_differ"), "{:?}", kinds(&found));
}

#[test]
fn two_placements_are_too_few() {
    let table = table(2, 5.0, 1);
    let whole = Solver::new(&table, &Options::default());
    let found = assess(&table, &Question::default()).unwrap();
    assert!(Placements::new(&table, &Question::default(), &Options::default(), (&whole, &found)).solved.is_empty());
}

#[test]
fn short_placements_are_solved_together() {
    let of = |rounds: u32, each: u32| -> Vec<u32> {
        let placements: Vec<Range<u32>> = (0..rounds / each).map(|at| at * each..(at + 1) * each).collect();
        spans(&placements, 1).iter().map(|span| span.end - span.start).collect()
    };
    assert_eq!((of(26, 1), of(5, 1), of(30, 10)), (vec![8, 8, 10], vec![5], vec![10; 3]));
    assert!(of(10_000, 10).len() as u32 <= MOST && of(0, 1).is_empty());
}

#[test]
fn weights_are_those_of_the_rounds() {
    let of = |values: [(f64, f64); 2]| {
        variance_of_mean(&values.map(|(rounds, value)| Value { rounds, layout: None, value: Uncertain { value, budget: Vec::new() } }))
    };
    assert_eq!(of([(1.0, 3.0), (1.0, 5.0)]), 1.0);
    let uneven = of([(1.0, 0.0), (9.0, 10.0)]);
    assert!((uneven - 2.0 * (0.1f64 * 9.0).powi(2) * 2.0).abs() < 1e-12, "{uneven}");
}
