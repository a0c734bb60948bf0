//! Benchmarks in a module: their names begin with the module's.

/// What a copy needs is made once.
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

/// Text is an argument as well.
#[hairspring::bench(args = ["short", "a somewhat longer one"])]
fn upper_case(text: &str) -> String {
    text.to_uppercase()
}

/// Memory that is in no cache: the flush is told apart.
#[hairspring::bench(state = vec![1u8; 1024], cold = bytes)]
fn sum_cold(bytes: &[u8]) -> u64 {
    hairspring_example::sum(bytes)
}
