//! Embeds the host program that `HAIRSPRING_EMBEDDED_HOST` names, if it names one: packaging/build
//! does so for the static command.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HAIRSPRING_EMBEDDED_HOST");
    println!("cargo::rustc-check-cfg=cfg(embedded_host)");
    let Some(file) = std::env::var_os("HAIRSPRING_EMBEDDED_HOST").map(std::path::PathBuf::from)
    else {
        return;
    };
    println!("cargo::rerun-if-changed={}", file.display());
    println!("cargo::rustc-cfg=embedded_host");
}
