//! A clock for tests. It advances only when it is read or by [`advance`], in steps of its quantum,
//! optionally with noise. It can have any width, require enabling, and stand still. [`simulate`]
//! runs it on a simulated core instead, with the noise of real machines.

mod simulated_core;

pub use simulated_core::{CoRunner, Interrupts, SimulatedCore};

use super::{Clock, Ordering, Width};
use fastrand::Rng;
use simulated_core::Simulation;
use std::cell::{Cell, RefCell};

/// How the fake clock behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Its readings are multiples of this.
    pub quantum: u64,
    /// Time that one read takes.
    pub per_read: u64,
    /// Time at the start.
    pub start: u64,
    /// Time in addition to the work and the reads.
    pub noise: Noise,
    /// Width of the counter in bits; its readings wrap.
    pub bits: u32,
    /// Whether it reads 0 until it is enabled.
    pub needs_enabling: bool,
    /// Whether enabling it fails.
    pub refuses: bool,
}

/// Time in addition to the work and the reads. The same calls give the same noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Noise {
    /// Most extra time of one read, random for each read.
    pub read: u64,
    /// Most extra time of the work in parts per million, random for each call of [`advance`].
    pub work_ppm: u64,
    /// Time between two interruptions by another process; 0 for none.
    pub period: u64,
    /// Duration of one interruption.
    pub stolen: u64,
}

const NO_NOISE: Noise = Noise { read: 0, work_ppm: 0, period: 0, stolen: 0 };
const PLAIN_SETTINGS: Settings = Settings {
    quantum: 1,
    per_read: 40,
    start: 0,
    noise: NO_NOISE,
    bits: 64,
    needs_enabling: false,
    refuses: false,
};

impl Default for Settings {
    fn default() -> Self {
        PLAIN_SETTINGS
    }
}

thread_local! {
    static FAKE_TIME: Cell<u64> = const { Cell::new(0) };
    static UNTIL_STOLEN: Cell<u64> = const { Cell::new(0) };
    static SETTINGS: Cell<Settings> = const { Cell::new(PLAIN_SETTINGS) };
    static RANDOM: RefCell<Rng> = const { RefCell::new(Rng::with_seed(0)) };
    static SIMULATION: RefCell<Option<Simulation>> = const { RefCell::new(None) };
}

/// Runs this thread's fake clock on a simulated core, until [`set`] is called. The same seed gives
/// the same noise.
pub fn simulate(core: SimulatedCore, seed: u64) {
    SIMULATION.set(Some(Simulation::new(core, seed)));
}

/// Does work of this many core cycles on the simulated core. A co-runner lengthens it by the share
/// `slower` while it is active.
pub fn execute(cycles: f64, slower: f64) {
    SIMULATION.with_borrow_mut(|simulation| {
        simulation.iter_mut().for_each(|simulation| simulation.execute(cycles, slower))
    });
}

/// Lets time pass on the simulated core, in ticks.
pub fn wait(ticks: f64) {
    SIMULATION.with_borrow_mut(|simulation| {
        simulation.iter_mut().for_each(|simulation| simulation.wait(ticks))
    });
}

/// Sets up this thread's fake clock.
pub fn set(settings: Settings) {
    SIMULATION.set(None);
    SETTINGS.set(settings);
    FAKE_TIME.set(settings.start);
    UNTIL_STOLEN.set(settings.noise.period);
    RANDOM.set(Rng::with_seed(0));
}

/// Advances the clock by the time of some work and its noise.
pub fn advance(time: u64) {
    let most = (u128::from(time) * u128::from(SETTINGS.get().noise.work_ppm) / 1_000_000) as u64;
    pass(time + up_to(most));
}

/// Advances the clock by a time and by the interruptions in it.
fn pass(time: u64) {
    let Noise { period, stolen, .. } = SETTINGS.get().noise;
    let stolen_time = match (time + period).checked_sub(UNTIL_STOLEN.get()) {
        Some(over) if period > 0 => {
            UNTIL_STOLEN.set(period - over % period);
            over / period * stolen
        }
        _ => {
            UNTIL_STOLEN.set(UNTIL_STOLEN.get().saturating_sub(time));
            0
        }
    };
    FAKE_TIME.set(FAKE_TIME.get().wrapping_add(time + stolen_time));
}

fn up_to(most_time: u64) -> u64 {
    if most_time == 0 { 0 } else { RANDOM.with_borrow_mut(|random| random.u64(0..=most_time)) }
}

/// Reads the fake clock; half of the time of a read passes before the reading and half after it.
pub extern "C" fn read() -> u64 {
    if let Some(reading) =
        SIMULATION.with_borrow_mut(|simulation| simulation.as_mut().map(Simulation::read))
    {
        return reading;
    }
    let Settings { quantum, per_read, noise, bits, needs_enabling, .. } = SETTINGS.get();
    if needs_enabling {
        return 0;
    }
    pass(per_read / 2);
    let reading = FAKE_TIME.get() / quantum * quantum;
    pass(per_read - per_read / 2 + up_to(noise.read));
    Width::bits(bits).wrapped(reading)
}

/// The fake clock as a counter of this width that ticks once per nanosecond. [`Settings::bits`]
/// must be the same.
pub fn clock(bits: u32) -> Clock {
    Clock {
        nominal_hz: Some(1e9),
        width: Width::bits(bits),
        ordering: Ordering::both("the test"),
        enable: Some(enable),
        ..Clock::new("fake", "moves when it is read", read)
    }
}

fn enable() -> Result<(), String> {
    let settings = SETTINGS.get();
    if settings.refuses {
        return Err("the kernel does not allow user code to read it".into());
    }
    SETTINGS.set(Settings { needs_enabling: false, ..settings });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_take_time_periodically() {
        let noise = Noise { period: 1_000, stolen: 500, ..Noise::default() };
        set(Settings { per_read: 0, noise, ..Settings::default() });
        (0..100).for_each(|_| advance(70));
        assert_eq!(read(), 7_000 + 7 * 500);
        advance(2_500);
        assert_eq!(read(), 9_500 + 9 * 500);
    }

    #[test]
    fn noise_adds_time_and_is_reproducible() {
        let once = || {
            set(Settings {
                per_read: 10,
                noise: Noise { read: 5, work_ppm: 100_000, ..Noise::default() },
                ..Settings::default()
            });
            let before = read();
            advance(1_000);
            read() - before
        };
        let first = once();
        assert!((1_010..=1_115).contains(&first), "{first}");
        assert_eq!(once(), first);
    }
}
