//! Other physical pages for the next process of a program, so that its processes are independent of
//! each other.

use hairspring_host::free_pages::mix;
use hairspring_host::thread::{allowed_cpus, current_cpu, pin};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use std::path::Path;

/// Lets the next process of a program have other pages, for its code and for its data. `asked` is
/// the CPU that it was asked to measure on.
pub fn in_other_pages(program: &Path, asked: Option<usize>) {
    read_anew(program);
    mix_free_pages(asked);
}

/// Lets the system read the program anew for its next process, into other physical pages. All
/// processes of a program share the pages of its file, and long code takes another time in other
/// ones: a sort in Rust took 736 or 763 core cycles, the same in all processes until the pages
/// changed. Pages that another process uses stay, and so does a file that cannot be opened.
fn read_anew(program: &Path) {
    let Ok(file) = std::fs::File::open(program) else { return };
    // Pages that are not on the disk yet would stay.
    let _ = file.sync_all();
    let _ = posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
}

/// Puts the free pages of this CPU, on which the next process starts, and of the one on which it
/// measures into a random order. Which one it measures on is known if it was asked for; it is the
/// last one otherwise, unless that one is busy.
fn mix_free_pages(asked: Option<usize>) {
    let measures = asked.or_else(|| allowed_cpus().last().copied());
    let mut cpus = vec![current_cpu()];
    cpus.extend(measures.filter(|cpu| *cpu != cpus[0]));
    for cpu in cpus {
        // A thread of its own, because the binding to the CPU is inherited. One that cannot be
        // bound mixes pages of another CPU in vain.
        let mixing = std::thread::spawn(move || pin(cpu).is_ok() && mix());
        let _ = mixing.join();
    }
}
