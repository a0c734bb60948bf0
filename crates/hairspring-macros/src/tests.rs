//! Right and wrong uses of the attribute.

use super::*;
use std::str::FromStr;

fn expanded(options: &str, function: &str) -> Result<String> {
    let tokens = |text| TokenStream::from_str(text).unwrap();
    bench(tokens(options), tokens(function)).map(|code| code.to_string())
}

/// The message about a wrong use of the attribute.
fn refusal(options: &str, function: &str) -> String {
    expanded(options, function).expect_err("must be refused").to_string()
}

#[test]
fn functions_of_the_right_form_are_accepted() {
    let right = [
        ("", "fn f() {}"),
        ("args = [1, 2], chain = 3u64,", "fn f(size: usize, x: u64) -> u64 { x }"),
        ("state = [0; 4], init = data.fill(1)", "fn f(data: &mut [u8; 4]) {}"),
        ("init = vec![1], copies = 4", "fn f(data: &mut Vec<u8>) {}"),
        ("cold = data, state = [0; 4]", "fn f(data: &[u8; 4]) {}"),
    ];
    for (options, function) in right {
        assert!(expanded(options, function).unwrap().contains("submit"), "{options}");
    }
}

#[test]
fn functions_of_another_form_are_refused() {
    let wrong = [
        ("async fn f() {}", "cannot be async"),
        ("unsafe fn f() {}", "cannot be unsafe"),
        ("fn f<T>() {}", "cannot be generic"),
        ("fn f(&self) {}", "not a method"),
        ("struct F;", "belongs to a function with a body"),
        ("fn f();", "belongs to a function with a body"),
    ];
    for (function, reason) in wrong {
        assert!(refusal("", function).contains(reason), "{function}: {}", refusal("", function));
    }
}

#[test]
fn parameters_and_options_must_fit() {
    let wrong = [
        ("", "fn f(x: u64) {}", "nothing gives `x` a value: `args`, `state`, `chain` or `init`"),
        ("args = [1]", "fn f() {}", "`args` needs a parameter that takes the argument"),
        (
            "chain = 1",
            "fn f() {}",
            "`chain` needs a parameter that takes the result of the copy before",
        ),
        ("state = 1", "fn f(x: u64) {}", "`x` must be a reference"),
        ("init = 1", "fn f(x: u64) {}", "`x` must be a reference"),
        ("chain = 1, init = 1", "fn f(x: u64, y: u64) {}", "nothing gives `y` a value"),
    ];
    for (options, function, reason) in wrong {
        assert!(
            refusal(options, function).contains(reason),
            "{options}: {}",
            refusal(options, function)
        );
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let wrong = [
        (
            "arg = [1]",
            "unknown option `arg`: there are args, chain, state, setup, init, cold, against, \
             copies",
        ),
        ("args", "`args` needs a value: `args = ...`"),
        ("setup = a(), setup = b()", "`setup` is given twice"),
        ("copies = 2", "from 4 to 256"),
        ("copies = 100_000", "from 4 to 256"),
        ("against = 3", "name of a function"),
        ("init = a(), cold = b", "cannot be another"),
    ];
    for (options, reason) in wrong {
        let said = refusal(options, "fn f() {}");
        assert!(said.contains(reason), "{options}: {said}");
    }
}

#[test]
fn paths_in_lower_case_are_called() {
    let text = |options| expanded(options, "fn f(data: &mut u8) {}").unwrap();
    assert!(text("init = make").contains("make ()"));
    assert!(text("init = module::make").contains("module :: make ()"));
    assert!(text("init = START").contains(", START)"));
    assert!(text("state = make, init = *data = 1").contains("make ()"));
}
