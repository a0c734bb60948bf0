//! Properties of the one vector: ticks, nanoseconds, core cycles and ratios of a table are views of
//! it.

use super::*;
use crate::estimate::{Estimate, Source, Spread};
use crate::observations::{Pauses, Rate};
use crate::result::{Comparison, Looks, Verdict, excludes};
use crate::simulated::normal;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const HZ: f64 = 3e9;

fn rate(hz: f64) -> Rate {
    Rate { hz, uncertainty_ppm: 20.0, provenance: "simulated".into() }
}

/// The name of a series, the length of its body, and the counts of its rows.
type Chain = (&'static str, f64, Vec<f64>);

/// A table with a reference of 3 cycles and a control of 1, and a series for each length.
fn with_chains(lengths: &[(&'static str, f64)]) -> (Observations, Vec<Chain>) {
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.granularity = Some(1.0);
    table.origin.rate = Some(rate(HZ));
    table.origin.reference = Some(("ruler".into(), 3.0));
    table.origin.controls = vec![("control".into(), 1.0)];
    let mut series: Vec<_> = lengths
        .iter()
        .map(|(name, length)| (*name, *length, vec![2.0, 3.0, 4.0, 5.0, 6.0]))
        .collect();
    series.extend([
        ("ruler", 3.0, vec![64.0, 128.0, 192.0]),
        ("control", 1.0, vec![128.0, 256.0, 512.0]),
    ]);
    (table, series)
}

fn assessed(table: &Observations) -> Assessment {
    assess(table, &Options::default(), None, None).unwrap()
}

fn ratio(assessment: &Assessment) -> &Comparison {
    &assessment.comparisons[0]
}

/// What disturbs a table of two series.
#[derive(Debug, Clone)]
struct Wild {
    lengths: [f64; 2],
    noise: f64,
    /// Standard deviation of the core clock from round to round, and how much the rows bend.
    clock: f64,
    bend: f64,
    /// Share of readings of the second series that are far longer.
    slow: f64,
    /// Share of the readings of the second series that are missing, so that some blocks lack a row.
    missing: f64,
    quantum: f64,
    placements: u32,
    seed: u64,
}

fn wild() -> impl Strategy<Value = Wild> {
    let share = |most_share: f64| prop_oneof![Just(0.0), 0.0..most_share];
    let shares = (share(0.03), share(0.05), share(0.02), share(0.8));
    (
        [20.0..4e3, 20.0..4e3],
        0.5..8.0,
        shares,
        prop_oneof![Just(1.0), Just(26.0)],
        1u32..6,
        any::<u64>(),
    )
        .prop_map(
            |(lengths, noise, (clock, bend, slow, missing), quantum, placements, seed)| Wild {
                lengths,
                noise,
                clock,
                bend,
                slow,
                missing,
                quantum,
                placements,
                seed,
            },
        )
}

impl Wild {
    fn table(&self) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let (mut table, series) = with_chains(&[("a", self.lengths[0]), ("b", self.lengths[1])]);
        table.origin.granularity = Some(self.quantum);
        table.origin.placements =
            (1..self.placements).map(|at| at * 160 / self.placements).collect();
        for round in 0..160 {
            let clock = 1.0 + self.clock * normal(&mut random);
            for (name, length, counts) in &series {
                let id = table.series(name);
                for count in counts {
                    let bent =
                        if *name == "b" { self.bend * length * (count - 4.0).abs() } else { 0.0 };
                    let slow = if *name == "b" && random.random::<f64>() < self.slow {
                        40.0 * length
                    } else {
                        0.0
                    };
                    let ticks = clock * (length * count + bent)
                        + slow
                        + 40.0
                        + self.noise * normal(&mut random);
                    let row = table.row(id, &[*count]);
                    if *name != "b" || *count > 3.0 || random.random::<f64>() >= self.missing {
                        table.push(row, round, (ticks / self.quantum).round() * self.quantum);
                    }
                }
            }
        }
        table
    }
}

/// Every reading is used, or left out by one stage: the readings, the outcomes of the stages and
/// the results say the same.
fn check_readings(table: &Observations, assessment: &Assessment) {
    let all_weighed = weighed(table, &Options::default()).unwrap();
    for series in &assessment.series {
        let id = table.find_series(&series.name).unwrap();
        let own_readings = || {
            all_weighed
                .iter()
                .filter(|one| table.rows()[table.readings()[one.reading].row as usize].series == id)
        };
        let used = own_readings().filter(|one| one.left_out_by.is_none()).count();
        let out: Vec<usize> = series.stages.iter().map(|stage| stage.left_out).collect();
        let (readings, name) = (own_readings().count(), &series.name);
        assert_eq!(
            (readings, used),
            (series.solution.readings, series.solution.readings_used),
            "{name}"
        );
        assert_eq!(used + out.iter().sum::<usize>(), readings, "{name}: {out:?}");
        let by_rows: usize = series
            .solution
            .rows
            .iter()
            .filter(|row| row.left_out.is_none())
            .map(|row| row.used)
            .sum();
        assert_eq!(by_rows, used, "{name}");
        for stage in &series.stages {
            assert_eq!(
                own_readings().filter(|one| one.left_out_by == Some(stage.stage)).count(),
                stage.left_out,
                "{name}: {}",
                stage.stage
            );
            assert!(
                !stage.did.is_empty() && (stage.acted || stage.left_out == 0),
                "{name}: {stage:?}"
            );
        }
    }
}

/// What the entries that a time shares with no other give it at least, as a share of it.
fn unshared(state: &State, series: SeriesId) -> f64 {
    let vector = &state.solution(series).unwrap().vector;
    let bounds: f64 = vector.entries[0]
        .iter()
        .filter(|entry| entry.shared.is_none() && entry.dof.is_none())
        .map(|entry| entry.size.abs())
        .sum();
    bounds / vector.values[0].abs()
}

fn relative(one: &Estimate) -> f64 {
    one.half_width() / one.value.abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn ratios_and_units_are_views_of_one_vector(wild in wild()) {
        let (table, options) = (wild.table(), Options::default());
        let state = state_of(&table, &options);
        let (found, names) = (assessed(&table), ["a", "b"]);
        let times: Vec<_> = names.iter()
            .map(|name| &found.series.iter().find(|one| one.name == **name).unwrap().components[0]
            .time).collect();
        prop_assume!(times.iter().all(|time| time.ticks.value > 0.0));
        check_readings(&table, &found);
        let compared = ratio(&found);
        let quotient = times[1].ticks.value / times[0].ticks.value;
        prop_assert!((compared.ratio.value / quotient - 1.0).abs() < 1e-12, "{} {quotient}",
            compared.ratio.value);
        // What the two do not share is in the ratio, too.
        let own = names.map(|name| unshared(&state, table.find_series(name).unwrap()));
        prop_assert!(relative(&compared.ratio) >= (own[0] + own[1]) * (1.0 - 1e-9), "{} {own:?}",
            relative(&compared.ratio));
        for time in times {
            let (ns, cycles) = (time.ns.as_ref().unwrap(), time.cycles.as_ref().unwrap());
            prop_assert!((ns.value / (time.ticks.value * 1e9 / HZ) - 1.0).abs() < 1e-12);
            // Noise and the reference chain differ, and the rate counts only in ns.
            for source in [Source::Negative, Source::Settling, Source::Slow, Source::Undone,
                Source::Overlap, Source::Readings, Source::Controls] {
                let (ns, cycles) = (ns.part(source, 0.95) / ns.value,
                    cycles.part(source, 0.95) / cycles.value);
                prop_assert!((ns - cycles).abs() <= 1e-9 * ns.abs().max(1e-9),
                    "{source:?}: {ns} in ns, {cycles} in cycles");
            }
            let without_rate = ns.without(Source::Rate).estimate(0.95);
            prop_assert!((relative(&without_rate) / relative(&time.ticks) - 1.0).abs() < 1e-9);
        }
    }
}

/// Code of two lengths on a CPU that pauses for 400 ticks once in 10,000.
#[test]
fn a_ratio_beside_pauses_is_the_quotient_of_the_times() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.granularity = Some(1.0);
    table.origin.rate = Some(rate(2e9));
    table.origin.pauses = Pauses { watched: 4.16e6, lost: 1.6e5, number: 400, longer: Some(0) };
    for round in 0..400 {
        for (name, length) in [("short", 100.0), ("long", 8_000.0)] {
            let id = table.series(name);
            for count in 1..9 {
                let run =
                    length * f64::from(count) + 40.0 + f64::from((round * 7 + count * 13) % 11);
                let row = table.row(id, &[f64::from(count)]);
                table.push(
                    row,
                    round as u32,
                    crate::simulated::with_pauses(run, 10_000.0, 400.0, &mut random).round(),
                );
            }
        }
    }
    let assessment = assessed(&table);
    let times: Vec<&Estimate> =
        assessment.series.iter().map(|one| &one.components[0].time.ticks).collect();
    let compared = ratio(&assessment);
    assert!(times[0].contains(100.0) && times[1].contains(8_000.0), "{times:?}");
    assert!(compared.ratio.contains(80.0), "{compared:?}");
    assert!(
        (compared.ratio.value * times[0].value / times[1].value - 1.0).abs() < 1e-12,
        "{compared:?} {times:?}"
    );
}

/// One evaluation in 800 of the second series takes 1,400 ticks longer: 1.75 % in the mean, and too
/// rare to be sure whose doing it is.
#[test]
fn what_may_be_the_codes_own_is_in_the_ratio_and_decides_nothing() {
    let mut held = 0;
    for seed in 1..21 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let (mut table, series) = with_chains(&[("a", 100.0), ("b", 100.0)]);
        for round in 0..3_000 {
            for (name, length, counts) in &series {
                let id = table.series(name);
                for count in counts {
                    let is_slow = *name == "b" && random.random::<f64>() < 0.001_25 * count;
                    let ticks = length * count
                        + 40.0
                        + 2.0 * normal(&mut random)
                        + if is_slow { 1_400.0 } else { 0.0 };
                    let row = table.row(id, &[*count]);
                    table.push(row, round, ticks);
                }
            }
        }
        let assessment = assessed(&table);
        let compared = ratio(&assessment);
        held += u32::from(compared.ratio.contains(1.0175));
        let is_excluded = compared.verdict == Verdict::NoDifference
            && excludes(&Looks::Every.interval(&compared.ratio)) < 0.0175;
        assert!(!is_excluded, "{seed}: {compared:?}");
    }
    assert!(held >= 18, "{held} of 20");
}

