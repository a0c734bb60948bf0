//! Links the object that HS_WORK names into the benchmarks.

fn main() {
    println!("cargo:rerun-if-env-changed=HS_WORK");
    println!("cargo:rerun-if-changed=../../languages/link.rs");
    let object = std::env::var("HS_WORK")
        .expect("HS_WORK: the path of the object made of bench/languages/work.c");
    println!("cargo:rerun-if-changed={object}");
    println!("cargo:rustc-link-arg-benches={object}");
}
