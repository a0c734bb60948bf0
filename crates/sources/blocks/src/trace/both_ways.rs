//! Calls of random functions are followed from breakpoint to breakpoint and in the instrumented
//! copy: everything that is known must be equal.

use super::{Followed, Follower, Guard, Journey, Program, Stub};
use crate::binary::{Observed, cut};
use crate::error::Result;
use crate::inputs::Input;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

type Ends = BTreeMap<u64, BTreeSet<u64>>;

/// What all programs have: functions to call, directly and by a pointer, one that calls back, and
/// the call itself.
const COMMON_CODE: &str = "
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define APART __attribute__((noinline))
APART unsigned three(unsigned a) { return a * 3 + 1; }
APART unsigned mixed(unsigned a) { return a ^ a >> 3; }
APART unsigned asks(unsigned a) { return a + (getppid() < 0); }
typedef unsigned (*step)(unsigned);
step steps[] = {three, mixed, asks, three};
unsigned bytes[64];
APART unsigned work(unsigned x, unsigned depth);
APART unsigned back(unsigned x, unsigned depth) { return depth ? work(x + 1, depth - 1) + 1 : x; }
APART unsigned work(unsigned x, unsigned depth) {
  unsigned i0, i1, i2, i3;
";
const END: &str = "
  return x;
}
int main(int count, char **all) { return work(count > 1 ? atoi(all[1]) : 1, 2) & 1; }
";

/// Random statements, nested up to a depth.
fn statements(dice: &mut Pcg64Mcg, nested: usize) -> String {
    let count = dice.random_range(1..=3);
    (0..count).map(|_| statement(dice, nested)).collect()
}

fn statement(dice: &mut Pcg64Mcg, nested: usize) -> String {
    let number = dice.random_range(1..9);
    let inner = |dice: &mut Pcg64Mcg| statements(dice, nested + 1);
    match dice.random_range(if nested < 4 { 0..14 } else { 5..14 }) {
        0 | 1 => format!(
            "if (x % {} == {}) {{ {} }} else {{ {} }}\n",
            number + 1,
            number / 2,
            inner(dice),
            inner(dice)
        ),
        2 => format!(
            "for (i{nested} = 0; i{nested} < x % {number}; i{nested}++) {{ {} }}\n",
            inner(dice)
        ),
        3 => {
            let cases: String =
                (0..9).map(|case| format!("case {case}: {} break;\n", inner(dice))).collect();
            format!("switch (x % 11) {{ {cases} }}\n")
        }
        4 => format!(
            "while (x % {} > 1) {{ x = x * 5 + 3; {} if (x % 7 < 4) break; }}\n",
            number + 1,
            inner(dice)
        ),
        5 => format!("x += three(x + {number});\n"),
        6 => "x ^= steps[x & 3](x);\n".to_owned(),
        7 => "if (depth) x += work(x, depth - 1);\n".to_owned(),
        8 => "x += back(x, depth);\n".to_owned(),
        9 => format!("if (x % 23 == {number}) return x;\n"),
        10 => format!("if (x % 29 == {number}) return back(x, depth);\n"),
        11 => format!("memset(bytes, x, x % 200); x += bytes[{number}];\n"),
        12 => format!("bytes[x & 63] += x; x -= bytes[{number}];\n"),
        _ => format!("x = x * {} + {number};\n", 2 * number + 1),
    }
}

fn compile(folder: &Path, source: &str, flags: &[&str]) -> PathBuf {
    let (file, program) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&file, source).unwrap();
    let done = Command::new("gcc")
        .args(flags)
        .arg("-w")
        .arg(&file)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("gcc is needed");
    assert!(done.status.success(), "{}\n{source}", String::from_utf8_lossy(&done.stderr));
    program
}

