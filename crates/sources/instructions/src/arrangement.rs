//! Where the operands in memory of a series are, as far as it may make a difference.

/// How copies use memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Arrangement {
    /// A chain uses one place through one register; independent copies use separate lines of the
    /// cache.
    #[default]
    Usual,
    /// What reads a place has its address from another register than what wrote it.
    OtherBase,
    /// The place that is read was written just before, with a value that is known long before.
    JustStored,
    /// Independent copies use one line of the cache.
    OneLine,
}

impl Arrangement {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Arrangement::Usual => "usual",
            Arrangement::OtherBase => "other base",
            Arrangement::JustStored => "just stored",
            Arrangement::OneLine => "one line",
        }
    }

    /// What is different, as the beginning of a sentence.
    pub fn condition(self) -> &'static str {
        match self {
            Arrangement::Usual => "with one address in one register",
            Arrangement::OtherBase => {
                "where the address comes from another register than that of the store"
            }
            Arrangement::JustStored => "where the place was written just before",
            Arrangement::OneLine => "where all copies write to one line of the cache",
        }
    }
}
