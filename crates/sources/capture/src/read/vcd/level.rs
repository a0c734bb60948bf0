//! The level of the channel, and its edges.

use crate::edge::Edge;

/// The time and the level so far.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    pub(crate) time: u64,
    /// The level, if defined.
    level: Option<bool>,
    pub(crate) edges: u64,
    /// How often the level became undefined, and when it first did.
    pub(crate) undefined: (u64, f64),
}

impl Levels {
    /// Takes a value at the time. GHDL writes the nine values of IEEE 1164 as they are.
    #[inline]
    pub(crate) fn set(&mut self, value: u8, sink: &mut dyn FnMut(Edge)) {
        let level = match value {
            b'0' | b'l' | b'L' => Some(false),
            b'1' | b'h' | b'H' => Some(true),
            _ => None,
        };
        match (self.level, level) {
            (Some(before), Some(now)) if before != now => {
                self.edges += 1;
                sink(Edge { at: self.time as f64, rising: now });
            }
            (Some(_), None) => {
                if self.undefined.0 == 0 {
                    self.undefined.1 = self.time as f64;
                }
                self.undefined.0 += 1;
            }
            _ => (),
        }
        self.level = level;
    }
}
