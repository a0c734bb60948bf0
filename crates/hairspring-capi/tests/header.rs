//! The header in the tree is the one that cbindgen makes; UPDATE_EXPECT=1 rewrites it.

use expect_test::expect_file;
use std::path::Path;

#[test]
fn the_header_is_the_one_that_cbindgen_makes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configuration = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let builder =
        cbindgen::Builder::new().with_config(configuration).with_src(root.join("src/lib.rs"));
    let mut made_header = Vec::new();
    builder.generate().unwrap().write(&mut made_header);
    expect_file![root.join("include/hairspring_engine.h")]
        .assert_eq(&String::from_utf8(made_header).unwrap());
}
