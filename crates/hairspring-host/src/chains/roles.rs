//! Roles of chains: the part of a core that a chain uses, independent of the names of its
//! instructions.

/// The part of a core that a chain uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainRole {
    /// The integer multiplier.
    Multiply,
    /// The simple integer units, by an operation of one cycle on two registers.
    Simple,
    /// Addition.
    Add,
    /// Rotation by a constant.
    Rotate,
    /// Counting the set bits.
    CountBits,
    /// The load ports, by loads from an address that the previous load returned.
    Load,
    /// The floating-point multiplier.
    FloatMultiply,
    /// The floating-point divider.
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
    /// The name of the role, used on architectures without a chain for it.
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

    /// The kind of units that a chain of one instruction uses, by its name in tables of
    /// observations.
    pub const fn unit(self) -> Option<&'static str> {
        match self {
            ChainRole::Multiply => Some("multiply"),
            ChainRole::Simple | ChainRole::Add | ChainRole::Rotate | ChainRole::CountBits => {
                Some("simple")
            }
            ChainRole::Load => Some("load"),
            ChainRole::FloatMultiply => Some("float"),
            ChainRole::FloatDivide => Some("divide"),
            _ => None,
        }
    }

    /// The roles of the single instructions that a copy of the chain consists of.
    pub fn parts(self) -> Vec<ChainRole> {
        match self {
            ChainRole::SimpleMultiply => vec![ChainRole::Simple, ChainRole::Multiply],
            ChainRole::SimpleMultiplySimple => {
                vec![ChainRole::Simple, ChainRole::Multiply, ChainRole::Simple]
            }
            ChainRole::TwoMultiplies => vec![ChainRole::Multiply; 2],
            ChainRole::TwoSimples => vec![ChainRole::Simple; 2],
            single => vec![single],
        }
    }
}

/// Chains that determine the length of a core cycle: their lengths are coprime on every core tested
/// so far.
pub const LATTICE: [ChainRole; 4] = [
    ChainRole::Multiply,
    ChainRole::Simple,
    ChainRole::SimpleMultiply,
    ChainRole::SimpleMultiplySimple,
];

/// The reference chain, which runs in the same rounds as every measurement.
pub const RULER: ChainRole = ChainRole::Multiply;

/// Control chains, which run in the same rounds as every measurement. If one is not measured at its
/// known length, something else uses the core: its simple units, its load ports, its floating-point
/// multiplier or divider.
pub const CONTROLS: [ChainRole; 4] =
    [ChainRole::Simple, ChainRole::Load, ChainRole::FloatMultiply, ChainRole::FloatDivide];
