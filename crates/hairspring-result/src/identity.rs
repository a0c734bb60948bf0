//! The identity of a document: when, where and by which version it was made.

use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// When, where and by which version a document was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// Time at which it was made (RFC 3339, UTC).
    pub created: String,
    /// Fingerprint of the machine that ran Hairspring: equal for runs on the same installation of the same machine.
    pub host: Option<String>,
    /// Version of Hairspring.
    pub version: String,
    /// Commit of the working directory, where it is a checkout of git.
    pub commit: Option<String>,
}

impl Identity {
    /// The identity of a document that is made by this version.
    ///
    /// ```
    /// use hairspring_result::Identity;
    /// use std::time::{Duration, SystemTime};
    /// let identity = Identity::new(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400), None, None);
    /// assert_eq!(identity.created, "1970-01-02T00:00:00Z");
    /// ```
    pub fn new(created: SystemTime, host: Option<String>, commit: Option<String>) -> Identity {
        Identity {
            created: humantime::format_rfc3339_seconds(created).to_string(),
            host,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit,
        }
    }
}

/// Hash of a piece of code for documents: 64-bit FNV-1a, in hexadecimal. It tells whether two results are about the same
/// code; it is not a cryptographic hash.
pub fn code_hash(code: &str) -> String {
    format!("{:016x}", fnv(code.bytes()))
}

/// The FNV-1a hash of 64 bits.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Values of the reference implementation's test suite.
        assert_eq!(fnv(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_ne!(code_hash("x = x * c"), code_hash("x = x * d"));
    }
}
