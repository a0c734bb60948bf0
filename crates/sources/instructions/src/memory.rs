//! The buffer that forms with a memory operand read and write: its places by number, and what is in
//! it.

use crate::form::{Element, Form};
use crate::register::File;
use crate::values::{Values, in_memory};
use hairspring_host::chains::{BUFFER_LINES, Buffer, LINE_BYTES};
use iced_x86::Code::*;
use iced_x86::{Code, Register};

/// The general register that points to the buffer in all copies that do not compute its address.
pub const BASE: u8 = 15;
/// Another register with the same address.
pub const OTHER_BASE: u8 = 12;
/// A general register that is zero.
pub const ZERO: u8 = 13;
/// The line in the middle of the buffer, which the base points to.
const MIDDLE_LINE: u8 = (BUFFER_LINES / 2) as u8;
/// The first number of a place in the middle line.
const IN_LINE: u8 = BUFFER_LINES as u8;

/// Forms of the set `memory`: loads, loads with an operation, stores, and both.
pub const MEMORY: &[Code] = &[
    Mov_r64_rm64,
    Mov_r32_rm32,
    Movzx_r32_rm8,
    Movzx_r32_rm16,
    Movsx_r64_rm8,
    Movsx_r64_rm16,
    Movsxd_r64_rm32,
    Add_r64_rm64,
    Add_r32_rm32,
    Sub_r64_rm64,
    And_r64_rm64,
    Xor_r64_rm64,
    Imul_r64_rm64,
    Imul_r32_rm32,
    Cmp_r64_rm64,
    Cmp_rm64_imm8,
    Popcnt_r64_rm64,
    VEX_Shlx_r64_rm64_r64,
    Mov_rm64_r64,
    Mov_rm32_r32,
    Mov_rm16_r16,
    Mov_rm8_r8,
    Mov_rm64_imm32,
    Add_rm64_r64,
    Add_rm32_r32,
    Add_rm64_imm8,
    Sub_rm64_r64,
    And_rm64_r64,
    Inc_rm64,
    Dec_rm64,
    Neg_rm64,
    Not_rm64,
    Movss_xmm_xmmm32,
    Movsd_xmm_xmmm64,
    Movups_xmm_xmmm128,
    Movaps_xmm_xmmm128,
    Movdqu_xmm_xmmm128,
    Addsd_xmm_xmmm64,
    Mulsd_xmm_xmmm64,
    Addss_xmm_xmmm32,
    Mulss_xmm_xmmm32,
    Paddd_xmm_xmmm128,
    Movss_xmmm32_xmm,
    Movsd_xmmm64_xmm,
    Movups_xmmm128_xmm,
    Movaps_xmmm128_xmm,
    VEX_Vmovss_xmm_m32,
    VEX_Vmovsd_xmm_m64,
    VEX_Vmovups_xmm_xmmm128,
    VEX_Vmovups_ymm_ymmm256,
    VEX_Vbroadcastss_ymm_m32,
    VEX_Vbroadcastsd_ymm_m64,
    VEX_Vbroadcastf128_ymm_m128,
    VEX_Vaddsd_xmm_xmm_xmmm64,
    VEX_Vaddpd_ymm_ymm_ymmm256,
    VEX_Vmulpd_ymm_ymm_ymmm256,
    VEX_Vandpd_ymm_ymm_ymmm256,
    VEX_Vpaddd_ymm_ymm_ymmm256,
    VEX_Vfmadd231sd_xmm_xmm_xmmm64,
    VEX_Vfmadd231pd_ymm_ymm_ymmm256,
    VEX_Vmovss_m32_xmm,
    VEX_Vmovsd_m64_xmm,
    VEX_Vmovups_xmmm128_xmm,
    VEX_Vmovups_ymmm256_ymm,
];

/// Forms of the set `memory512`.
pub const MEMORY512: &[Code] = &[
    EVEX_Vmovups_zmm_k1z_zmmm512,
    EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
    EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
    EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
    EVEX_Vmovups_zmmm512_k1z_zmm,
];

/// Displacement of a place for operands of so many bytes. Numbers below the number of lines are
/// places on separate lines, at different offsets: some cores have banks, which two reads at the
/// same offset of different lines share. Higher numbers are places next to each other in the middle
/// line, over and over.
pub fn displacement(number: u8, bytes: usize) -> i32 {
    let (line, column) = match number.checked_sub(IN_LINE) {
        None => (i32::from(number) - i32::from(MIDDLE_LINE), usize::from(number ^ MIDDLE_LINE)),
        Some(column) => (0, usize::from(column)),
    };
    line * LINE_BYTES as i32 + (column * bytes % LINE_BYTES) as i32
}

/// Number of the place of a copy whose copies share one line.
pub fn in_line(copy: usize) -> u8 {
    IN_LINE + (copy % LINE_BYTES) as u8
}

