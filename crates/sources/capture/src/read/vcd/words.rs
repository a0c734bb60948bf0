//! Words of a dump, eight bytes at a time where there are so many.

/// A byte in all places.
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

const HIGH_BITS: u64 = all(0x80);

/// Eight bytes from a place on, the first one lowest; `None` near the end.
#[inline]
pub(super) fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at.checked_add(8)?)?;
    eight.try_into().ok().map(u64::from_le_bytes)
}

/// Sixteen bytes from a place on, the first one lowest; `None` near the end.
#[inline]
pub(super) fn sixteen(bytes: &[u8], at: usize) -> Option<u128> {
    let sixteen = bytes.get(at..at.checked_add(16)?)?;
    sixteen.try_into().ok().map(u128::from_le_bytes)
}

/// The byte at a place below 8.
#[inline]
fn byte(eight: u64, at: usize) -> u8 {
    (eight >> (8 * at)) as u8
}

/// The places of the first two blanks or control characters; 16 where there is none.
#[inline]
pub(super) fn blanks(sixteen: u128) -> (usize, usize) {
    const LOW_BITS: u128 = u128::from_ne_bytes([0x7f; 16]);
    const ABOVE_BLANKS: u128 = u128::from_ne_bytes([0x7f - b' '; 16]);
    // The sums stay within their bytes.
    let others = ((sixteen & LOW_BITS) + ABOVE_BLANKS) | sixteen;
    let blanks = !others & !LOW_BITS;
    let behind = blanks & blanks.wrapping_sub(1);
    (blanks.trailing_zeros() as usize / 8, behind.trailing_zeros() as usize / 8)
}

/// The bytes from a place on, of which there are up to 7; the others are 0.
#[inline]
pub(super) fn part(sixteen: u128, from: usize, length: usize) -> u64 {
    (sixteen >> (8 * from)) as u64 & ((1 << (8 * length)) - 1)
}

/// Whether a byte separates words of text.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    (b'\t'..=b' ').contains(&byte)
}

/// A number of at most 15 digits in front of a blank, and how many digits it has; `None` for
/// everything else.
#[inline]
pub(super) fn short_number(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let high = eight(bytes, at)?;
    let digits = digits_of(high);
    if digits < 8 {
        return (digits > 0 && is_blank(byte(high, digits))).then(|| (value(high, digits), digits));
    }
    let low = eight(bytes, at + 8)?;
    let more = digits_of(low);
    let power = POWERS.get(more)?;
    is_blank(byte(low, more)).then(|| (value(high, 8) * power + value(low, more), 8 + more))
}

/// How many of the first bytes are digits.
#[inline]
fn digits_of(eight: u64) -> usize {
    let digits = eight ^ all(b'0');
    let others = (digits.wrapping_add(all(0x76)) | digits) & HIGH_BITS;
    others.trailing_zeros() as usize / 8
}

/// The value of the first digits.
#[inline]
fn value(eight: u64, digits: usize) -> u64 {
    if digits == 0 {
        return 0;
    }
    // Zeros in front make them eight; then pairs, fours and both halves are joined.
    let single = (eight ^ all(b'0')) << (64 - 8 * digits);
    let pairs = (single.wrapping_mul(10 * 256 + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 * 65_536 + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
}

/// Ticks of a time; migen writes `1000.0`.
pub(super) fn ticks(text: &[u8]) -> Option<u64> {
    match text.iter().position(|byte| *byte == b'.') {
        None => number(text),
        Some(point) if text[point + 1..].iter().all(|digit| *digit == b'0') => {
            number(&text[..point])
        }
        Some(_) => None,
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0u64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read() {
        for digits in 1..=15 {
            let text: String = "9081726354908172"[..digits].to_owned() + "\n1!\n#2345678901234";
            let value = text[..digits].parse().unwrap();
            assert_eq!(short_number(text.as_bytes(), 0), Some((value, digits)), "{digits}");
        }
        for other in
            ["1234567890123456\n        ", "123x\n        ", "\n1234567890", "12\u{1}3456789"]
        {
            assert_eq!(short_number(other.as_bytes(), 0), None, "{other}");
        }
        assert_eq!(short_number(b"123\n", 0), None);
    }

    #[test]
    fn words_end_at_blanks() {
        let read = |text: &[u8; 16]| u128::from_le_bytes(*text);
        assert_eq!(blanks(read(b"1!\n#1234567890\n1")), (2, 14));
        assert_eq!(blanks(read(b"b01 !\n!!!!!!!!!!")), (3, 5));
        assert_eq!(blanks(read(b"\xff\x80\xa0 \n  abcdefghi")), (3, 4));
        assert_eq!(blanks(read(b"0123456789abcdef")), (16, 16));
        assert_eq!(blanks(read(b"abc\0defghijklmno")), (3, 16));
        assert_eq!(part(read(b"b01 ab\n#12345678"), 4, 2), u64::from_le_bytes(*b"ab\0\0\0\0\0\0"));
    }
}
