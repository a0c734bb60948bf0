//! tango loads one build of the benchmarks into the other, and finds its functions by their names.

fn main() {
    println!("cargo:rustc-link-arg-benches=-rdynamic");
    println!("cargo:rerun-if-changed=build.rs");
}
