//! What a chain uses of a core, whatever the instructions for it are called.

/// What a chain uses of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainRole {
    /// The multiplier of integers.
    Multiply,
    /// The simple units, by an operation of one cycle on two registers.
    Simple,
    /// An addition.
    Add,
    /// A rotation by a constant.
    Rotate,
    /// The number of bits that are set.
    CountBits,
    /// A load whose address is what the one before loaded.
    Load,
    /// The multiplier of floating-point numbers.
    FloatMultiply,
    /// The divider of floating-point numbers.
    FloatDivide,
    /// A simple operation, then a multiplication.
    SimpleMultiply,
    /// A multiplication between two simple operations.
    SimpleMultiplySimple,
    /// Two multiplications.
    TwoMultiplies,
    /// Two simple operations.
    TwoSimples,
}

impl ChainRole {
    /// Its name, for an architecture that has no chain for it.
    pub const fn name(self) -> &'static str {
        match self {
            ChainRole::Multiply => "multiply",
            ChainRole::Simple => "simple",
            ChainRole::Add => "add",
            ChainRole::Rotate => "rotate",
            ChainRole::CountBits => "count bits",
            ChainRole::Load => "load",
            ChainRole::FloatMultiply => "float multiply",
            ChainRole::FloatDivide => "float divide",
            ChainRole::SimpleMultiply => "simple+multiply",
            ChainRole::SimpleMultiplySimple => "simple+multiply+simple",
            ChainRole::TwoMultiplies => "multiply+multiply",
            ChainRole::TwoSimples => "simple+simple",
        }
    }

    /// The roles of the single instructions that a copy of the chain consists of.
    pub fn parts(self) -> Vec<ChainRole> {
        match self {
            ChainRole::SimpleMultiply => vec![ChainRole::Simple, ChainRole::Multiply],
            ChainRole::SimpleMultiplySimple => vec![ChainRole::Simple, ChainRole::Multiply, ChainRole::Simple],
            ChainRole::TwoMultiplies => vec![ChainRole::Multiply; 2],
            ChainRole::TwoSimples => vec![ChainRole::Simple; 2],
            single => vec![single],
        }
    }
}

/// Chains that find the unit: their lengths are coprime on every core seen so far.
pub const LATTICE: [ChainRole; 4] = [ChainRole::Multiply, ChainRole::Simple, ChainRole::SimpleMultiply, ChainRole::SimpleMultiplySimple];

/// The chain that runs beside every measurement.
pub const RULER: ChainRole = ChainRole::Multiply;

/// Chains that are measured with the ruler beside every measurement: if one does not come out at its length, something else
/// uses the core: its simple units, its load ports, its multiplier or its divider of floating-point numbers.
pub const CONTROLS: [ChainRole; 4] = [ChainRole::Simple, ChainRole::Load, ChainRole::FloatMultiply, ChainRole::FloatDivide];
