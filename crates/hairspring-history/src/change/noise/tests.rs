use super::*;
use crate::change::simulated::Noise;

#[test]
fn the_variance_between_runs_is_found_beside_steps() {
    let mut noise = Noise::new(1);
    let points: Vec<Scaled> = (0..4_000)
        .map(|at| Scaled {
            x: noise.normal() * 0.05_f64.hypot(0.03) + f64::from(at / 50 % 2),
            sd: 0.03,
        })
        .collect();
    let found = by_differences(&differences(&points)).sqrt();
    // Steps in 2 % of the differences raise the trimmed mean a little.
    assert!((found / 0.05 - 1.0).abs() < 0.12, "{found}");
}

#[test]
fn departures_give_the_variance_of_paule_and_mandel() {
    let mut noise = Noise::new(2);
    let departures: Vec<Departure> = (0..20_000)
        .map(|at| {
            let own = if at % 2 == 0 { 1.0 } else { 9.0 };
            let x = noise.normal() * (own + 4.0_f64).sqrt();
            Departure { square: x * x, own }
        })
        .collect();
    let found = by_departures(&departures, 20_000.0);
    assert!((found - 4.0).abs() < 0.2, "{found}");
    assert_eq!(by_departures(&departures, 1e9), 0.0);
    assert_eq!(by_departures(&[], 0.0), 0.0);
}

#[test]
fn equal_series_have_the_variance_of_the_machine() {
    let mut noise = Noise::new(3);
    let mut series = |spread: f64| -> Vec<(f64, f64)> {
        (0..400)
            .map(|_| {
                let own = (spread * noise.normal()).exp();
                let sum: f64 = (0..10).map(|_| noise.normal().powi(2)).sum();
                (own * sum / 10.0, 10.0)
            })
            .collect()
    };
    let same = usual(&series(0.0)).unwrap();
    assert!(same.dof > 60.0 && (same.factor - 1.0).abs() < 0.05, "{same:?}");
    let other = usual(&series(1.0)).unwrap();
    assert!(other.dof > 1.0 && other.dof < 5.0, "{other:?}");
    let (factor, dof) = other.moderated(4.0, 100.0);
    assert!((3.5..4.0).contains(&factor) && dof > 100.0, "{factor} {dof}");
    assert_eq!(usual(&[(1.0, 9.0); 4]), None);
}

#[test]
fn no_variance_is_zero_or_too_far_from_the_others() {
    let zero = [Scaled { x: 1.0, sd: 0.0 }; 5];
    assert!(variances(&zero, 0.0, 1.0, true).iter().all(|one| *one > 0.0));
    assert!(variances(&[Scaled { x: 0.0, sd: 0.0 }], 0.0, 1.0, false)[0] > 0.0);
    let mut mixed = [Scaled { x: 1.0, sd: 1.0 }; 5];
    mixed[0].sd = 0.0;
    assert!(variances(&mixed, 0.0, 1.0, true)[0] >= 1e-6);
    assert_eq!(by_differences(&differences(&zero)), 0.0);
}
