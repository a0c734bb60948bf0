//! Lets an extension module be linked without Python's library, on systems where that needs to be
//! said.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
