//! C++.

use crate::command::{Hairspring, time};

fn cpp(code: &str) -> Hairspring {
    time(code).option("--lang", "c++")
}

#[test]
fn objects_are_variables_too() {
    let sum = cpp("std::accumulate(v.begin(), v.end(), 0)")
        .option("--include", "vector")
        .option("--include", "numeric");
    let document = sum.given("std::vector<int> v(100, 1)").document();
    assert_eq!(document.mode().0, "throughput");
}

#[test]
fn scalars_are_chained_as_in_c() {
    let document = cpp("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5").document();
    assert_eq!(document.mode(), ("latency", "chained through x"));
    document.takes_a_few_cycles();
}

#[test]
fn lambdas_and_templates_are_expressions() {
    cpp("[&](int y) { return x * y; }(3)").given("int x = 3").succeeds();
    cpp("std::max<long>(x, 7)").option("--include", "algorithm").given("long x = 3").succeeds();
}

#[test]
fn functions_come_from_a_source_file() {
    let file =
        "struct Twice { int of(int x) const; };\nint Twice::of(int x) const { return x * 2; }\n";
    cpp("t.of(x)").given("int x = 3").with_file("twice.cpp", file).given("Twice t").succeeds();
}

#[test]
fn a_constructor_that_dies_is_reported() {
    cpp("s.a").given("struct S { int a; S() { abort(); } } s").fails("SIGABRT while it was loaded");
}

#[test]
fn an_exception_that_nobody_catches_is_reported() {
    let uncaught = |command: Hairspring| {
        command
            .fails("SIGABRT")
            .complains("it printed: terminate called after throwing an instance of 'int'")
    };
    uncaught(cpp("throw 3"));
    uncaught(cpp("x").given("int x").option("--setup", "throw 3;"));
}

#[test]
fn an_exception_that_is_caught_is_fine() {
    cpp("try { if (x) throw 3; } catch (int) { x = 1; }").given("int x = 1").succeeds();
}

#[test]
fn messages_name_the_users_line() {
    cpp("std::vektor<int> v")
        .fails("CODE:1:6: error: 'vektor'")
        .does_not_complain("checked.c")
        .does_not_complain("hs_");
    cpp("x").given("std::vektor<int> x").fails("--let:1");
}