fn follow(
    program: &Program,
    journey: &mut Journey,
    stub: &Stub,
    ends: &Ends,
    after: Option<u64>,
) -> Result<Followed> {
    let mut started = journey.copy()?;
    started.process.hold_signals()?;
    let guard = Guard::protect(&mut started.process, started.target.entry())?;
    let room = stub.room.filter(|_| after.is_some());
    assert_eq!(room.is_some(), after.is_some());
    Follower::new(program, &mut started.process, &started.target, started.begin, &guard, ends)
        .in_copy(room, after.unwrap_or(0))?
        .run()
}

/// Everything that is known of a call.
fn known(followed: &Result<Followed>) -> String {
    match followed {
        Ok(Followed { branches, entries, partials, system_calls, sources, path, .. }) => {
            format!("{branches:?} {entries} {partials:?} {system_calls:?} {sources:?} {path:x}")
        }
        Err(error) => error.to_string(),
    }
}

/// What following both ways took in all.
#[derive(Debug, Default)]
struct BothWays {
    branches: u64,
    /// Stops from breakpoint to breakpoint, and in the copy.
    stepped: u64,
    copied: u64,
    /// Why the copy did not run to the end.
    why: Option<&'static str>,
    /// Why the call cannot be followed, either way.
    refused: Option<String>,
}

/// Follows the call of `work` in a program both ways.
fn follow_both_ways(path: &Path, input: &str) -> BothWays {
    let folder = Path::new("/nonexistent");
    let mut program = Program::new(path, folder, "work", 0, Duration::from_secs(60)).unwrap();
    let input = Input { text: input.into(), arguments: vec![input.into()], stdin: None };
    let mut journey = Journey::begin(&mut program, &input).unwrap();
    let (from, entry, size) = (journey.from, journey.target.entry(), journey.target.code.size());
    let mappings = journey.mappings.clone();
    let stub = Stub::install(journey.process(), &mappings, from, entry, size, 64).unwrap();
    journey.next_call(&program).unwrap();
    let graph = cut(&journey.target.code, entry, &Observed::new());
    let every: Ends =
        graph.blocks.iter().map(|block| (block.start, BTreeSet::from([1, 3, 40]))).collect();
    let mut sums = BothWays::default();
    for ends in [Ends::new(), every] {
        let stepped = follow(&program, &mut journey, &stub, &ends, None);
        let copied = follow(&program, &mut journey, &stub, &ends, Some(0));
        assert_eq!(known(&stepped), known(&copied), "{}", path.display());
        let later = follow(&program, &mut journey, &stub, &ends, Some(7));
        assert_eq!(known(&stepped), known(&later), "{}, in the copy after 7 stops", path.display());
        sums.refused = stepped.as_ref().err().map(ToString::to_string);
        if let (Ok(stepped), Ok(copied)) = (stepped, copied) {
            assert!(stepped.stepped.is_some_and(|why| why.contains("no room")));
            let branches = sums.branches + stepped.branches.values().sum::<u64>();
            (sums.branches, sums.why) = (branches, copied.stepped);
            (sums.stepped, sums.copied) =
                (sums.stepped + stepped.stops, sums.copied + copied.stops);
        }
    }
    sums
}

#[test]
fn random_functions_are_followed_alike_both_ways() {
    const FLAGS: [&[&str]; 6] = [
        &["-O0"],
        &["-O1"],
        &["-O2"],
        &["-Os"],
        &["-O2", "-fcf-protection=full"],
        &["-O2", "-mindirect-branch=thunk", "-fno-pie", "-no-pie"],
    ];
    let folder = tempfile::TempDir::new().unwrap();
    let mut sums = BothWays::default();
    for (seed, flags) in (0..18u64).zip(FLAGS.iter().cycle()) {
        let mut dice = Pcg64Mcg::seed_from_u64(seed);
        let source =
            format!("{COMMON_CODE}{}{}{END}", statements(&mut dice, 0), statements(&mut dice, 0));
        let program = compile(folder.path(), &source, flags);
        for input in ["1", "7", "123456"] {
            let outcome = follow_both_ways(&program, input);
            assert_eq!((outcome.why, &outcome.refused), (None, &None));
            sums.branches += outcome.branches;
            (sums.stepped, sums.copied) =
                (sums.stepped + outcome.stepped, sums.copied + outcome.copied);
        }
    }
    assert!(sums.branches > 1_000 && sums.copied < sums.stepped, "{sums:?}");
}