/// A tenth of the readings of a calm core is 2 % longer, and the run has ten placements.
#[test]
fn times_of_a_calm_core_have_the_same_bounds_in_all_units() {
    for seed in 1..5 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let (mut table, mut series) = with_chains(&[("code", 100.0)]);
        series[0].2 = vec![4.0, 6.0, 8.0, 12.0, 16.0];
        table.origin.placements = (1..10).map(|at| 30 * at).collect();
        for round in 0..300 {
            let clock = 1.0 + 0.012 * normal(&mut random);
            for (name, length, counts) in &series {
                let id = table.series(name);
                for count in counts {
                    let longer = random.random::<f64>() < 0.07;
                    let guard = 60.0 + normal(&mut random) + if longer { 40.0 } else { 0.0 };
                    let factor =
                        if *name == "code" { clock * if longer { 1.02 } else { 1.0 } } else { 1.0 };
                    let ticks = length * count * factor + 40.0 + 0.8 * normal(&mut random);
                    let row = table.row(id, &[*count]);
                    table.push_guarded(
                        row,
                        round,
                        ticks.round(),
                        crate::observations::Flags::NONE,
                        std::num::NonZeroU32::new(guard as u32),
                    );
                }
            }
        }
        let assessment = assessed(&table);
        let time = &assessment.series[0].components[0].time;
        let (ns, cycles) = (time.ns.as_ref().unwrap(), time.cycles.as_ref().unwrap());
        for entry in ns.budget.iter().filter(|entry| matches!(entry.spread, Spread::Bound(_))) {
            let share =
                |time: &crate::estimate::Uncertain| time.part(entry.source, 0.95) / time.value;
            assert!((share(ns) / share(cycles) - 1.0).abs() < 1e-9, "{seed}: {:?}", entry.source);
        }
        let (ns, cycles) = (relative(&ns.estimate(0.95)), relative(&cycles.estimate(0.95)));
        assert!((0.7..1.4).contains(&(cycles / ns)), "{seed}: {ns} in ns, {cycles} in cycles");
    }
}

