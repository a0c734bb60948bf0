//! Benchmarks in a module: their names begin with the module's.

/// The state of a copy, which is made once.
pub struct Buffers {
    from: Vec<u8>,
    to: Vec<u8>,
}

fn buffers(size: usize) -> Buffers {
    Buffers { from: vec![7; size], to: vec![0; size] }
}

#[hairspring::bench(args = [64, 4096], state = buffers(size))]
fn copy(size: usize, buffers: &mut Buffers) {
    buffers.to[..size].copy_from_slice(&buffers.from[..size]);
}

/// Text can be an argument too. The new text is dropped in the function, so that the time includes
/// freeing its memory; for a text that is returned, the time only includes making it.
#[hairspring::bench(args = ["short", "a somewhat longer one"])]
fn upper_case(text: &str) -> usize {
    hairspring::opaque(text.to_uppercase()).len()
}

/// Memory that is in no cache; the time of the flush is separate.
#[hairspring::bench(state = vec![1u8; 1024], cold = bytes)]
fn sum_cold(bytes: &[u8]) -> u64 {
    hairspring_example::sum(bytes)
}
