use super::simulated::Noise;
use super::*;
use proptest::prelude::*;

fn input(readings: Vec<Reading>) -> Input {
    Input { machine: 0, readings }
}

/// A thousand series in a history: no more of the steps are false than the share that is wanted.
#[test]
fn few_steps_of_many_series_are_false() {
    let mut noise = Noise::new(11);
    let all: Vec<Input> = (0..1_000).map(|_| input(noise.series(60, 0.004, 0.01, &[]))).collect();
    let found = find(&all, &Options::default());
    let false_steps: usize = found.iter().map(|one| one.steps.len()).sum();
    assert!(false_steps <= 2, "{false_steps}");
    let outside = found.iter().filter(|one| one.forecast.is_some_and(|one| !one.is_inside()));
    let share = outside.count() as f64 / 1_000.0;
    assert!((0.03..0.08).contains(&share), "{share}");
}

/// A single series: the level of the test is its own.
#[test]
fn a_single_series_rarely_has_a_false_step() {
    let mut noise = Noise::new(12);
    let found = (0..1_000).filter(|at| {
        let readings = noise.series(10 + at % 50, 0.004, 0.01, &[]);
        !find(&[input(readings)], &Options::default())[0].steps.is_empty()
    });
    let found = found.count();
    assert!(found <= 65, "{found}");
}

#[test]
fn steps_of_four_sigmas_are_found_with_their_size_and_place() {
    let mut noise = Noise::new(13);
    let all: Vec<Input> =
        (0..400).map(|at| input(noise.series(60, 0.004, 0.01, &[(20 + at % 30, 0.05)]))).collect();
    let found = find(&all, &Options::default());
    let right = |at: usize| -> Option<(bool, bool)> {
        let [step] = &found[at].steps[..] else { return None };
        let place = 20 + at % 30;
        let holds = step.after < place && place <= step.up_to;
        Some((holds, (step.size - 0.05).abs() <= step.half))
    };
    let all: Vec<(bool, bool)> = (0..400).filter_map(right).collect();
    let share = |count: usize| count as f64 / all.len() as f64;
    assert!(all.len() >= 390, "{}", all.len());
    let (places, sizes) =
        (all.iter().filter(|one| one.0).count(), all.iter().filter(|one| one.1).count());
    assert!(share(places) > 0.94, "{}", share(places));
    assert!(share(sizes) > 0.93, "{}", share(sizes));
}

/// The smallest step that could have been seen is seen in nine of ten.
#[test]
fn the_smallest_step_is_what_it_says() {
    let mut noise = Noise::new(14);
    let options = Options::default();
    let plain: Vec<Input> = (0..300).map(|_| input(noise.series(50, 0.004, 0.01, &[]))).collect();
    let smallest = find(&plain, &options)[0].smallest.unwrap();
    let mut all = plain;
    // Few among many: the level of the test is as low as it is for those without a step.
    all.extend((0..30).map(|_| input(noise.series(50, 0.004, 0.01, &[(47, smallest)]))));
    let found = find(&all, &options);
    let share = found[300..].iter().filter(|one| !one.steps.is_empty()).count() as f64 / 30.0;
    assert!(share > 0.8, "{share}");
}

#[test]
fn single_disturbed_runs_are_no_steps() {
    let mut noise = Noise::new(15);
    let all: Vec<Input> = (0..300)
        .map(|at| {
            let mut readings = noise.series(40, 0.004, 0.01, &[]);
            for place in [10 + at % 7, 25 + at % 5] {
                let one = &mut readings[place];
                *one = Reading {
                    value: 1.2 * one.value,
                    low: 1.2 * one.low,
                    high: 1.2 * one.high,
                    ..*one
                };
            }
            input(readings)
        })
        .collect();
    let found = find(&all, &Options::default());
    let steps: usize = found.iter().map(|one| one.steps.len()).sum();
    let odd: usize = found.iter().map(|one| one.odd.len()).sum();
    assert!(steps <= 1 && (590..=620).contains(&odd), "{steps} {odd}");
}

