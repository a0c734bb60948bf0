//! A short hash for identities and labels.

/// The FNV-1a hash of 64 bits. It is not a cryptographic hash.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The same in hexadecimal, as documents have it.
pub fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> String {
    format!("{:016x}", fnv(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Values of the reference implementation's test suite.
        assert_eq!(fnv(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fingerprint(*b"foobar"), "85944171f73967e8");
    }
}
