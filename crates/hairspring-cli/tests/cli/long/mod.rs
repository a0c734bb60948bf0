//! Tests that take minutes: `./test all` runs them, `./test` does not. `hairspring blocks` on
//! programs that are hard to follow, the same code by all compilers, and headers of C++ that are
//! compiled again and again.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calls;
#[cfg(target_arch = "x86_64")]
mod compilers;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod ends;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod harm;
#[cfg(feature = "history")]
mod history_killed;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod names;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod parts;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod paths;
mod what_people_write;
