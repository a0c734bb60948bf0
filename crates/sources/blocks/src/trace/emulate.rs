//! Emulates the few instructions that begin and end functions: a single step would cost a stop of
//! the program and two writes to its code.

use super::process::{Process, Registers};
use crate::error::{Error, Result};
use iced_x86::{Code, Instruction, OpKind, Register};

/// Emulates an instruction and moves the process past it; returns `false` without any change for
/// other instructions.
///
/// # Errors
/// Registers or a stack that cannot be read or written.
pub fn emulate(process: &Process, instruction: &Instruction) -> Result<bool> {
    if !is_known(instruction) {
        return Ok(false);
    }
    let mut registers = process.registers()?;
    registers.rip = instruction.next_ip();
    match instruction.code() {
        Code::Retnq => {
            let mut to = [0u8; 8];
            if !process.read(registers.rsp, &mut to) {
                return Err(Error::system("follow the call", "the stack cannot be read"));
            }
            (registers.rip, registers.rsp) =
                (u64::from_ne_bytes(to), registers.rsp.wrapping_add(8));
        }
        Code::Push_r64 => {
            let Some(value) =
                general(&mut registers, instruction.op0_register()).map(|value| *value)
            else {
                return Ok(false);
            };
            registers.rsp = registers.rsp.wrapping_sub(8);
            process.write(registers.rsp, &value.to_ne_bytes())?;
        }
        Code::Endbr64 => {}
        _ => {
            let Some(value) =
                general(&mut registers, instruction.op1_register()).map(|value| *value)
            else {
                return Ok(false);
            };
            let Some(into) = general(&mut registers, instruction.op0_register()) else {
                return Ok(false);
            };
            // Writing the lower half clears the upper one.
            *into = if instruction.op0_register().is_gpr32() { value & 0xffff_ffff } else { value };
        }
    }
    process.set_registers(registers)?;
    Ok(true)
}

/// Where an indirect jump leads, from the registers and the memory of the process; `None` for other
/// instructions.
pub fn jump_target(
    process: &Process,
    instruction: &Instruction,
    registers: &Registers,
) -> Option<u64> {
    if instruction.code() != Code::Jmp_rm64 {
        return None;
    }
    let mut registers = *registers;
    if instruction.op0_kind() == OpKind::Register {
        return general(&mut registers, instruction.op0_register()).map(|value| *value);
    }
    let address = instruction.virtual_address(0, 0, |register, _, _| match register {
        Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
        Register::FS => Some(registers.fs_base),
        Register::GS => Some(registers.gs_base),
        // A 32-bit address uses the lower half.
        other => general(&mut registers, other)
            .map(|value| if other.is_gpr32() { *value & 0xffff_ffff } else { *value }),
    })?;
    let mut to = [0u8; 8];
    process.read(address, &mut to).then(|| u64::from_ne_bytes(to))
}

fn is_known(instruction: &Instruction) -> bool {
    let of_registers =
        instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register;
    match instruction.code() {
        Code::Retnq | Code::Push_r64 | Code::Endbr64 => true,
        Code::Mov_r64_rm64 | Code::Mov_rm64_r64 | Code::Mov_r32_rm32 | Code::Mov_rm32_r32 => {
            of_registers
        }
        _ => false,
    }
}

/// The value of a general register.
fn general(registers: &mut Registers, register: Register) -> Option<&mut u64> {
    Some(match register.full_register() {
        Register::RAX => &mut registers.rax,
        Register::RBX => &mut registers.rbx,
        Register::RCX => &mut registers.rcx,
        Register::RDX => &mut registers.rdx,
        Register::RSI => &mut registers.rsi,
        Register::RDI => &mut registers.rdi,
        Register::RBP => &mut registers.rbp,
        Register::RSP => &mut registers.rsp,
        Register::R8 => &mut registers.r8,
        Register::R9 => &mut registers.r9,
        Register::R10 => &mut registers.r10,
        Register::R11 => &mut registers.r11,
        Register::R12 => &mut registers.r12,
        Register::R13 => &mut registers.r13,
        Register::R14 => &mut registers.r14,
        Register::R15 => &mut registers.r15,
        _ => return None,
    })
}
