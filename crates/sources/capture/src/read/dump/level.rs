//! The level of the channel, and its edges.

use crate::edge::Edge;
use crate::read::samples::Levels as Changes;

/// Larger times are not exact in a double.
pub(in crate::read) const MOST_TIME: u64 = 1 << 53;

/// The time and the level so far.
#[derive(Debug, Default)]
pub(in crate::read) struct Levels {
    pub(in crate::read) time: u64,
    /// Whether the dump is off: the level is undefined, whatever values are written.
    is_off: bool,
    pub(in crate::read) changes: Changes,
}

impl Levels {
    /// Takes that the dump is off or on from here on. Icarus Verilog writes the changes at the time
    /// of `$dumpoff` behind it.
    pub(in crate::read) fn switch(&mut self, is_on: bool, sink: &mut dyn FnMut(Edge)) {
        if !is_on {
            self.set(b'x', sink);
        }
        self.is_off = !is_on;
    }

    /// Takes a value at the time. GHDL writes the nine values of IEEE 1164 as they are.
    #[inline]
    pub(in crate::read) fn set(&mut self, value: u8, sink: &mut dyn FnMut(Edge)) {
        let level = match value {
            _ if self.is_off => None,
            b'0' | b'l' | b'L' => Some(false),
            b'1' | b'h' | b'H' => Some(true),
            _ => None,
        };
        match level {
            Some(high) => self.changes.change(high, self.time as f64, sink),
            None => self.changes.lost(self.time as f64),
        }
    }
}

/// The value of a port's state (IEEE 1364, extended dumps): low and high driven from outside, from
/// inside or from both sides; all others are undefined.
pub(in crate::read) fn level_of_port(state: &u8) -> u8 {
    match state {
        b'D' | b'd' | b'L' | b'l' | b'0' => b'0',
        b'U' | b'u' | b'H' | b'h' | b'1' => b'1',
        _ => b'x',
    }
}