/// The buffer for a form with ordinary or special values; `None` if it uses no memory.
pub fn buffer(form: &Form, values: Values) -> Option<Buffer> {
    form.memory()?;
    let is_address = form.element == Element::Integer;
    let word = if is_address { 0 } else { in_memory(form, values) };
    let pointers =
        (0..16).filter(|number| *number != ZERO).fold(0, |all, number| all | 1 << number);
    Some(Buffer { word, holds_address: is_address, pointers })
}

/// The instruction that stores a register of a file, or loads one, and as many bytes; in the
/// encoding with VEX if wanted.
pub fn plain_move(from: File, to: File, bytes: usize, vex: bool) -> Option<Code> {
    Some(match (from, to, bytes) {
        (File::General, File::Memory, 1) => Mov_rm8_r8,
        (File::General, File::Memory, 2) => Mov_rm16_r16,
        (File::General, File::Memory, 4) => Mov_rm32_r32,
        (File::General, File::Memory, 8) => Mov_rm64_r64,
        (File::Memory, File::General, 1) => Movzx_r32_rm8,
        (File::Memory, File::General, 2) => Movzx_r32_rm16,
        (File::Memory, File::General, 4) => Mov_r32_rm32,
        (File::Memory, File::General, 8) => Mov_r64_rm64,
        (File::Vector, File::Memory, 64) => EVEX_Vmovups_zmmm512_k1z_zmm,
        (File::Memory, File::Vector, 64) => EVEX_Vmovups_zmm_k1z_zmmm512,
        (File::Vector, File::Memory, 32) => VEX_Vmovups_ymmm256_ymm,
        (File::Memory, File::Vector, 32) => VEX_Vmovups_ymm_ymmm256,
        (File::Vector, File::Memory, 16) if vex => VEX_Vmovups_xmmm128_xmm,
        (File::Memory, File::Vector, 16) if vex => VEX_Vmovups_xmm_xmmm128,
        (File::Vector, File::Memory, 8) if vex => VEX_Vmovsd_m64_xmm,
        (File::Memory, File::Vector, 8) if vex => VEX_Vmovsd_xmm_m64,
        (File::Vector, File::Memory, 4) if vex => VEX_Vmovss_m32_xmm,
        (File::Memory, File::Vector, 4) if vex => VEX_Vmovss_xmm_m32,
        (File::Vector, File::Memory, 16) => Movups_xmmm128_xmm,
        (File::Memory, File::Vector, 16) => Movups_xmm_xmmm128,
        (File::Vector, File::Memory, 8) => Movsd_xmmm64_xmm,
        (File::Memory, File::Vector, 8) => Movsd_xmm_xmmm64,
        (File::Vector, File::Memory, 4) => Movss_xmmm32_xmm,
        (File::Memory, File::Vector, 4) => Movss_xmm_xmmm32,
        _ => return None,
    })
}

/// The base register of an operand in memory, in place of the usual one.
pub fn with_base(mut instruction: iced_x86::Instruction, base: u8) -> iced_x86::Instruction {
    if instruction.memory_base() != Register::None {
        instruction.set_memory_base(crate::register::Size::R64.register(base));
    }
    instruction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_in_the_buffer_and_in_one_line_each() {
        for bytes in [1, 2, 4, 8, 16, 32, 64] {
            let mut lines = std::collections::BTreeSet::new();
            for number in 0..IN_LINE {
                let start = displacement(number, bytes) + i32::from(MIDDLE_LINE) * 64;
                assert!(
                    start >= 0 && start % bytes as i32 == 0 && start % 64 + bytes as i32 <= 64,
                    "{number} {bytes}"
                );
                assert!(
                    lines.insert(start / 64) && start < 64 * i32::from(IN_LINE),
                    "{number} {bytes}"
                );
            }
            for place in (0..200).map(in_line) {
                assert!(
                    (0..=64 - bytes as i32).contains(&displacement(place, bytes)),
                    "{place} {bytes}"
                );
            }
        }
        assert_eq!(
            (displacement(8, 8), displacement(8, 32), displacement(9, 8), displacement(6, 64)),
            (0, 0, 72, -128)
        );
        assert_eq!(
            (0..3).map(|copy| displacement(in_line(copy), 16)).collect::<Vec<_>>(),
            [0, 16, 32]
        );
    }

    #[test]
    fn every_store_has_its_load() {
        for (file, sizes) in
            [(File::General, &[1, 2, 4, 8][..]), (File::Vector, &[4, 8, 16, 32, 64])]
        {
            for (bytes, vex) in sizes.iter().flat_map(|bytes| [(*bytes, false), (*bytes, true)]) {
                for (from, to) in [(file, File::Memory), (File::Memory, file)] {
                    let code = plain_move(from, to, bytes, vex)
                        .unwrap_or_else(|| panic!("{from:?} {to:?} {bytes}"));
                    assert_eq!(code.op_code().memory_size().size(), bytes, "{code:?}");
                }
            }
        }
        assert_eq!(plain_move(File::Mask, File::Memory, 8, true), None);
    }
}