#[test]
fn a_last_reading_outside_is_no_step_and_told() {
    let mut noise = Noise::new(16);
    let mut readings = noise.series(40, 0.004, 0.01, &[]);
    readings.push(Reading { value: 150.0, low: 149.0, high: 151.0, level: 0.95 });
    let found = &find(&[input(readings)], &Options::default())[0];
    assert!(found.steps.is_empty());
    let forecast = found.forecast.unwrap();
    assert!(!forecast.is_inside() && forecast.reading == 40 && forecast.chance < 1e-6);
    assert_eq!(found.levels[0].to, 39);
}

#[test]
fn odd_input_gives_no_panic() {
    let reading = |value: f64, half: f64| Reading {
        value,
        low: value - half,
        high: value + half,
        level: 0.95,
    };
    let nothing = [f64::NAN, f64::INFINITY, 1e30, -1e30, 0.0, 1e-300, 5e-324];
    let mut all: Vec<Input> = vec![input(Vec::new())];
    for one in nothing {
        for half in nothing {
            all.push(input(vec![reading(one, half)]));
            all.push(input(vec![reading(one, half); 5]));
            all.push(input(vec![reading(one, half), reading(1.0, 0.1), reading(1.0, 0.1)]));
            all.push(input(vec![reading(1.0, 0.1), reading(one, half)]));
        }
    }
    for found in find(&all, &Options::default()) {
        assert!(found.steps.iter().all(|step| step.size.is_finite()), "{found:?}");
    }
}

#[test]
fn readings_without_any_noise_step_where_they_change() {
    let flat = |value: f64| Reading { value, low: f64::NAN, high: f64::NAN, level: 0.95 };
    let mut readings = vec![flat(1_000.0); 10];
    readings.extend(vec![flat(1_001.0); 10]);
    let found = &find(&[input(readings)], &Options::default())[0];
    assert_eq!(found.steps.iter().map(|step| step.at).collect::<Vec<_>>(), [10]);
    assert_eq!((found.steps[0].after, found.steps[0].up_to), (9, 10));
}

#[test]
fn long_series_are_taken_in_parts() {
    in_parts(6_000);
}

mod long {
    #[test]
    fn a_hundred_thousand_readings_are_taken_in_parts() {
        super::in_parts(100_000);
    }
}

fn in_parts(n: usize) {
    let mut noise = Noise::new(17);
    let steps = [(1_000, 0.05), (3_000, -0.05), (3_040, 0.05), (n - 10, 0.05)];
    let found = &find(&[input(noise.series(n, 0.004, 0.01, &steps))], &Options::default())[0];
    let near =
        |place: usize| found.steps.iter().any(|step| step.after < place && place <= step.up_to);
    assert!(steps.iter().all(|step| near(step.0)), "{:?}", found.steps);
    assert_eq!(found.steps.len(), 4, "{:?}", found.steps);
}

proptest! {
    #[test]
    fn any_series_has_levels_that_cover_it(
        values in prop::collection::vec((0.001..1e4_f64, 0.0..100.0_f64), 0..60)
    ) {
        let reading = |(value, half): (f64, f64)| Reading {
            value, low: value - half, high: value + half, level: 0.95,
        };
        let readings: Vec<Reading> = values.into_iter().map(reading).collect();
        let count = readings.len();
        let found = &find(&[input(readings)], &Options::default())[0];
        let covered: usize = found.levels.iter().map(|level| level.points).sum();
        let end = found.levels.last().map_or(0, |level| level.to);
        let single = usize::from(found.forecast.is_some_and(|one| one.reading > end));
        prop_assert_eq!(covered + single + found.odd.len() + found.unusable.len(), count);
        prop_assert!(found.steps.iter().all(|step| step.after < step.at && step.at <= step.up_to));
        prop_assert_eq!(found.steps.len(), found.levels.len().saturating_sub(1));
    }
}
