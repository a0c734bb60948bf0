//! Code that takes memory or prints without end, and code that prints a little.

use crate::command::time;

#[test]
fn memory_without_end_is_reported() {
    time("for (;;) { volatile char *p = malloc(64 << 20); *p = 1; }")
        .fails("SIGSEGV at address 0x0")
        .complains("allocate without limit");
}

#[test]
fn memory_that_is_never_given_back_is_reported() {
    time("(char *)malloc(16 << 20)")
        .fails("used up its memory")
        .complains("allocate without limit");
}

#[test]
fn memory_that_is_given_back_is_fine() {
    time("free(malloc(1 << 20))").option("--cflags", "-O0").succeeds();
}

#[test]
fn printing_a_little_is_a_finding() {
    for code in ["puts(\"hello\")", "fputs(\"hello\\n\", stderr)"] {
        let document = time(code).document();
        let printed = document.finding("printed");
        assert_eq!(printed["first_line"], "hello");
        assert!(printed["bytes"].as_u64().is_some_and(|bytes| bytes >= 6), "{printed:#}");
    }
    let document =
        time("x = x * 3").given("int x = 3").option("--setup", "puts(\"once\");").document();
    assert_eq!(
        (&document.finding("printed")["first_line"], &document.finding("printed")["bytes"]),
        (&"once".into(), &5.into())
    );
}

#[test]
fn printing_a_lot_is_counted_and_dropped() {
    let document =
        time("fwrite(a, 1, sizeof a, stdout)").given("char a[100000] = \"much\"").document();
    assert!(document.finding("printed")["bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
}

#[test]
fn printing_without_end_is_reported() {
    time("for (;;) puts(\"more\")").fails("wrote more than 16 MiB").complains("it printed: m");
}

#[test]
fn a_file_without_end_is_reported() {
    let setup = "FILE *f = fopen(\"big\", \"w\"); for (;;) fputs(\"more\", f);";
    time("1").option("--setup", setup).fails("wrote more than 16 MiB");
}
