//! The values with which registers begin: ordinary numbers, so that no instruction needs help from
//! microcode and no division faults.

use crate::form::{Element, Form, Slot};
use crate::helper::after_root;
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
    /// Numbers whose bits are random, the same in every run.
    Random,
    /// The smallest numbers, which some cores handle by microcode.
    Denormal,
}

impl Values {
    /// Those that a form is compared with. Integers have no denormal values.
    pub fn special(element: Element) -> &'static [Values] {
        const ALL_VALUES: [Values; 4] =
            [Values::Zero, Values::One, Values::Random, Values::Denormal];
        if element == Element::Integer { &ALL_VALUES[..3] } else { &ALL_VALUES }
    }

    /// Their name.
    pub fn name(self) -> &'static str {
        match self {
            Values::Ordinary => "ordinary",
            Values::Zero => "zero",
            Values::One => "one",
            Values::Random => "random",
            Values::Denormal => "denormal",
        }
    }
}

/// An integer of 64 bits that is also an ordinary number of 64 bits and two of 32 bits. Its lowest
/// byte is a shift count.
const PATTERN: u64 = 0x3ff8_1234_3f98_9a25;

/// Register numbers of a division: the divisor, and copies of the dividend's halves.
pub const DIVISOR: u8 = 12;

/// A dividend and a divisor whose quotient and remainder are the dividend's halves again. With `B`
/// for the number of values of a register,
/// `quotient * divisor + remainder = remainder * B + quotient` holds if `divisor - 1` divides
/// `B - 1`.
fn division(bits: u32) -> (u64, u64, u64) {
    let remainder: u64 = if bits == 64 { 0x0123_4567_89ab_cdef } else { 0x0123_4567 };
    let all_ones = if bits == 64 { u64::MAX } else { u64::from(u32::MAX) };
    (3 * remainder, remainder, all_ones / 3 + 1)
}

/// A quotient, a remainder and a divisor that give themselves again. Random ones do not, so
/// ordinary ones stand for them.
fn repeating_division(form: &Form, values: Values) -> (u64, u64, u64) {
    let is_64 =
        form.operands.iter().any(|operand| matches!(operand.slot, Slot::Free(_, Size::R64)));
    match values {
        Values::Zero => (0, 0, 1),
        Values::One => (1, 0, 1),
        _ => division(if is_64 { 64 } else { 32 }),
    }
}

