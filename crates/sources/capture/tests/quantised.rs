//! Recordings of logic analysers: whether intervals hold where a sample is longer than the jitter
//! of the chip.

use hairspring_capture::{Captured, Input, Options, capture};
use hairspring_core::judge::{Question, assess};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt::Write;
use std::io::Cursor;

/// A pin with pulses of 1 to 20 copies, and the recorder. Times in nanoseconds.
struct Pin {
    copy: f64,
    overhead: f64,
    gap: f64,
    jitter: f64,
    period: f64,
    rounds: u32,
}

impl Pin {
    /// A chip whose times have nothing to do with the samples.
    fn free(random: &mut Pcg64Mcg, period: f64) -> Pin {
        let jitter = [0.0, 3.0, 20.0][random.random_range(0..3)];
        let copy = 10f64.powf(random.random_range(3.3..5.5)).max(4.0 * period);
        let (overhead, gap) =
            (10f64.powf(random.random_range(2.5..4.0)), 10f64.powf(random.random_range(4.0..6.0)));
        Pin { copy, overhead, gap, jitter, period, rounds: random.random_range(4..20) }
    }

    /// A chip all of whose times are nearly whole numbers of samples.
    fn near(random: &mut Pcg64Mcg, period: f64) -> Pin {
        let off = random.random_range(-30e-6..30e-6);
        let samples = |random: &mut Pcg64Mcg, most_periods: u32| {
            f64::from(random.random_range(3..most_periods)) * period
        };
        Pin {
            copy: samples(random, 200) * (1.0 + off),
            overhead: samples(random, 40),
            gap: samples(random, 2_000),
            jitter: 0.0,
            period,
            rounds: random.random_range(2..20),
        }
    }

    /// A list of changes as Saleae's program writes it, in whole nanoseconds.
    fn list(&self, random: &mut Pcg64Mcg) -> String {
        let mut text = "Time [s],Channel 0\n0.000000000,0\n".to_owned();
        let mut at = (5.0 + random.random::<f64>()) * self.period;
        for n in (0..self.rounds).flat_map(|_| 1..=20) {
            let end = at + self.overhead + f64::from(n) * self.copy;
            for (time, level) in [(at, 1), (end, 0)] {
                let noise: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
                let sample = ((time + self.jitter * noise) / self.period).ceil() * self.period;
                writeln!(text, "{:.9},{level}", sample * 1e-9).unwrap();
            }
            at = end + self.gap;
        }
        text
    }
}

/// Error and half-width of the copy's time in nanoseconds.
fn measured(pin: &Pin, random: &mut Pcg64Mcg) -> (f64, f64) {
    let options = Options {
        ks: Some((1..=20).map(f64::from).collect()),
        rate_ppm: Some(0.0),
        ..Options::default()
    };
    let Captured { table, .. } =
        capture(Input::File(Box::new(Cursor::new(pin.list(random).into_bytes()))), &options)
            .unwrap();
    let assessment = assess(&table, &Question::default()).unwrap();
    let copy = &assessment.series[0].components[0].time.ticks;
    (copy.value - pin.copy, copy.half_width())
}

/// Share of intervals that hold, and the median half-width in periods, over several periods.
fn coverage(pin: impl Fn(&mut Pcg64Mcg, f64) -> Pin) -> (f64, f64) {
    let mut random = Pcg64Mcg::seed_from_u64(16);
    let mut places = Vec::new();
    for period in [8.0, 1e9 / 24e6, 62.5, 125.0, 500.0, 1000.0].repeat(25) {
        let pin = pin(&mut random, period);
        let (error, half) = measured(&pin, &mut random);
        places.push((error.abs() <= half, half / period));
    }
    let mut halves: Vec<f64> = places.iter().map(|(_, half)| *half).collect();
    halves.sort_unstable_by(f64::total_cmp);
    (
        places.iter().filter(|(holds, _)| *holds).count() as f64 / places.len() as f64,
        halves[halves.len() / 2],
    )
}

#[test]
fn intervals_hold_where_samples_are_longer_than_the_jitter() {
    // Where the phase comes back after few rounds, the rounds do not average the samples out as
    // well as they seem to.
    let (holds, half) = coverage(Pin::free);
    assert!(holds > 0.93, "{holds}");
    assert!(half < 0.03, "{half} periods");
}

#[test]
fn intervals_hold_where_all_times_are_nearly_whole_numbers_of_samples() {
    // Every reading is the same whole number of samples: noise shows nothing of the error.
    let (holds, half) = coverage(Pin::near);
    assert!(holds > 0.95, "{holds}");
    assert!(half < 0.06, "{half} periods");
}