/// A calm table solved without these stages.
fn solved_without(names: &[&str]) -> crate::error::Result<Assessment> {
    let options = Options {
        without: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Options::default()
    };
    assess(&crate::simulated::CALM.table(0.2, 1), &options, None, None)
}

#[test]
fn a_table_can_be_solved_without_each_optional_stage() {
    let names: Vec<&str> = optional_stages().iter().map(|stage| stage.name).collect();
    let alone = names.iter().map(|name| (vec![*name], solved_without(&[*name])));
    for (without, assessment) in alone.chain([(names.clone(), solved_without(&names))]) {
        let assessment = assessment.unwrap_or_else(|error| panic!("{without:?}: {error}"));
        let time = assessment.series[0].components[0].time.ticks;
        assert!(time.value.is_finite() && time.half_width().is_finite(), "{without:?}: {time:?}");
        let by_request = assessment.series[0]
            .stages
            .iter()
            .filter(|one| one.did == BY_REQUEST)
            .map(|one| one.stage);
        assert_eq!(by_request.collect::<Vec<_>>(), without);
    }
}

/// Rows that were not repeated, two of which are far off the plane, and one of a row of repeats
/// that lacks half of its rounds.
#[test]
fn what_a_line_goes_past_is_left_out_by_a_stage() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut single = Observations::new(vec!["a".into(), "b".into()]);
    let series = single.series("main");
    for at in 0..400 {
        let (a, b): (f64, f64) = (random.random_range(0.0..50.0), random.random_range(0.0..50.0));
        let row = single.row(series, &[a, b]);
        single.push(
            row,
            0,
            20.0 * a
                + 30.0 * b
                + 50.0
                + normal(&mut random)
                + if at % 200 == 7 { 5e3 } else { 0.0 },
        );
    }
    let assessment = assessed(&single);
    check_readings(&single, &assessment);
    let out = |assessment: &Assessment, name: &str| {
        assessment.series[0].stages.iter().find(|one| one.stage == name).unwrap().left_out
    };
    assert_eq!(out(&assessment, "line"), 2);

    let mut repeated = Observations::new(vec!["body".into()]);
    let series = repeated.series("main");
    for (round, copies) in (0..300).flat_map(|round| (1..21).map(move |copies| (round, copies))) {
        let row = repeated.row(series, &[f64::from(copies)]);
        if copies != 3 || round < 150 {
            let off = if copies == 5 { 400.0 } else { 0.0 };
            repeated.push(row, round, 100.0 * f64::from(copies) + 40.0 + off + normal(&mut random));
        }
    }
    let assessment = assessed(&repeated);
    check_readings(&repeated, &assessment);
    // A row of 300 readings, and half of the readings of 18 others.
    assert_eq!(out(&assessment, "rows"), 300 + 18 * 150);
    let moved = assessment.series[0].stages.iter().find(|one| one.stage == "rows").unwrap().moved;
    assert!((-0.1..-1e-4).contains(&moved) || (1e-4..0.1).contains(&moved), "{moved}");
}