/// 64 random bits, the same for the same seed (the output function of SplitMix64 by Steele, Lea and
/// Flood).
fn random(seed: u64) -> u64 {
    let mut bits = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The first value of a general register.
fn integer(values: Values, at: usize) -> u64 {
    match values {
        Values::Ordinary | Values::Denormal => PATTERN + ((at as u64) << 33),
        Values::Zero => 0,
        Values::One => 1,
        Values::Random => random(at as u64),
    }
}

/// The first values of all registers for a form. General registers of a form with a memory operand
/// are zero: the addresses are added when the buffer has its place.
pub fn registers(form: &Form, values: Values) -> Registers {
    let is_address = form.memory().is_some();
    let mut general: [u64; 16] =
        std::array::from_fn(|at| if is_address { 0 } else { integer(values, at) });
    if form.divides_integers() {
        let (quotient, remainder, divisor) = repeating_division(form, values);
        (general[0], general[2], general[usize::from(DIVISOR)]) = (quotient, remainder, divisor);
        (general[15], general[14]) = (quotient, remainder);
    }
    // The chain of a root comes to the square of a constant, whose root is soon found if it has few
    // bits. That of an approximate one comes to one.
    let values = match values {
        Values::Ordinary if takes_root(form) => Values::Random,
        Values::Ordinary | Values::Random if form.name.contains("rsqrt") => Values::One,
        _ => values,
    };
    let vector = |at: usize| {
        let is_constant = constant(File::Vector).contains(&(at as u8));
        std::array::from_fn(|part| {
            number(form, values, is_constant, random((8 * at + part) as u64))
        })
    };
    Registers { vectors: std::array::from_fn(vector), general, masks: [u64::MAX; 8] }
}

/// Whether a form takes a root whose chain has a step after it.
fn takes_root(form: &Form) -> bool {
    form.operands.len().checked_sub(1).is_some_and(|last| after_root(form, last, 0).is_some())
}

/// 64 bits of an operand in memory, which keeps its value as the constant registers do.
pub fn in_memory(form: &Form, values: Values) -> u64 {
    number(form, values, true, random(0))
}

/// 64 bits of an operand of a form.
fn number(form: &Form, values: Values, is_constant: bool, seed: u64) -> u64 {
    // What is added to zero or to a denormal number is zero, so that the number stays what it is.
    let is_zero = is_constant && adds(form) && matches!(values, Values::Zero | Values::Denormal);
    if is_zero { 0 } else { lane(form.element, values, is_constant, seed) }
}

/// Whether a form adds its operands, and does not only multiply them.
fn adds(form: &Form) -> bool {
    ["add", "sub"]
        .iter()
        .any(|part| form.name.split(' ').next().is_some_and(|mnemonic| mnemonic.contains(part)))
}

/// 64 bits of a vector. Registers that keep their values are so close to 1 that products and
/// quotients stay ordinary.
fn lane(element: Element, values: Values, is_constant: bool, seed: u64) -> u64 {
    let double = |value: f64| value.to_bits();
    let single = |value: f32| u64::from(value.to_bits()) * 0x1_0000_0001;
    let half = |bits: u16| u64::from(bits) * 0x1_0001_0001_0001;
    match (element, values) {
        (Element::Integer, Values::Zero) => 0,
        (Element::Integer, Values::One) => 0x1_0000_0001,
        (Element::Integer, Values::Random) => seed,
        (_, Values::Random) => fractions(
            element,
            if is_constant { (1 << 28, 1 << 10, 1 << 1) } else { (1 << 52, 1 << 23, 1 << 10) },
            seed,
        ),
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

/// Numbers of one element from 1 to less than 2, whose fractions are random and below these limits,
/// powers of two.
fn fractions(element: Element, (double, single, half): (u64, u64, u64), seed: u64) -> u64 {
    match element {
        Element::Integer | Element::Double => 1.0f64.to_bits() | seed & (double - 1),
        Element::Single => {
            let one = u64::from(1.0f32.to_bits()) * 0x1_0000_0001;
            one | seed & ((single - 1) * 0x1_0000_0001)
        }
        Element::Half => (0x3c00 * 0x1_0001_0001_0001) | (seed & ((half - 1) * 0x1_0001_0001_0001)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_gives_its_own_dividend() {
        let (quotient, remainder, divisor) = division(64);
        let dividend = (u128::from(remainder) << 64) + u128::from(quotient);
        assert_eq!(
            (dividend / u128::from(divisor), dividend % u128::from(divisor)),
            (u128::from(quotient), u128::from(remainder))
        );
        let (quotient, remainder, divisor) = division(32);
        let dividend = (remainder << 32) + quotient;
        assert_eq!((dividend / divisor, dividend % divisor), (quotient, remainder));
        // Signed divisions take the same values.
        assert!(i32::try_from(quotient).is_ok() && i32::try_from(divisor).is_ok());
    }

    #[test]
    fn numbers_are_ordinary_and_stay_so() {
        let ordinary = |element, constant| lane(element, Values::Ordinary, constant, 0);
        assert!(f64::from_bits(ordinary(Element::Double, true)).powi(1024) < 1.001);
        assert!(f32::from_bits(ordinary(Element::Single, true) as u32).powi(1024) < 1.2);
        assert!(f64::from_bits(PATTERN).is_normal() && f32::from_bits(PATTERN as u32).is_normal());
        assert!(f32::from_bits((PATTERN >> 32) as u32).is_normal());
        let denormal = lane(Element::Double, Values::Denormal, false, 0);
        assert!(f64::from_bits(denormal).is_subnormal());
        assert!(
            f32::from_bits(lane(Element::Single, Values::Denormal, false, 0) as u32).is_subnormal()
        );
        assert_eq!(lane(Element::Double, Values::Zero, false, 0), 0);
    }

    #[test]
    fn random_numbers_are_ordinary_and_differ() {
        let mut seen_values = std::collections::BTreeSet::new();
        for seed in (0..64).map(random) {
            for is_constant in [false, true] {
                let most_value = if is_constant { 1.000_2 } else { 2.0 };
                let double =
                    f64::from_bits(lane(Element::Double, Values::Random, is_constant, seed));
                assert!((1.0..most_value).contains(&double), "{double}");
                let singles = lane(Element::Single, Values::Random, is_constant, seed);
                for single in [singles as u32, (singles >> 32) as u32].map(f32::from_bits) {
                    assert!((1.0..most_value as f32).contains(&single), "{single}");
                }
                let halves = lane(Element::Half, Values::Random, is_constant, seed);
                assert!(
                    (0..4).all(|part| (0x3c00..0x4000).contains(&(halves >> (16 * part) & 0xffff))),
                    "{halves:x}"
                );
            }
            assert!(seen_values.insert(lane(Element::Integer, Values::Random, false, seed)));
        }
    }
}
