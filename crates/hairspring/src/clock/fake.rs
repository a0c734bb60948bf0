//! A clock for tests: it moves only when it is read or told to, in steps of its quantum. It can be of any width, need
//! enabling, and stand still.

use super::{Clock, Ordering, Width};
use std::cell::Cell;

/// How the fake clock behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Its reading is a multiple of this.
    pub quantum: u64,
    /// Time that one read takes; at 0 it stands still.
    pub per_read: u64,
    /// Time at the start.
    pub start: u64,
    /// Bits of the counter: its readings wrap.
    pub bits: u32,
    /// Whether it reads 0 until it is enabled.
    pub needs_enabling: bool,
    /// Whether enabling it is refused.
    pub refuses: bool,
}

const PLAIN: Settings = Settings { quantum: 1, per_read: 40, start: 0, bits: 64, needs_enabling: false, refuses: false };

impl Default for Settings {
    fn default() -> Self {
        PLAIN
    }
}

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
    static SETTINGS: Cell<Settings> = const { Cell::new(PLAIN) };
}

/// Sets up this thread's fake clock.
pub fn set(settings: Settings) {
    SETTINGS.set(settings);
    NOW.set(settings.start);
}

/// Lets time go by.
pub fn advance(time: u64) {
    NOW.set(NOW.get().wrapping_add(time));
}

/// Reads the fake clock; half of the cost falls before the reading and half behind it.
pub extern "C" fn read() -> u64 {
    let Settings { quantum, per_read, bits, needs_enabling, .. } = SETTINGS.get();
    if needs_enabling {
        return 0;
    }
    advance(per_read / 2);
    let reading = NOW.get() / quantum * quantum;
    advance(per_read - per_read / 2);
    Width::bits(bits).wrapped(reading)
}

/// The fake clock as a counter of so many bits, which is one tick a nanosecond; the settings must have as many.
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