/// Whatever must not differ in the copy, or depends on where code is, decides a branch: short
/// branches, the red zone, flags that live across a branch, a computed jump, a call through the
/// stack, the return address that a system call leaves in a register, and that of a call.
const PLACES: &str = r#"
#include <stdlib.h>
__attribute__((noinline)) unsigned three(unsigned a) { return a * 3 + 1; }
unsigned work(unsigned x, unsigned depth);
__asm__(".globl work\n.type work, @function\nwork:\npush %rbx\nmov $90, %ebx\n0:\n"
        "lea (%rdi, %rbx), %ecx\nand $7, %ecx\ninc %ecx\nxor %eax, %eax\n1: add $3, %eax\nloop 1b\n"
        "lea (%rdi, %rbx), %ecx\nand $3, %ecx\njrcxz 2f\nadd $100, %eax\n2:\n"
        "mov %rax, -8(%rsp)\nmov %rdi, -128(%rsp)\nstc\ncmp $200, %rax\njb 3f\nnop\n3: adc $0, %eax\n"
        "mov %eax, %edx\nand $3, %edx\nlea 9f(%rip), %r8\nmovslq (%r8, %rdx, 4), %rdx\nadd %r8, %rdx\njmp *%rdx\n"
        "4: add $1, %edi\njmp 6f\n5: add $2, %edi\n6: cmp %rdi, -128(%rsp)\nja 8f\nadd -8(%rsp), %rdi\n"
        "sub $32, %rsp\nlea three(%rip), %r9\nmov %r9, 8(%rsp)\ncall *8(%rsp)\nadd $32, %rsp\nmov %eax, %edi\n"
        "mov $39, %eax\nsyscall\n7: lea 7b(%rip), %rdx\ncmp %rcx, %rdx\njne 8f\n"
        "call 10f\n10: pop %rdx\nlea 10b(%rip), %rcx\ncmp %rcx, %rdx\njne 8f\n"
        "dec %ebx\njnz 0b\nmov %edi, %eax\n8: pop %rbx\nret\n"
        ".balign 4\n9: .long 4b - 9b, 5b - 9b, 6b - 9b, 5b - 9b\n.size work, . - work\n");
int main(int count, char **all) { return work(count > 1 ? atoi(all[1]) : 1, 2) & 1; }
"#;

#[test]
fn the_copy_cannot_be_told_from_the_function() {
    let folder = tempfile::TempDir::new().unwrap();
    let program = compile(folder.path(), PLACES, &["-O2"]);
    for input in ["0", "1", "77"] {
        let outcome = follow_both_ways(&program, input);
        // Ninety trips, of six branches and more.
        assert!(
            outcome.branches > 2 * 90 * 6
                && outcome.copied * 2 < outcome.stepped
                && outcome.why.is_none(),
            "{outcome:?}"
        );
    }
}

/// A table behind a call that never returns, with or without a byte between them; the function
/// counts by its words.
fn with_table(between: &str) -> String {
    format!(
        r#"
#include <stdlib.h>
unsigned work(unsigned x, unsigned depth);
__asm__(".globl work\n.type work, @function\nwork:\npush %rbx\nmov $90, %ebx\nmov %edi, %eax\nlea 9f(%rip), %r8\n"
        "0: mov %eax, %edx\nand $3, %edx\nadd (%r8, %rdx, 4), %eax\ntest $4, %eax\njz 1f\nadd $7, %eax\n"
        "1: dec %ebx\njnz 0b\ntest %ebx, %ebx\njnz 2f\npop %rbx\nret\n"
        "2: call abort\n{between}\n9: .long 11, 22, 35, 48\n.size work, . - work\n");
int main(int count, char **all) {{ return work(count > 1 ? atoi(all[1]) : 1, 2) & 1; }}
"#
    )
}

