//! The values with which registers begin: ordinary numbers, so that no instruction needs help from microcode and no division
//! faults.

use crate::form::{Element, Form, Slot};
use crate::register::{File, Size, constant};
use hairspring_host::chains::Registers;

/// The values that numbers in registers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Values {
    /// Numbers near 1 with all bits in use.
    #[default]
    Ordinary,
    /// Zero.
    Zero,
    /// One.
    One,
    /// The smallest numbers, which some cores handle by microcode.
    Denormal,
}

impl Values {
    /// Those that a form is compared with.
    pub const SPECIAL: [Values; 3] = [Values::Zero, Values::One, Values::Denormal];

    /// Their name.
    pub fn name(self) -> &'static str {
        match self {
            Values::Ordinary => "ordinary",
            Values::Zero => "zero",
            Values::One => "one",
            Values::Denormal => "denormal",
        }
    }
}

/// An integer of 64 bits that is also an ordinary number of 64 bits and two of 32 bits. Its lowest byte is a shift count.
const PATTERN: u64 = 0x3ff8_1234_3f98_9a25;

/// Register numbers of a division: the divisor, and copies of the dividend's halves.
pub const DIVISOR: u8 = 12;

/// A dividend and a divisor whose quotient and remainder are the dividend's halves again. With `B` for the number of values of
/// a register, `quotient * divisor + remainder = remainder * B + quotient` holds if `divisor - 1` divides `B - 1`.
fn division(bits: u32) -> (u64, u64, u64) {
    let remainder: u64 = if bits == 64 { 0x0123_4567_89ab_cdef } else { 0x0123_4567 };
    let all_ones = if bits == 64 { u64::MAX } else { u64::from(u32::MAX) };
    (3 * remainder, remainder, all_ones / 3 + 1)
}

/// The first values of all registers for a form.
pub fn registers(form: &Form, values: Values) -> Registers {
    let mut general: [u64; 16] = std::array::from_fn(|at| PATTERN + ((at as u64) << 33));
    if form.divides_integers() {
        let is_64 = form.operands.iter().any(|operand| matches!(operand.slot, Slot::Free(_, Size::R64)));
        let (quotient, remainder, divisor) = division(if is_64 { 64 } else { 32 });
        (general[0], general[2], general[usize::from(DIVISOR)]) = (quotient, remainder, divisor);
        (general[15], general[14]) = (quotient, remainder);
    }
    // Roots of roots come to one, sooner or later; a chain must not change on its way.
    let values = if values == Values::Ordinary && form.name.contains("sqrt") { Values::One } else { values };
    let vector = |at: usize| {
        let is_constant = constant(File::Vector).contains(&(at as u8));
        // What is added to zero or to a denormal number is zero, so that the number stays what it is.
        let is_zero = is_constant && adds(form) && matches!(values, Values::Zero | Values::Denormal);
        [if is_zero { 0 } else { lane(form.element, values, is_constant) }; 8]
    };
    Registers { vectors: std::array::from_fn(vector), general, masks: [u64::MAX; 8] }
}

/// Whether a form adds its operands, and does not only multiply them.
fn adds(form: &Form) -> bool {
    ["add", "sub"].iter().any(|part| form.name.split(' ').next().is_some_and(|mnemonic| mnemonic.contains(part)))
}

/// 64 bits of a vector. Registers that keep their values are so close to 1 that products and quotients stay ordinary.
fn lane(element: Element, values: Values, is_constant: bool) -> u64 {
    let double = |value: f64| value.to_bits();
    let single = |value: f32| u64::from(value.to_bits()) * 0x1_0000_0001;
    let half = |bits: u16| u64::from(bits) * 0x1_0001_0001_0001;
    match (element, values) {
        (Element::Integer, Values::Zero) => 0,
        (Element::Integer, Values::One) => 0x1_0000_0001,
        (Element::Integer, _) => PATTERN,
        (_, Values::Zero) if !is_constant => 0,
        (Element::Double, Values::Zero | Values::One) => double(1.0),
        (Element::Single, Values::Zero | Values::One) => single(1.0),
        (Element::Half, Values::Zero | Values::One) => half(0x3c00),
        (Element::Double, Values::Denormal) if !is_constant => double(1.3e-310),
        (Element::Single, Values::Denormal) if !is_constant => single(1.3e-40),
        (Element::Half, Values::Denormal) if !is_constant => half(0x0155),
        (Element::Double, _) => double(if is_constant { 1.000_000_119 } else { 1.537_391_842 }),
        (Element::Single, _) => single(if is_constant { 1.000_119 } else { 1.537_391_8 }),
        (Element::Half, _) => half(if is_constant { 0x3c01 } else { 0x3e27 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_gives_its_own_dividend() {
        let (quotient, remainder, divisor) = division(64);
        let dividend = (u128::from(remainder) << 64) + u128::from(quotient);
        assert_eq!((dividend / u128::from(divisor), dividend % u128::from(divisor)), (u128::from(quotient), u128::from(remainder)));
        let (quotient, remainder, divisor) = division(32);
        let dividend = (remainder << 32) + quotient;
        assert_eq!((dividend / divisor, dividend % divisor), (quotient, remainder));
        // Signed divisions take the same values.
        assert!(i32::try_from(quotient).is_ok() && i32::try_from(divisor).is_ok());
    }

    #[test]
    fn numbers_are_ordinary_and_stay_so() {
        let ordinary = |element, constant| lane(element, Values::Ordinary, constant);
        assert!(f64::from_bits(ordinary(Element::Double, true)).powi(1024) < 1.001);
        assert!(f32::from_bits(ordinary(Element::Single, true) as u32).powi(1024) < 1.2);
        assert!(f64::from_bits(PATTERN).is_normal() && f32::from_bits(PATTERN as u32).is_normal());
        assert!(f32::from_bits((PATTERN >> 32) as u32).is_normal());
        let denormal = lane(Element::Double, Values::Denormal, false);
        assert!(f64::from_bits(denormal).is_subnormal());
        assert!(f32::from_bits(lane(Element::Single, Values::Denormal, false) as u32).is_subnormal());
        assert_eq!(lane(Element::Double, Values::Zero, false), 0);
    }
}
