//! Every reader of untrusted bytes as a function that a fuzzer can call.
//!
//! A target takes any bytes. It panics if the reader panics or breaks a property that the target
//! documents. It returns whether the bytes were accepted. The same functions are called by
//! libFuzzer (`fuzz/fuzz_targets/`), which needs a nightly compiler, and by `tests/short.rs`, which
//! any compiler runs.

mod children;
mod options;
mod recordings;
mod results;
mod tables;

/// A reader under test.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the target and of its folder in `fuzz/corpus/`.
    pub name: &'static str,
    /// Whether the bytes were accepted.
    pub run: fn(&[u8]) -> bool,
    /// Number of edited inputs in the short run: fewer if the reader is slow.
    pub cases: u32,
}

const fn target(name: &'static str, run: fn(&[u8]) -> bool, cases: u32) -> Target {
    Target { name, run, cases }
}

/// All targets.
pub const TARGETS: [Target; 26] = [
    target("benchmark_dot_net", tables::benchmark_dot_net, 5_000),
    target("compressed", recordings::compressed, 2_000),
    target("criterion", tables::criterion, 10_000),
    target("csv", recordings::csv, 5_000),
    target("declaration", options::declaration, 20_000),
    target("documents", results::documents, 2_000),
    target("experiment", options::experiment, 2_000),
    target("expression", options::expression, 2_000),
    target("frame", children::frame, 20_000),
    target("fst", recordings::fst, 3_000),
    target("go_bench", tables::go_bench, 5_000),
    target("google_benchmark", tables::google_benchmark, 5_000),
    target("inputs", options::inputs, 20_000),
    target("instructions", tables::instructions, 10_000),
    target("instrument", recordings::instrument, 3_000),
    target("nanobench", tables::nanobench, 5_000),
    target("observations", tables::observations, 1_000),
    target("pattern", recordings::pattern, 5_000),
    target("program", children::program, 1_000),
    target("protocol", children::protocol, 20_000),
    target("results_of_tools", results::of_tools, 3_000),
    target("saved", results::saved, 2_000),
    target("sigrok", recordings::sigrok, 5_000),
    target("sound", recordings::sound, 3_000),
    target("values", options::values, 20_000),
    target("vcd", recordings::vcd, 5_000),
];

/// The target of that name.
///
/// # Panics
/// If there is no such target.
pub fn by_name(name: &str) -> Target {
    let found = TARGETS.iter().find(|target| target.name == name);
    *found.unwrap_or_else(|| panic!("no fuzz target `{name}`"))
}

/// The `main` of a libFuzzer target.
#[macro_export]
macro_rules! libfuzzer {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            ($crate::by_name($name).run)(bytes);
        });
    };
}
