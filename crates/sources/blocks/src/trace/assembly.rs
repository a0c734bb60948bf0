//! Machine code that is put together piece by piece, at the address where it will run.

use iced_x86::{Encoder, Instruction};

/// Bytes of code from an address on.
#[derive(Debug, Clone)]
pub struct Assembly {
    place: u64,
    bytes: Vec<u8>,
}

impl Assembly {
    /// Code that will begin at an address.
    pub fn at(place: u64) -> Assembly {
        Assembly { place, bytes: Vec::new() }
    }

    /// The address behind it.
    pub fn here(&self) -> u64 {
        self.place + self.bytes.len() as u64
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds bytes.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds an instruction that ends with the distance to an address.
    pub fn relative(&mut self, start: &[u8], to: u64) {
        let next = self.here() + start.len() as u64 + 4;
        self.raw(start);
        self.raw(&(to.wrapping_sub(next) as u32).to_le_bytes());
    }

    /// Adds an instruction that ends with a distance that is not known yet; returns where it
    /// stands.
    pub fn open(&mut self, start: &[u8]) -> usize {
        self.relative(start, 0);
        self.bytes.len() - 4
    }

    /// Fills in a distance that was left open.
    pub fn close(&mut self, at: usize, to: u64) {
        let next = self.place + at as u64 + 4;
        self.bytes[at..at + 4].copy_from_slice(&(to.wrapping_sub(next) as u32).to_le_bytes());
    }

    /// Fills in a distance of one byte, from behind it to here; `false` if it is too far.
    pub fn close_short(&mut self, at: usize) -> bool {
        let distance = i8::try_from(self.bytes.len() - at - 1);
        self.bytes[at] = distance.unwrap_or(0) as u8;
        distance.is_ok()
    }

    /// Adds an instruction as it has to be encoded here; `false` if it cannot be, because what it
    /// refers to is too far away.
    pub fn instruction(&mut self, instruction: &Instruction) -> bool {
        let mut encoder = Encoder::new(64);
        let done = encoder.encode(instruction, self.here()).is_ok();
        if done {
            self.bytes.extend(encoder.take_buffer());
        }
        done
    }

    /// Jumps to an address anywhere.
    pub fn jump_far(&mut self, to: u64) {
        // jmp [rip]
        self.raw(&[0xff, 0x25, 0, 0, 0, 0]);
        self.raw(&to.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    #[test]
    fn distances_are_filled_in() {
        let mut code = Assembly::at(0x1000);
        let open = code.open(&[0xe9]);
        code.raw(&[0xeb, 0]);
        let short = code.bytes().len() - 1;
        code.relative(&[0xe9], 0x1000);
        assert!(code.close_short(short));
        code.close(open, 0x2000);
        let targets: Vec<u64> = Decoder::with_ip(64, code.bytes(), 0x1000, DecoderOptions::NONE)
            .iter()
            .map(|one| one.near_branch_target())
            .collect();
        assert_eq!(targets, [0x2000, code.here(), 0x1000]);
    }

    #[test]
    fn what_refers_to_its_own_address_refers_to_the_same_elsewhere() {
        // lea rax, [rip + 0x10]
        let bytes = [0x48, 0x8d, 0x05, 0x10, 0, 0, 0];
        let lea = Decoder::with_ip(64, &bytes, 0x5000, DecoderOptions::NONE).decode();
        let mut near = Assembly::at(0x9000);
        assert!(near.instruction(&lea));
        let moved = Decoder::with_ip(64, near.bytes(), 0x9000, DecoderOptions::NONE).decode();
        assert_eq!(moved.ip_rel_memory_address(), 0x5017);
        let mut far = Assembly::at(0x9000_0000_0000);
        assert!(!far.instruction(&lea) && far.bytes().is_empty());
    }
}