/// Twelve placements of 20 rounds, in the fourth of which `a` takes twice as long. `b` runs in that
/// one alone.
fn odd_placement() -> Observations {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut table = Observations::new(vec!["body".into()]);
    (table.origin.granularity, table.origin.rate) = (Some(1.0), Some(rate(HZ)));
    table.origin.placements = (1..12).map(|at| 20 * at).collect();
    let (a, b) = (table.series("a"), table.series("b"));
    for round in 0..240 {
        let is_odd = round / 20 == 3;
        let series = [(a, 100.0, if is_odd { 2.0 } else { 1.0 })]
            .into_iter()
            .chain(is_odd.then_some((b, 50.0, 1.0)));
        for (series, body, factor) in series {
            for copies in 1..7 {
                let row = table.row(series, &[f64::from(copies)]);
                table.push(
                    row,
                    round,
                    (40.0 + factor * body * f64::from(copies) + 2.0 * random.random::<f64>())
                        .floor(),
                );
            }
        }
    }
    table
}

#[test]
fn readings_that_count_after_all_are_told_as_such() {
    let table = odd_placement();
    let assessment = assessed(&table);
    assert!(
        assessment
            .series
            .iter()
            .all(|series| series.stages.iter().all(|stage| stage.left_out == 0)),
        "{:#?}",
        assessment.series[0].stages
    );
    assert!(
        weighed(&table, &Options::default()).unwrap().iter().all(|one| one.left_out_by.is_none())
    );
    // Without the other series they are left out.
    let of_a =
        |reading: &&crate::observations::Reading| table.rows()[reading.row as usize].series == 0;
    let mut alone = Observations::new(vec!["body".into()]);
    alone.origin = table.origin.clone();
    let series = alone.series("a");
    for reading in table.readings().iter().filter(of_a) {
        let row = alone.row(series, &table.rows()[reading.row as usize].counts);
        alone.push(row, reading.round, reading.ticks);
    }
    let out = assessed(&alone).series[0]
        .stages
        .iter()
        .find(|stage| stage.stage == "placements")
        .map(|stage| stage.left_out);
    assert_eq!(out, Some(120));
}
