//! The frame that the task and its partner exchange: 24 bytes over UDP, numbers in network order.
//!
//! | bytes | hold |
//! |---|---|
//! | 0..4 | `HSPR` |
//! | 4 | version, 1 |
//! | 5 | kind: 1 a question, 2 its answer |
//! | 6..8 | zero |
//! | 8..16 | session: distinguishes the frames of one run from those of another |
//! | 16..24 | number of the cycle |

/// Bytes of a frame.
pub const FRAME_BYTES: usize = 24;

const MAGIC: &[u8; 4] = b"HSPR";
const VERSION: u8 = 1;

/// Cycle number of the greetings, which are exchanged before the run to check that there is a
/// partner.
pub const HELLO: u64 = u64::MAX;

/// Whether a frame is a question or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the task.
    Question,
    /// From its partner.
    Answer,
}

/// A frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Question or answer.
    pub kind: Kind,
    /// The run that it belongs to.
    pub session: u64,
    /// Number of the cycle.
    pub number: u64,
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoFrame {
    /// Fewer bytes than a frame has.
    Short,
    /// Something else: another magic, version or kind, or more bytes than a frame has.
    Foreign,
}

impl Frame {
    /// The frame as bytes.
    pub fn bytes(&self) -> [u8; FRAME_BYTES] {
        let mut bytes = [0; FRAME_BYTES];
        bytes[..4].copy_from_slice(MAGIC);
        bytes[4] = VERSION;
        bytes[5] = if self.kind == Kind::Question { 1 } else { 2 };
        bytes[8..16].copy_from_slice(&self.session.to_be_bytes());
        bytes[16..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// Parses a frame.
    ///
    /// # Errors
    /// Why the bytes are not a frame.
    pub fn parse(bytes: &[u8]) -> Result<Frame, NoFrame> {
        if bytes.len() < FRAME_BYTES {
            return Err(NoFrame::Short);
        }
        let kind = match bytes[5] {
            1 => Kind::Question,
            2 => Kind::Answer,
            _ => return Err(NoFrame::Foreign),
        };
        if bytes.len() > FRAME_BYTES
            || bytes[..4] != *MAGIC
            || bytes[4] != VERSION
            || bytes[6..8] != [0, 0]
        {
            return Err(NoFrame::Foreign);
        }
        let number = |from: usize| {
            bytes[from..from + 8].iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
        };
        Ok(Frame { kind, session: number(8), number: number(16) })
    }

    /// The answer to a question.
    #[must_use]
    pub fn answered(self) -> Frame {
        Frame { kind: Kind::Answer, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: Frame =
        Frame { kind: Kind::Question, session: 0x0102_0304_0506_0708, number: 77 };

    #[test]
    fn a_frame_round_trips() {
        assert_eq!(Frame::parse(&QUESTION.bytes()), Ok(QUESTION));
        assert_eq!(
            Frame::parse(&QUESTION.answered().bytes()),
            Ok(Frame { kind: Kind::Answer, ..QUESTION })
        );
        assert_eq!(QUESTION.bytes()[8..], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 77]);
    }

    #[test]
    fn other_bytes_are_refused() {
        let good = QUESTION.bytes();
        for length in 0..FRAME_BYTES {
            assert_eq!(Frame::parse(&good[..length]), Err(NoFrame::Short));
        }
        for at in [0, 3, 4, 5, 6, 7] {
            let mut bad = good;
            bad[at] = 99;
            assert_eq!(Frame::parse(&bad), Err(NoFrame::Foreign), "byte {at}");
        }
        assert_eq!(Frame::parse(&[&good[..], &[0]].concat()), Err(NoFrame::Foreign));
    }
}
