//! The greatest common divisor.

/// The greatest common divisor of two numbers; that of 0 and another number is the other one.
///
/// ```
/// use hairspring_core::divisor::gcd;
/// assert_eq!([(12, 18), (7, 5), (0, 9), (9, 0), (0, 0)].map(|(a, b)| gcd(a, b)), [6, 1, 9, 9, 0]);
/// ```
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
