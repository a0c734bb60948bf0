//! Words of a dump, in blocks of bytes where there are so many.

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

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

/// A bit for each blank of a block, the first one lowest; `None` for a block with a control
/// character, which is not text.
#[inline]
pub(super) fn ends(block: &[u8; BLOCK]) -> Option<u64> {
    // All high bits of these bytes, of which each is 0 or 1, one behind the other.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (mut ends, mut texts) = (0, HIGH_BITS);
    for (place, eight) in block.chunks_exact(8).enumerate() {
        let eight = eight.try_into().map_or(0, u64::from_le_bytes);
        texts &= at_least(eight, b'\t');
        let blanks = !at_least(eight, b' ' + 1) & HIGH_BITS;
        ends |= ((blanks >> 7).wrapping_mul(GATHER) >> 56) << (8 * place);
    }
    (texts & HIGH_BITS == HIGH_BITS).then_some(ends)
}

/// The high bit of each byte that is as large as a limit, which is at most 0x80.
#[inline]
fn at_least(eight: u64, limit: u8) -> u64 {
    // The sums stay within their bytes.
    ((eight & !HIGH_BITS) + all(0x80 - limit)) | eight
}

/// A number of a known length, 1 to 16 digits; `None` for everything else.
#[inline]
pub(super) fn short_number(bytes: &[u8], at: usize, digits: usize) -> Option<u64> {
    match digits {
        1..=8 => value(eight(bytes, at)?, digits),
        9..=16 => {
            let high = value(eight(bytes, at)?, digits - 8)?;
            Some(high * 100_000_000 + value(eight(bytes, at + digits - 8)?, 8)?)
        }
        _ => None,
    }
}

/// The value of the first 1 to 8 digits; `None` if one of them is no digit.
#[inline]
fn value(eight: u64, digits: usize) -> Option<u64> {
    // Zeros in front make them eight; then pairs, fours and both halves are joined.
    let single = (eight ^ all(b'0')) << (64 - 8 * digits);
    if at_least(single, 10) & HIGH_BITS != 0 {
        return None;
    }
    let pairs = (single.wrapping_mul(10 * 256 + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 * 65_536 + 1) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul((10_000 << 32) + 1) >> 32)
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
        for digits in 1..=16 {
            let text: String = "9081726354908172"[..digits].to_owned() + "\n1!\n#2345678901234";
            let value = text[..digits].parse().unwrap();
            assert_eq!(short_number(text.as_bytes(), 0, digits), Some(value), "{digits}");
        }
        for (other_text, digits) in [
            ("12345678901234567\n        ", 17),
            ("123x\n        ", 4),
            ("123456789:\n        ", 10),
            ("/23456789\n        ", 9),
            ("1234567\u{1}\n        ", 8),
            ("\n1234567890", 0),
        ] {
            assert_eq!(short_number(other_text.as_bytes(), 0, digits), None, "{other_text}");
        }
        assert_eq!(short_number(b"123\n", 0, 3), None);
    }

    #[test]
    fn every_byte_is_a_blank_text_or_refused_at_every_place() {
        for (byte, place) in (0..=u8::MAX).flat_map(|byte| (0..BLOCK).map(move |at| (byte, at))) {
            let mut block = [b'!'; BLOCK];
            block[place] = byte;
            block[BLOCK - 1 - place] = byte;
            let expected = match byte {
                0..b'\t' => None,
                b'\t'..=b' ' => Some(1u64 << place | 1 << (BLOCK - 1 - place)),
                _ => Some(0),
            };
            assert_eq!(ends(&block), expected, "{byte} at {place}");
        }
    }
}
