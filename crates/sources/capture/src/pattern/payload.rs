//! The payload of a frame, which holds the counts of its pulses.

/// Version of the pattern.
pub const VERSION: u8 = 1;
/// Most pulses of a frame.
pub const MOST_PULSES: usize = 255;
/// The kind of a frame of reference intervals.
const REFERENCE: u8 = 15;

/// What a frame holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Counts of each pulse, one for each component.
    Counts(Vec<Vec<u16>>),
    /// A number of leading edges, each one reference interval apart.
    Reference(u8),
}

impl Kind {
    /// Pulses of the frame.
    pub fn pulses(&self) -> usize {
        match self {
            Kind::Counts(counts) => counts.len(),
            Kind::Reference(number) => usize::from(*number),
        }
    }

    /// A progression of counts of one component.
    pub fn progression(first: u16, step: u16, number: u8) -> Kind {
        Kind::Counts(
            (0..u16::from(number))
                .map(|i| vec![first.saturating_add(step.saturating_mul(i))])
                .collect(),
        )
    }
}

/// CRC-8: polynomial 0x07, start 0xff, not reflected, not inverted.
///
/// ```
/// assert_eq!(hairspring_capture::pattern::check(b"123456789"), 0xfb);
/// ```
pub fn check(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xff, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 == 0 { crc << 1 } else { (crc << 1) ^ 7 })
    })
}

/// The payload of counts, with its check; a progression in its short form.
///
/// ```
/// use hairspring_capture::pattern::{Kind, encode};
/// assert_eq!(encode(&Kind::progression(1, 1, 20)), [0x10, 0, 1, 0, 1, 20, 0x5e]);
/// ```
pub fn encode(kind: &Kind) -> Vec<u8> {
    let mut bytes = match kind {
        Kind::Reference(number) => vec![VERSION << 4 | REFERENCE, *number],
        Kind::Counts(counts) => match progression(counts) {
            Some((first, step)) => {
                let [[a, b], [c, d]] = [first.to_be_bytes(), step.to_be_bytes()];
                vec![VERSION << 4, a, b, c, d, counts.len() as u8]
            }
            None => {
                let head =
                    [VERSION << 4 | counts.first().map_or(1, Vec::len) as u8, counts.len() as u8];
                head.into_iter()
                    .chain(counts.iter().flatten().flat_map(|count| count.to_be_bytes()))
                    .collect()
            }
        },
    };
    bytes.push(check(&bytes));
    bytes
}

/// First count and step, where the counts are a rising progression of one component.
fn progression(counts: &[Vec<u16>]) -> Option<(u16, u16)> {
    let flat: Option<Vec<u16>> =
        counts.iter().map(|counts| (counts.len() == 1).then(|| counts[0])).collect();
    let flat = flat?;
    let step = flat.get(1)?.checked_sub(flat[0])?;
    flat.windows(2)
        .all(|pair| pair[1].checked_sub(pair[0]) == Some(step))
        .then_some((flat[0], step))
}

/// Length of a payload in bytes, checksum included, from its first bytes; `Ok(None)` while there
/// are too few.
///
/// # Errors
/// An unsupported version or kind.
pub fn payload_bytes(bytes: &[u8]) -> Result<Option<usize>, String> {
    let Some(first) = bytes.first() else { return Ok(None) };
    if first >> 4 != VERSION {
        return Err(format!(
            "the pattern has version {}, and only version {VERSION} is supported",
            first >> 4
        ));
    }
    match (first & 0x0f, bytes.get(1)) {
        (0, _) => Ok(Some(7)),
        (REFERENCE, _) => Ok(Some(3)),
        (1..=4, None) => Ok(None),
        (components @ 1..=4, Some(number)) => {
            Ok(Some(3 + 2 * usize::from(components) * usize::from(*number)))
        }
        (kind, _) => Err(format!("the frame has the unknown kind {kind}")),
    }
}

/// Parses a whole payload.
///
/// # Errors
/// A wrong checksum, an impossible number of pulses, or a count beyond 65535.
pub fn parse(bytes: &[u8]) -> Result<Kind, String> {
    let Some((said, before)) = bytes.split_last() else {
        return Err("the payload is empty".into());
    };
    let expected = check(before);
    if *said != expected {
        return Err(format!(
            "the checksum of the payload is {said:#04x} and should be {expected:#04x}"
        ));
    }
    let word = |at: usize| u16::from_be_bytes([before[at], before[at + 1]]);
    let kind = match before[0] & 0x0f {
        0 => counted(word(1), word(3), before[5])?,
        REFERENCE => Kind::Reference(before[1]),
        components => {
            let words: Vec<u16> = before[2..]
                .chunks_exact(2)
                .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
                .collect();
            Kind::Counts(words.chunks_exact(usize::from(components)).map(<[u16]>::to_vec).collect())
        }
    };
    let least_counts = if matches!(kind, Kind::Reference(_)) { 2 } else { 1 };
    if kind.pulses() < least_counts {
        return Err(format!(
            "the frame announces {} pulses, at least {least_counts} are needed",
            kind.pulses()
        ));
    }
    Ok(kind)
}

fn counted(first: u16, step: u16, number: u8) -> Result<Kind, String> {
    let last = u32::from(first) + u32::from(step) * u32::from(number.saturating_sub(1));
    if last > u32::from(u16::MAX) {
        return Err(format!("the last count would be {last}, beyond 65535"));
    }
    Ok(Kind::progression(first, step, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_round_trip() {
        let list = Kind::Counts(vec![vec![1, 2], vec![210, 0], vec![65535, 7]]);
        for kind in [
            Kind::progression(1, 1, 20),
            Kind::progression(5, 0, 3),
            Kind::Counts(vec![vec![9]]),
            list,
            Kind::Reference(4),
        ] {
            let bytes = encode(&kind);
            assert_eq!(payload_bytes(&bytes), Ok(Some(bytes.len())));
            assert_eq!(parse(&bytes), Ok(kind));
        }
    }

    #[test]
    fn invalid_payloads_are_refused_with_the_reason() {
        assert!(payload_bytes(&[0x20]).unwrap_err().contains("version 2"));
        assert!(payload_bytes(&[0x17]).unwrap_err().contains("unknown kind 7"));
        let mut bytes = encode(&Kind::progression(1, 1, 20));
        bytes[2] ^= 1;
        assert!(parse(&bytes).unwrap_err().contains("check"));
        assert!(parse(&encode(&Kind::Reference(1))).unwrap_err().contains("at least 2 are needed"));
        let mut beyond = vec![0x10, 0xff, 0xff, 0, 1, 2];
        beyond.push(check(&beyond));
        assert!(parse(&beyond).unwrap_err().contains("65536"));
    }
}
