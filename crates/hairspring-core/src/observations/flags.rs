//! Flags of one reading, as bits.

use serde::{Deserialize, Serialize};

/// What is known about one reading. A reading with a doubt stays in the table and is left out of
/// the fit; denormals and waiting are no doubt, because the code did so in this time.
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
    /// The author of the file excluded this reading, or its placement is left out.
    pub const EXCLUDED: Flags = Flags(8);
    /// Something else used the core, by the word of who wrote the file.
    pub const SHARED: Flags = Flags(16);

    /// A floating-point instruction of the row had a denormal operand. No doubt about the reading.
    pub const DENORMAL_OPERAND: Flags = Flags(32);
    /// A floating-point instruction of the row had a result too small for a normal number. No doubt
    /// about the reading.
    pub const DENORMAL_RESULT: Flags = Flags(64);
    /// The code waited, and gave the CPU to others meanwhile. No doubt about the reading.
    pub const WAITED: Flags = Flags(128);
    /// Flags that are no doubt about a reading.
    const NO_DOUBTS: Flags = Flags(Self::DENORMALS.0 | Self::WAITED.0);
    /// Both kinds of denormals.
    const DENORMALS: Flags = Flags(Self::DENORMAL_OPERAND.0 | Self::DENORMAL_RESULT.0);

    const LETTERS: [(char, Flags); 8] = [
        ('s', Self::SWITCHED),
        ('g', Self::GAP),
        ('b', Self::BACKWARD),
        ('x', Self::EXCLUDED),
        ('c', Self::SHARED),
        ('d', Self::DENORMAL_OPERAND),
        ('u', Self::DENORMAL_RESULT),
        ('w', Self::WAITED),
    ];

    /// Whether any flag casts doubt on the reading.
    pub fn any(self) -> bool {
        self.without(Self::NO_DOUBTS).0 != 0
    }

    /// Whether the row met denormals.
    pub fn has_denormals(self) -> bool {
        self.0 & Self::DENORMALS.0 != 0
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
        Self::LETTERS
            .iter()
            .filter(|(_, flag)| self.contains(*flag))
            .map(|(letter, _)| letter)
            .collect()
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
        for bits in 0..128 {
            let flags = Flags(bits);
            assert_eq!(Flags::from_letters(&flags.letters()), Ok(flags));
        }
        assert_eq!(Flags::from_letters("s?"), Err('?'));
    }

    #[test]
    fn denormals_are_no_doubt() {
        let denormals = Flags::DENORMAL_OPERAND.with(Flags::DENORMAL_RESULT);
        assert!(denormals.has_denormals() && !denormals.any());
        assert!(denormals.with(Flags::GAP).any() && !Flags::GAP.has_denormals());
    }
}
