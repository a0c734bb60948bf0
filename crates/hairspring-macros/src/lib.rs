//! The attribute `#[hairspring::bench]`: a function becomes rows of straight-line copies. It is
//! documented here and used as part of the crate `hairspring`, which has everything that the copies
//! need.

mod design;
mod expand;
mod function;
mod options;
mod rows;

use proc_macro::TokenStream;

/// Makes a benchmark of a function. `hairspring::main!()` finds it in any module; its name is that
/// of the function after those of its modules.
///
/// | option | meaning |
/// |---|---|
/// | `args = [64, 4096]` | anything that can be iterated: a benchmark for each value, `name/size:64` for a parameter `size` |
/// | `chain = 3u64` | latency: the function's last parameter is the result of the copy before; this is the value for the first copy |
/// | `state = vec![0; size]` | made once for all copies; the function takes a reference to it |
/// | `setup = prepare(size)` | runs once, before the first copy |
/// | `init = refill(data)` | runs before every copy; its time is separated from the function's |
/// | `cold = table` | a reference: its bytes are flushed from all caches before every copy, as an init called `flush` |
/// | `against = other` | another function with the attribute: both run in the same rounds and are compared |
/// | `copies = 64` | the most copies in a row (default 256); use fewer for long functions |
///
/// All values are expressions. `state` and `setup` can use the argument by its parameter's name;
/// `init` and `cold` can also use the state and the chained value. A path in lower case
/// (`setup = prepare`) is a function, and is called.
///
/// The parameters are, in this order: the argument (by value if it is `Copy`, or a reference to
/// it), a reference to the state, and the chained value or a reference to the value that the init
/// made. There is no such parameter for an init of type `()`, which makes no value; with `chain`
/// the init gives the next chained value.
///
/// # What is in the time
/// - The function's own code. A short function is inlined. If the compiler finds it too long for
///   that (some 60 instructions), it is called, and the time includes the call, a cycle or two;
///   `#[inline(always)]` or `#[inline(never)]` on the function decides this.
/// - As a rule, no other instruction: between two copies there are only barriers for the compiler,
///   which keep it from merging the copies. The function should make its constants opaque
///   (`hairspring::opaque`); arguments are opaque to every copy. A result of more than 16 bytes is
///   stored.
/// - Not the time to drop the values that the function returns or the init made: values with a
///   destructor are stored, and dropped after the second reading. So no memory is freed between two
///   copies, and an allocator may take longer than usual. To include the drop, drop the value in
///   the function; `copies` limits how many values are stored.
/// - Without `chain` the copies may overlap in the core: throughput. With it each copy waits for
///   the one before: latency.
///
/// A function that the compiler removes, because it has no observable effect, takes no time: the
/// result is then below resolution. A benchmark contains 800 copies of a short function. For a long
/// function that is always inlined, `copies = 32` shortens compilation and keeps the rows within
/// the instruction cache.
///
/// The crate's first page has examples.
#[proc_macro_attribute]
pub fn bench(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::bench(options.into(), function.into())
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
