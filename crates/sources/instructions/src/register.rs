//! Registers by file, size and number.

use iced_x86::Register;

/// Registers between which values move within one file at the latency of an instruction alone. A
/// value that moves from one file to another needs an instruction for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum File {
    /// General registers.
    General,
    /// Vector registers.
    Vector,
    /// Mask registers.
    Mask,
    /// The flags of arithmetic.
    Flags,
    /// The buffer, whose places have numbers as registers have.
    Memory,
}

/// Part of a register that an operand uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Size {
    /// 8 bits of a general register.
    R8,
    /// 16 bits of a general register.
    R16,
    /// 32 bits of a general register.
    R32,
    /// A general register.
    R64,
    /// 128 bits of a vector register.
    Xmm,
    /// 256 bits of a vector register.
    Ymm,
    /// 512 bits of a vector register.
    Zmm,
    /// A mask register.
    Mask,
}

impl Size {
    /// The register file.
    pub fn file(self) -> File {
        match self {
            Size::R8 | Size::R16 | Size::R32 | Size::R64 => File::General,
            Size::Xmm | Size::Ymm | Size::Zmm => File::Vector,
            Size::Mask => File::Mask,
        }
    }

    /// The name in the name of a form.
    pub fn name(self) -> &'static str {
        match self {
            Size::R8 => "r8",
            Size::R16 => "r16",
            Size::R32 => "r32",
            Size::R64 => "r64",
            Size::Xmm => "xmm",
            Size::Ymm => "ymm",
            Size::Zmm => "zmm",
            Size::Mask => "k",
        }
    }

    /// Whether a write leaves the rest of the register as it was, so that it also reads the
    /// register.
    pub fn merges(self) -> bool {
        matches!(self, Size::R8 | Size::R16)
    }

    /// The register of a number.
    pub fn register(self, number: u8) -> Register {
        let number = u32::from(number);
        match self {
            // The registers after BL in the list are the high halves of the first four.
            Size::R8 if number < 4 => Register::AL + number,
            Size::R8 => Register::AL + (number + 4),
            Size::R16 => Register::AX + number,
            Size::R32 => Register::EAX + number,
            Size::R64 => Register::RAX + number,
            Size::Xmm => Register::XMM0 + number,
            Size::Ymm => Register::YMM0 + number,
            Size::Zmm => Register::ZMM0 + number,
            Size::Mask => Register::K0 + number,
        }
    }
}

/// The file and number of a register; `None` for other registers than those of [`File`].
pub fn place(register: Register) -> Option<(File, u8)> {
    let full = register.full_register();
    let number = full.number() as u8;
    if full.is_gpr64() {
        Some((File::General, number))
    } else if full.is_vector_register() {
        Some((File::Vector, number))
    } else if full.is_k() {
        Some((File::Mask, number))
    } else {
        None
    }
}

/// Numbers of the registers whose values change from copy to copy. The stack pointer is not among
/// them.
pub fn changing(file: File) -> &'static [u8] {
    match file {
        File::General => &[3, 6, 7, 8, 9, 10, 11, 12, 13, 5, 1, 2, 0],
        File::Vector => &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        File::Mask => &[1, 2, 3, 4, 5],
        File::Flags => &[],
        // From the middle outwards, where displacements are short, odd and even in turns, so that
        // successive places are in different halves of their lines: Redwood Cove reads three places
        // in a cycle, but not three in the same half. The last ones are for chains: the middle
        // needs none.
        File::Memory => &[9, 6, 7, 10, 5, 4, 11, 12, 3, 2, 13, 14, 1, 8],
    }
}

/// Numbers of the further registers of a file that only the encoding with EVEX reaches.
pub fn further(file: File) -> &'static [u8] {
    match file {
        File::Vector => &[16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
        _ => &[],
    }
}

/// Numbers of the registers that keep their first values.
pub fn constant(file: File) -> &'static [u8] {
    match file {
        File::General => &[15, 14],
        File::Vector => &[15, 14, 13],
        File::Mask => &[7, 6],
        File::Flags | File::Memory => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_every_size_have_their_number() {
        for size in [Size::R8, Size::R16, Size::R32, Size::R64, Size::Xmm, Size::Ymm, Size::Zmm] {
            let numbers = (0..16).filter(|number| *number != 4 || size.file() == File::Vector);
            for number in numbers.chain(further(size.file()).iter().copied()) {
                assert_eq!(place(size.register(number)), Some((size.file(), number)), "{size:?}");
            }
        }
        assert_eq!(place(Size::Mask.register(7)), Some((File::Mask, 7)));
        assert_eq!((Size::R8.register(6), place(Register::ST0)), (Register::SIL, None));
    }

    #[test]
    fn changing_registers_are_not_constant_and_not_the_stack_pointer() {
        for file in [File::General, File::Vector, File::Mask] {
            assert!(changing(file).iter().all(|number| !constant(file).contains(number)));
            assert!(file != File::General || !changing(file).contains(&4));
        }
    }
}