#[test]
fn data_behind_a_call_that_never_returns_stays_as_it_is() {
    let folder = tempfile::TempDir::new().unwrap();
    let outcome = follow_both_ways(&compile(folder.path(), &with_table("nop"), &["-O2"]), "1");
    assert!(
        outcome.branches > 2 * 180 && outcome.copied * 2 < outcome.stepped && outcome.why.is_none(),
        "{outcome:?}"
    );
    let outcome = follow_both_ways(&compile(folder.path(), &with_table(""), &["-O2"]), "1");
    assert!(
        outcome.why.is_some_and(|why| why.contains("data")) && outcome.copied == outcome.stepped,
        "{outcome:?}"
    );
}

/// More branches than the log has room for: it is taken when it is full, and goes on.
const LONG_LOOP: &str = "
#include <stdlib.h>
__attribute__((noinline)) unsigned work(unsigned x, unsigned depth) {
  for (unsigned i = 0; i < 35000; i++) { if (x & 1 << i % 13) x = x * 5 + 3; else x ^= i; }
  return x;
}
int main(int count, char **all) { return work(count > 1 ? atoi(all[1]) : 1, 2) & 1; }
";

#[test]
fn log_that_is_full_loses_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    let program =
        compile(folder.path(), LONG_LOOP, &["-O1", "-fno-if-conversion", "-fno-if-conversion2"]);
    let outcome = follow_both_ways(&program, "1");
    assert!(
        outcome.branches > 2 * 65_536
            && (3..100).contains(&outcome.copied)
            && outcome.why.is_none(),
        "{outcome:?}"
    );
}

/// A fault in the copy: the handler of the program must see it at the function's own instruction,
/// or it ends the program. That the handler returns is refused, either way.
const FAULTS: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
unsigned number = 5;
unsigned work(unsigned x, unsigned depth);
extern char loads[];
static void repair(int signal, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  if (registers[REG_RIP] != (greg_t)loads) _Exit(9);
  registers[REG_RCX] = (greg_t)&number;
}
__asm__(".globl work\n.type work, @function\nwork:\nmov $40, %edx\nmov %edi, %eax\n"
        "0: xor %ecx, %ecx\ncmp $5, %edx\njz loads\nlea number(%rip), %rcx\n"
        ".globl loads\nloads: add (%rcx), %eax\nimul $3, %eax\ndec %edx\njnz 0b\nret\n.size work, . - work\n");
int main(int count, char **all) {
  struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
  return work(count > 1 ? atoi(all[1]) : 1, 2) & 1;
}
"#;

#[test]
fn handler_of_the_program_sees_a_fault_of_the_copy_in_the_function() {
    let folder = tempfile::TempDir::new().unwrap();
    let program = compile(folder.path(), FAULTS, &["-O1"]);
    let all = follow_both_ways(&program, "3");
    assert!(all.refused.as_ref().is_some_and(|why| why.contains("rt_sigreturn")), "{all:?}");
}

/// A function whose copy takes more than the room for it: short branches, one behind the other,
/// that are found when the copy runs.
const LARGE_FUNCTION: &str = r#"
#include <stdlib.h>
unsigned work(unsigned x, unsigned depth);
__asm__(".globl work\n.type work, @function\nwork:\nmov $200, %ecx\n0: add $3, %edi\ndec %ecx\njnz 0b\n"
        "lea 1f(%rip), %rdx\njmp *%rdx\n1: test %edi, %edi\n.rept 1500\njz 2f\n2:\n.endr\nmov %edi, %eax\nret\n.size work, . - work\n");
int main(int count, char **all) { return work(count > 1 ? atoi(all[1]) : 1, 2) & 1; }
"#;

#[test]
fn copy_that_becomes_too_large_is_left() {
    let folder = tempfile::TempDir::new().unwrap();
    let program = compile(folder.path(), LARGE_FUNCTION, &["-O1"]);
    let outcome = follow_both_ways(&program, "1");
    assert!(outcome.branches > 2 * 1_700 && outcome.copied < outcome.stepped, "{outcome:?}");
    assert_eq!(outcome.why, Some("the copy of the function is too large"));
}
