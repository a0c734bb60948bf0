//! `hairspring blocks`: nothing that a repeated call does leaves the process.

use crate::blocks::{Rig, compile, json};
use serde_json::Value;

const HARM: &str = include_str!("programs/harm.c");
const PATHS: &str = include_str!("programs/paths.c");

/// What is refused, by the program's first argument, and how the reason names it.
const REFUSED_CALLS: [(u32, &str); 29] = [
    (20, "system call write on descriptor"),
    (21, "system call writev on descriptor"),
    (22, "system call pwrite64 on descriptor"),
    (23, "(socket:["),
    (24, "system call sendto on descriptor"),
    (25, "(pipe:["),
    (26, "writes to memory that it shares with other processes"),
    (27, "writes to shared memory ("),
    (28, "system call io_uring_enter"),
    (29, "system call kill,"),
    (30, "system call tgkill,"),
    (31, "system call rt_sigqueueinfo,"),
    (32, "system call ptrace,"),
    (33, "system call futex (on memory that others may share)"),
    (34, "system call ioctl on descriptor"),
    (35, "system call ioctl on descriptor"),
    (36, "system call vfork,"),
    (37, "system call clone,"),
    (38, "system call setitimer,"),
    (39, "system call msync,"),
    (40, "system call madvise (advice 9)"),
    (41, "system call mprotect (of memory that others share"),
    (42, "system call mmap (of a file, or of memory to be shared)"),
    (43, "it unmaps "),
    (44, "system call dup2 on descriptor"),
    (45, "system calls of 32-bit programs"),
    (47, "its system call getrandom writes to memory that it shares with other processes"),
    (48, "its system call fstat writes to memory that it shares with other processes"),
    (49, "its system call clock_gettime writes to shared memory ("),
];

/// What is allowed: output to nowhere, questions, memory of its own, reading what others share, and
/// a bad address of the program's own.
const ALLOWED_CALLS: [u32; 7] = [50, 51, 52, 53, 54, 55, 56];

struct World {
    rig: Rig,
    log: String,
    map: String,
}

fn world(source: &str) -> World {
    let rig = compile(source, &["-O1"]);
    let place = |name: &str| rig.folder.path().join(name).to_str().unwrap().to_owned();
    let (log, map) = (place("log.txt"), place("map.bin"));
    World { rig, log, map }
}

impl World {
    fn lines(&self, numbers: impl IntoIterator<Item = u32>) -> String {
        numbers.into_iter().map(|number| format!("{number} {} {}\n", self.log, self.map)).collect()
    }

    /// The program has no effect outside: neither by its calls nor by their repeats.
    fn is_untouched(&self) {
        assert_eq!(std::fs::read(&self.log).unwrap(), b"", "the log was written");
        assert!(
            std::fs::read(&self.map).unwrap_or_default().iter().all(|byte| *byte == 0),
            "the mapped file was written"
        );
    }
}

fn reason(document: &Value, text: &str) -> String {
    let skipped = document["inputs"]["skipped"].as_array().unwrap();
    let found = skipped.iter().find(|skip| skip["text"].as_str().unwrap().starts_with(text));
    found.map_or_else(String::new, |skip| skip["reason"].as_str().unwrap().to_owned())
}

#[test]
fn what_leaves_the_process_is_refused_by_name_before_it_happens() {
    let world = world(HARM);
    let good = 1..=8;
    let document = json(&world.rig.blocks(
        "part",
        &world.lines(REFUSED_CALLS.map(|(number, _)| number).into_iter().chain(good.clone())),
        &["--json"],
    ));
    for (number, expected) in REFUSED_CALLS {
        let reason = reason(&document, &format!("{number} "));
        assert!(
            reason.contains(expected) && reason.contains("; time a function that does not")
                || number == 45,
            "{number}: {reason}"
        );
    }
    assert_eq!(document["inputs"]["calls"], good.count());
    world.is_untouched();
}

#[test]
fn what_stays_in_the_process_is_repeated() {
    let world = world(HARM);
    let document = json(&world.rig.blocks(
        "part",
        &world.lines(ALLOWED_CALLS.into_iter().chain(1..=8)),
        &["--json", "--until", "each"],
    ));
    assert_eq!(
        document["inputs"]["skipped"].as_array().unwrap().len(),
        0,
        "{}",
        document["inputs"]
    );
    assert_eq!(document["inputs"]["calls"], ALLOWED_CALLS.len() + 8);
    world.is_untouched();
}

#[test]
fn output_that_the_program_itself_turned_into_a_file_is_refused() {
    let world = world(HARM);
    let document =
        json(&world.rig.blocks("part", &world.lines([46].into_iter().chain(1..=8)), &["--json"]));
    let reason = reason(&document, "46 ");
    assert!(reason.contains("write on descriptor 1 (") && reason.contains("log.txt"), "{reason}");
    world.is_untouched();
}

#[test]
fn a_system_call_that_only_a_few_repeats_make_is_stopped_in_the_kernel() {
    let world = world(PATHS);
    // About one call in a thousand writes to the file: hardly any while it is followed, many while
    // it is timed.
    let document = json(&world.rig.blocks(
        "spin",
        &world.lines((80..90).chain(1..=9)),
        &["--json", "--budget", "500ms"],
    ));
    let skipped = document["inputs"]["skipped"].as_array().unwrap();
    assert!(skipped.len() >= 5, "{skipped:#?}");
    for skip in skipped {
        let reason = skip["reason"].as_str().unwrap();
        assert!(
            reason.contains("system call write") || reason.contains("its path differs"),
            "{reason}"
        );
    }
    world.is_untouched();
}

#[test]
fn a_ring_that_the_kernel_polls_is_not_written() {
    let rig = compile(include_str!("programs/ring.c"), &["-O1"]);
    let done = rig.blocks("push", "7\n1\n2\n3\n4\n5\n6\n", &["--json"]);
    // Some systems forbid io_uring: the program then ends with 3 before it calls the function.
    if done.status != 0 {
        assert!(done.stderr.contains("ended before, with status 3"), "{}", done.stderr);
        return;
    }
    let reason = reason(&json(&done), "7");
    assert!(reason.contains("shared memory (anon_inode:[io_uring])"), "{reason}");
}

#[test]
fn processes_that_share_memory_do_no_harm_and_calls_in_children_count() {
    let rig = compile(include_str!("programs/others.c"), &["-O1"]);
    let document = json(&rig.blocks("part", "5\n6\n1\n2\n3\n4\n7\n8\n", &["--json"]));
    assert_eq!(document["inputs"]["calls"], 8, "{}", document["inputs"]);
}
