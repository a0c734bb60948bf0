//! What a chain uses of a core, whatever the instructions for it are called.

/// What a chain uses of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
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

impl Role {
    /// Its name, for an architecture that has no chain for it.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Multiply => "multiply",
            Role::Simple => "simple",
            Role::Add => "add",
            Role::Rotate => "rotate",
            Role::CountBits => "count bits",
            Role::Load => "load",
            Role::FloatMultiply => "float multiply",
            Role::FloatDivide => "float divide",
            Role::SimpleMultiply => "simple+multiply",
            Role::SimpleMultiplySimple => "simple+multiply+simple",
            Role::TwoMultiplies => "multiply+multiply",
            Role::TwoSimples => "simple+simple",
        }
    }

    /// The roles of the single instructions that a copy of the chain consists of.
    pub fn parts(self) -> Vec<Role> {
        match self {
            Role::SimpleMultiply => vec![Role::Simple, Role::Multiply],
            Role::SimpleMultiplySimple => vec![Role::Simple, Role::Multiply, Role::Simple],
            Role::TwoMultiplies => vec![Role::Multiply; 2],
            Role::TwoSimples => vec![Role::Simple; 2],
            single => vec![single],
        }
    }
}

/// Chains that find the unit: their lengths are coprime on every core seen so far.
pub const LATTICE: [Role; 4] = [Role::Multiply, Role::Simple, Role::SimpleMultiply, Role::SimpleMultiplySimple];

/// The chain that runs beside every measurement.
pub const RULER: Role = Role::Multiply;

/// Chains that are measured with the ruler beside every measurement: if one does not come out at its length, something else
/// uses the core: its simple units, its load ports, its multiplier or its divider of floating-point numbers.
pub const CONTROLS: [Role; 4] = [Role::Simple, Role::Load, Role::FloatMultiply, Role::FloatDivide];
