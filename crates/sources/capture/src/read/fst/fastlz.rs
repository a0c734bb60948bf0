//! Decompression of FastLZ, in both of its levels.

/// Offsets that are stated in 13 bits; the second level has further ones behind.
const MOST_NEAR: usize = 8191;

/// Decompresses a block to at most so many bytes.
///
/// # Errors
/// What is wrong with the block.
pub(super) fn decompress(packed: &[u8], most_bytes: usize) -> Result<Vec<u8>, &'static str> {
    let mut block = Block { rest: packed, out: Vec::with_capacity(most_bytes), most_bytes };
    let Some((first, rest)) = packed.split_first() else { return Ok(block.out) };
    let is_far = match first >> 5 {
        0 => false,
        1 => true,
        _ => return Err("the level of FastLZ is neither 1 nor 2"),
    };
    // The first is always a run of literals, whose upper bits are the level.
    block.rest = rest;
    block.literals(first & 31)?;
    while let Some((token, rest)) = block.rest.split_first() {
        block.rest = rest;
        match token >> 5 {
            0 => block.literals(*token)?,
            _ => block.repeat(*token, is_far)?,
        }
    }
    Ok(block.out)
}

struct Block<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
    most_bytes: usize,
}

const CUT: &str = "the block ends within a run";

impl Block<'_> {
    fn byte(&mut self) -> Result<usize, &'static str> {
        let (byte, rest) = self.rest.split_first().ok_or(CUT)?;
        self.rest = rest;
        Ok(usize::from(*byte))
    }

    fn grows(&self, bytes: usize) -> Result<(), &'static str> {
        match self.most_bytes.checked_sub(self.out.len()) {
            Some(left) if bytes <= left => Ok(()),
            _ => Err("the block has more bytes than the file states"),
        }
    }

    fn literals(&mut self, token: u8) -> Result<(), &'static str> {
        let (run, rest) = self.rest.split_at_checked(usize::from(token) + 1).ok_or(CUT)?;
        self.grows(run.len())?;
        self.out.extend_from_slice(run);
        self.rest = rest;
        Ok(())
    }

    /// Repeats bytes from before.
    fn repeat(&mut self, token: u8, is_far: bool) -> Result<(), &'static str> {
        let mut length = usize::from(token >> 5) + 2;
        let mut distance = usize::from(token & 31) << 8;
        if token >> 5 == 7 {
            loop {
                let more = self.byte()?;
                length += more;
                if !is_far || more < 255 {
                    break;
                }
            }
        }
        distance += self.byte()?;
        if is_far && distance == MOST_NEAR {
            distance += self.byte()? << 8;
            distance += self.byte()?;
        }
        self.grows(length)?;
        let start =
            self.out.len().checked_sub(distance + 1).ok_or("a run begins before the block")?;
        for at in start..start + length {
            let byte = self.out.get(at).copied().ok_or(CUT)?;
            self.out.push(byte);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_repeat_what_was_before() {
        // `ab`, then 3 bytes from 2 before, then 9 + 1 from 1 before.
        let first = [1, b'a', b'b', 1 << 5, 1, 7 << 5, 1, 0];
        assert_eq!(decompress(&first, 15).unwrap(), b"ababaaaaaaaaaaa");
        // The second level has longer runs: 9 + 255 + 0.
        let second = [1 << 5, b'a', 7 << 5, 255, 0, 0];
        assert_eq!(decompress(&second, 265).unwrap(), [b'a'; 265]);
        assert!(decompress(&second, 264).is_err());
    }

    #[test]
    fn far_runs_of_the_second_level_have_16_more_bits() {
        let mut packed = vec![1 << 5, b'x'];
        (0..300u32).for_each(|n| {
            packed.push(31);
            packed.extend((0..32).map(|at| (n * 32 + at) as u8 ^ (n as u8)));
        });
        let plain = decompress(&packed, 9601).unwrap();
        // 8191 + 1 * 256 + 8 bytes before the last one.
        packed.extend([1 << 5 | 31, 255, 1, 8]);
        let long = decompress(&packed, 9604).unwrap();
        let start = 9601 - (8191 + 256 + 8) - 1;
        assert_eq!(long[9601..], plain[start..start + 3]);
    }

    #[test]
    fn damaged_blocks_are_refused() {
        for damaged in [&[5, b'a'][..], &[0, b'a', 32, 1], &[0, b'a', 32], &[64, b'a'], &[0]] {
            assert!(decompress(damaged, 100).is_err(), "{damaged:?}");
        }
        assert_eq!(decompress(&[], 0), Ok(Vec::new()));
    }
}
