//! The header in the tree is the one that cbindgen makes; HAIRSPRING_BLESS=1 writes it anew.

use std::path::Path;

#[test]
fn the_header_is_the_one_that_cbindgen_makes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configuration = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(configuration).with_src(root.join("src/lib.rs"));
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let (made, header) = (String::from_utf8(made).unwrap(), root.join("include/hairspring_engine.h"));
    if std::env::var_os("HAIRSPRING_BLESS").is_some() {
        std::fs::write(&header, &made).unwrap();
    }
    let there = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(made == there, "include/hairspring_engine.h is not what the sources say: run with HAIRSPRING_BLESS=1");
}
