//! The host as a program of its own, which a statically linked `hairspring` embeds.

/// As in the command: the C library's allocator belongs to the code that is measured.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(hairspring_snippet::host::main() as u8)
}
