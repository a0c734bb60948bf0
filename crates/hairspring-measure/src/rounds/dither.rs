//! A random wait before each reading, so that it starts anywhere between two steps of the clock.
//! The mean of many readings is then free of the quantum; at a fixed phase it would not be.

use hairspring_host::clock::Counter;

/// Quanta that the wait spreads over.
const SPREAD_QUANTA: f64 = 3.0;
/// Longest wait, in turns; the length of the run itself dithers a clock that advances with the
/// kernel's tick.
const MOST_TURNS: f64 = 20_000.0;
/// Shortest range of waits, in turns: it varies the phases of a fine clock and of the front end of
/// the core.
const FEWEST_TURNS: f64 = 64.0;

/// The longest wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dither {
    turns: u32,
}

impl Dither {
    /// No waiting at all.
    pub fn none() -> Dither {
        Dither { turns: 0 }
    }

    /// Waiting for up to three quanta of a clock whose quantum is given in its own ticks.
    pub fn over(counter: impl Into<Counter>, quantum: u64) -> Dither {
        let Counter { read, width, .. } = counter.into();
        const TRIAL: u32 = 2_000;
        let best = (0..5)
            .map(|_| {
                let start = read();
                turn(TRIAL);
                width.signed(start, read()).max(0)
            })
            .min();
        let ticks_per_turn = best.unwrap_or(0) as f64 / f64::from(TRIAL);
        let turns = if ticks_per_turn > 0.0 {
            SPREAD_QUANTA * quantum as f64 / ticks_per_turn
        } else {
            MOST_TURNS
        };
        Dither { turns: turns.clamp(FEWEST_TURNS, MOST_TURNS) as u32 }
    }

    /// Waits for a part of the longest wait; `random` chooses the part.
    pub fn wait(&self, random: u32) {
        turn(((u64::from(random) * u64::from(self.turns)) >> 32) as u32);
    }
}

fn turn(turns: u32) {
    for at in 0..turns {
        std::hint::black_box(at);
    }
}
