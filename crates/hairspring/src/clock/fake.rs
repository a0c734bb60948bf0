//! A clock for tests: it moves only when it is read or told to, in steps of its quantum.

use std::cell::Cell;

/// How the fake clock behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Its reading is a multiple of this.
    pub quantum: u64,
    /// Time that one read takes.
    pub per_read: u64,
    /// Time at the start.
    pub start: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { quantum: 1, per_read: 40, start: 0 }
    }
}

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
    static SETTINGS: Cell<Settings> = const { Cell::new(Settings { quantum: 1, per_read: 40, start: 0 }) };
}

/// Sets up this thread's fake clock.
pub fn set(settings: Settings) {
    SETTINGS.set(settings);
    NOW.set(settings.start);
}

/// Lets time go by.
pub fn advance(time: u64) {
    NOW.set(NOW.get() + time);
}

/// Reads the fake clock; half of the cost falls before the reading and half behind it.
pub extern "C" fn read() -> u64 {
    let Settings { quantum, per_read, .. } = SETTINGS.get();
    advance(per_read / 2);
    let reading = NOW.get() / quantum * quantum;
    advance(per_read - per_read / 2);
    reading
}
