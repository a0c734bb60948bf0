//! Code that the compiler refuses: the message is about the user's own line.

use crate::command::{Hairspring, needs, time};

/// Fails with the compiler's message, which names nothing of the instrument's own.
fn refused(command: Hairspring, with: &str) {
    let ended = command.fails("the code does not compile\n").complains(with);
    for own in ["hs_row", "hs_check", "checked.c", "pilot.c", "rows.c", "/hairspring-"] {
        assert!(!ended.error.contains(own), "`{own}` is the instrument's\n{ended}");
    }
}

fn x(code: &str) -> Hairspring {
    time(code).given("int x = 3")
}

#[test]
fn the_line_of_every_piece_is_named() {
    refused(x("x +\n nosuch"), "CODE:2:2: error: 'nosuch' undeclared");
    refused(x("x").option("--init", "nosuch++"), "--init:1:1: error:");
    refused(x("x").option("--setup", "x = 3;\nnosuch++"), "--setup:2:1: error:");
    refused(x("x").given("int y = nosuch"), "--let:2:9: error:");
    refused(x("x").option("--vs", "x + 1").option("--vs", "nosuch"), "--vs-2:1:1: error:");
    refused(x("x").option("--cold", "nosuch"), "--cold:1:");
}

#[test]
fn a_mistake_in_shared_code_is_reported_once() {
    let ended =
        x("x").option("--vs", "x + 1").option("--init", "nosuch++").fails("--init:1:1: error:");
    assert_eq!(ended.error.matches("error:").count(), 1, "{ended}");
}

#[test]
fn clang_names_the_line_too() {
    needs("clang");
    refused(x("x + nosuch").option("--cc", "clang"), "CODE:1:5: error:");
    let label = x("again: x = x * 3; if (x == 5) goto again;").option("--cc", "clang");
    refused(label, "label");
}

#[test]
fn braces_and_quotes_must_balance() {
    for code in ["x }", "{ x", "(x", "x)", "\"abc", "'a", "/* abc", "x[", "if (x", "#if 1\nx"] {
        refused(x(code), "CODE:");
    }
    for part in ["}", "{", "\"abc", "/* abc"] {
        refused(x("x").option("--init", part), "error:");
        refused(x("x").option("--setup", part), "error:");
    }
}

#[test]
fn directives_can_refuse_and_files_without_end_are_survived() {
    refused(x("#error not today"), "CODE:1:2: error: #error not today");
    refused(x("#include \"nosuch.h\""), "nosuch.h: No such file");
    refused(x("#include \"/dev/zero\""), "out of memory");
}

#[test]
fn functions_must_be_known() {
    refused(x("nosuch(x)"), "CODE:1:1: error: implicit declaration of function 'nosuch'");
    refused(
        x("extern int nosuch(int); nosuch(x);"),
        "undefined reference to `nosuch'\nfunctions that the code calls must be in --file",
    );
}

#[test]
fn labels_must_be_local() {
    refused(
        x("again: x = x * 3; if (x == 5) goto again;"),
        "error: duplicate label 'again'\nthe code is repeated",
    );
}

#[test]
fn a_missing_header_or_library_is_named() {
    refused(x("x").option("--include", "nosuch.h"), "nosuch.h: No such file");
    refused(x("x").option("--link", "-lnosuch"), "-lnosuch");
    refused(x("x").option("--cflags", "-nosuch"), "-nosuch");
}

#[test]
fn a_mistake_in_a_file_is_named_there() {
    refused(
        x("twice(x)").with_file("twice.c", "int twice(int x)\n{ return nosuch; }\n"),
        "twice.c:2:",
    );
}

#[test]
fn code_without_code_is_refused() {
    for code in ["", " ", ";", "// nothing", "/* nothing */ ;"] {
        x(code).ends_with(2).complains("CODE: alternative 1 is empty").in_one_line();
    }
    x("x").option("--vs", ";").ends_with(2).complains("alternative 2 is empty");
}

#[test]
fn code_that_returns_is_refused() {
    for code in ["return;", "if (x) return 0; x = x * 3"] {
        x(code).ends_with(2).complains("CODE: `return` would leave the measurement").in_one_line();
        x("x").option("--init", code).ends_with(2).complains("--init: `return`").in_one_line();
    }
    x("x = x * 3").option("--setup", "if (x) return; abort();").succeeds();
}

#[test]
fn declarations_must_declare() {
    for declaration in ["int", "x", "= 3", "", "int hs_now = 3"] {
        time("1").given(declaration).ends_with(2).complains("--let: ").in_one_line();
    }
    refused(x("x").given("int x = 4"), "redefinition of 'x'");
}

#[test]
fn more_alternatives_than_there_are_letters_for_are_refused() {
    let many = (0..16).fold(x("x"), |command, _| command.option("--vs", "x + 1"));
    many.ends_with(2).complains("17 alternatives given, 1 to 16 are allowed").in_one_line();
}

#[test]
fn long_code_works_and_its_messages_are_short() {
    // A single argument holds 128 KiB at most on Linux.
    let filler = "z".repeat(120_000);
    x(&format!("x = x * 3 /* {filler} */")).succeeds().says("chained through x");
    let ended = x(&format!("x = nosuch /* {filler} */")).fails("CODE:1:5: error:");
    assert!(ended.error.len() < 2_000, "{} bytes", ended.error.len());
}

#[test]
fn a_message_without_end_is_cut() {
    let many: String = (0..500).map(|number| format!("nosuch{number}();\n")).collect();
    let ended = x(&many).fails("CODE:1:1:");
    assert!(ended.error.lines().count() < 50 && ended.error.contains("more lines"), "{ended}");
}

#[test]
fn without_a_compiler_it_says_what_to_install() {
    x("x")
        .variable("PATH", "/nosuch")
        .fails("no C compiler found")
        .complains("apt-get install gcc")
        .in_one_line();
    x("x")
        .option("--lang", "c++")
        .variable("PATH", "/nosuch")
        .fails("no C++ compiler")
        .complains("apt-get install g++");
    x("x")
        .option("--cc", "nosuch")
        .fails("tried nosuch")
        .complains("apt-get install gcc")
        .in_one_line();
    x("x").variable("CC", "nosuch -m64").fails("tried nosuch -m64");
}

#[test]
fn a_compiler_that_fails_in_silence_is_reported() {
    let script = "case \"$*\" in *--version*) echo silent 1;; *) exit 3;; esac\n";
    x("x")
        .with_script("silent", script)
        .option("--cc", "./silent")
        .fails("(exit status: 3) without a message");
}

#[test]
fn a_compiler_that_makes_nonsense_is_reported() {
    let script = "case \"$*\" in *--version*) echo odd 1; exit;; esac\n\
                  while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo nonsense > \"$2\"; shift; done\n";
    x("x")
        .with_script("odd", script)
        .option("--cc", "./odd")
        .fails("the compiled rows cannot be read");
}

#[test]
fn files_must_be_there() {
    x("x").option("--file", "nosuch.c").fails("--file nosuch.c: No such file").in_one_line();
    x("x").option("--file", ".").fails("is not a file").in_one_line();
    x("x").option("--cflags", "\"").ends_with(2).complains("open quote").in_one_line();
}
