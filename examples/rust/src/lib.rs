//! The benchmarked code: two ways to count the ones in a word, and a sum.

/// One bit after the other.
pub fn ones_by_loop(mut word: u64) -> u32 {
    let mut ones = 0;
    while word != 0 {
        word &= word - 1;
        ones += 1;
    }
    ones
}

/// All bits at once.
pub fn ones_at_once(word: u64) -> u32 {
    word.count_ones()
}

/// Sum of the bytes.
pub fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte)).sum()
}
