//! Documents, compressed.

use super::StoreError;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write};

/// A longer document is refused when it is unpacked.
const MOST_BYTES: u64 = 1 << 30;

/// The document as it is kept.
pub fn pack(document: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let _ = packer.write_all(document.as_bytes());
    packer.finish().unwrap_or_default()
}

/// The document again.
pub fn unpack(bytes: &[u8]) -> Result<String, StoreError> {
    let mut text = String::new();
    let read = GzDecoder::new(bytes).take(MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| StoreError(format!("a document in it is damaged: {error}")))?;
    Ok(text)
}
