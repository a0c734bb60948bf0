//! Data from other processes and machines: replies of the host, frames of a partner, programs to be
//! traced.

use hairspring_instruments::period::frame::Frame;

/// The replies of a host, whose memory the code under test can write to.
pub fn protocol(bytes: &[u8]) -> bool {
    hairspring_snippet::fuzzing::replies(bytes)
}

/// Frames of the partner of a cyclic task: a frame is written back as the same bytes.
pub fn frame(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::parse(bytes) else { return false };
    assert_eq!(frame.bytes(), bytes);
    true
}

/// Programs whose functions `blocks` looks up and cuts into basic blocks.
pub fn program(bytes: &[u8]) -> bool {
    hairspring_blocks::fuzzing::program(bytes)
}
