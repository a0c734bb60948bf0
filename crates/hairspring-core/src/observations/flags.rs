//! Flags of one reading, as bits.

use serde::{Deserialize, Serialize};

/// Flags that cast doubt on one reading. A flagged reading stays in the table and is left out of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// The thread was preempted during the reading or its round.
    pub const SWITCHED: Flags = Flags(1);
    /// The reading is so far above similar readings that something else must have run during it.
    pub const GAP: Flags = Flags(2);
    /// The clock went backwards.
    pub const BACKWARD: Flags = Flags(4);
    /// The author of the file excluded this reading.
    pub const EXCLUDED: Flags = Flags(8);
    /// A control chain was off its known length in this stretch of time: something else used the core.
    pub const SHARED: Flags = Flags(16);

    const LETTERS: [(char, Flags); 5] =
        [('s', Self::SWITCHED), ('g', Self::GAP), ('b', Self::BACKWARD), ('x', Self::EXCLUDED), ('c', Self::SHARED)];

    /// Whether any flag is set.
    pub fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether all bits of `other` are set.
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of two sets of flags.
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// These flags without those of `other`.
    #[must_use]
    pub fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// The letters that stand for the flags in an observation file.
    pub fn letters(self) -> String {
        Self::LETTERS.iter().filter(|(_, flag)| self.contains(*flag)).map(|(letter, _)| letter).collect()
    }

    /// Reads the letters of an observation file.
    ///
    /// # Errors
    /// The first unknown letter.
    pub fn from_letters(text: &str) -> std::result::Result<Flags, char> {
        text.chars().filter(|c| !c.is_whitespace()).try_fold(Flags::NONE, |flags, letter| {
            let known = Self::LETTERS.iter().find(|(known, _)| *known == letter);
            known.map(|(_, flag)| flags.with(*flag)).ok_or(letter)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_round_trip() {
        for bits in 0..32 {
            let flags = Flags(bits);
            assert_eq!(Flags::from_letters(&flags.letters()), Ok(flags));
        }
        assert_eq!(Flags::from_letters("s?"), Err('?'));
    }
}
