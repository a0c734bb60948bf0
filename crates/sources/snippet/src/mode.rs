//! Latency or throughput: whether one copy of the code waits for the copy before it.

use crate::declaration::Declaration;
use crate::flow::follow;
use crate::origins::State;
use crate::request::{Language, Request};
use crate::tokens::{is_assignment, is_word, tokens};
use serde::{Deserialize, Serialize};

/// What the slope of the line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Every copy waits for the one before: the slope is a latency.
    Latency,
    /// The copies are independent and may overlap: the slope is a reciprocal throughput.
    Throughput,
}

/// The mode of a piece of code and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The mode; `None` where the text of the code cannot tell.
    pub mode: Option<Mode>,
    /// The reason, in words.
    pub reason: String,
}

/// Judges one alternative of a request.
pub fn judge(request: &Request, code: &str) -> Judged {
    if !request.cold.is_empty() {
        return judged(Some(Mode::Latency), "fenced: the caches are flushed before every evaluation");
    }
    if request.fence {
        return judged(Some(Mode::Latency), "fenced: an evaluation starts when all before it is done");
    }
    let init = request.init.as_deref().unwrap_or("");
    match request.language {
        Language::Asm => judge_assembly(init, code, &request.lets),
        Language::C | Language::Cpp => judge_compiled(init, code, &request.lets),
    }
}

fn judged(mode: Option<Mode>, reason: &str) -> Judged {
    Judged { mode, reason: reason.to_owned() }
}

const INDEPENDENT: &str = "no variable carries one copy into the next";

fn latency(name: &str) -> Judged {
    judged(Some(Mode::Latency), &format!("chained through {name}"))
}

fn not_known(why: &str) -> Judged {
    judged(None, &format!("latency or throughput: not known, {why}"))
}

fn set_anew(name: &str) -> Judged {
    judged(Some(Mode::Throughput), &format!("--init sets {name} anew: copies are independent"))
}

fn judge_assembly(init: &str, code: &str, lets: &[Declaration]) -> Judged {
    let (chained, hidden) = crate::asm::chained_register(init, code, lets);
    match (chained, hidden) {
        (Some(name), _) => latency(&name),
        (None, Some(why)) => not_known(&why),
        (None, None) => match crate::asm::chained_register("", code, lets).0 {
            Some(name) => set_anew(&name),
            None => judged(Some(Mode::Throughput), INDEPENDENT),
        },
    }
}

fn judge_compiled(init: &str, code: &str, lets: &[Declaration]) -> Judged {
    let (alone, before) = (follow(code, lets, State::default()), follow(init, lets, State::default()));
    let whole = follow(code, lets, before.state);
    let assigned = || lets.iter().map(|declaration| declaration.name.as_str()).filter(|name| alone.assigned.contains(*name));
    // What the init does is of weight where it can see what the code has made.
    let seen_by_init = || tokens(init).iter().any(|token| assigned().any(|name| name == token));
    let in_init = before.doubt.filter(|_| seen_by_init());
    if let Some(name) = whole.state.cycle(assigned(), true) {
        latency(name)
    } else if let Some(why) = alone.doubt {
        not_known(&why)
    } else if let Some(why) = in_init {
        not_known(&format!("in --init {why}"))
    } else if let Some(name) = whole.state.cycle(assigned(), false) {
        not_known(&format!("a condition decides whether {name} carries one copy into the next"))
    } else if let Some(name) = alone.state.cycle(assigned(), false) {
        set_anew(name)
    } else {
        judged(Some(Mode::Throughput), INDEPENDENT)
    }
}

/// Whether the code is a single expression whose value must be kept alive (not statements, not an assignment).
pub fn is_expression(code: &str) -> bool {
    let code = code.trim().trim_end_matches(';');
    let tokens = tokens(code);
    let statement_words = ["if", "for", "while", "do", "switch", "return", "goto", "asm", "__asm__", "throw", "delete", "static"];
    let first_is_word = tokens.first().is_some_and(|first| statement_words.contains(&first.as_str()));
    !first_is_word
        && !tokens.iter().any(|token| token == ";")
        && tokens.first().is_none_or(|first| first != "{")
        && !looks_declared(&tokens)
        && !assigns_at_top(&tokens)
}

/// `double y = ...`: two words in a row before an `=`.
fn looks_declared(tokens: &[String]) -> bool {
    let equals = tokens.iter().position(|token| token == "=").unwrap_or(0);
    equals >= 2
        && is_word(&tokens[equals - 1])
        && (is_word(&tokens[equals - 2]) || tokens[equals - 2] == "*" && equals >= 3 && is_word(&tokens[equals - 3]))
}

fn assigns_at_top(tokens: &[String]) -> bool {
    let mut depth = 0i32;
    tokens.iter().any(|token| {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && is_assignment(token)
    })
}

/// Whether there is nothing but comments and semicolons.
pub fn is_empty(code: &str) -> bool {
    !code.contains('#') && tokens(code).iter().all(|token| token == ";")
}

/// Whether the code returns to whoever runs it, and so past the end of the measurement. A lambda returns to the code.
pub fn returns(code: &str) -> bool {
    let tokens = tokens(code);
    let lambda = tokens.windows(2).any(|pair| pair[0] == "]" && matches!(pair[1].as_str(), "(" | "{"));
    tokens.iter().any(|token| token == "return") && !lambda
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::split_directives;

    fn mode_of(init: &str, code: &str) -> Option<Mode> {
        let lets = ["uint64_t x = 3", "uint64_t c = 5", "double d = 2", "void *p = 0", "double y = 2", "Counter k", "std::vector<int> v"];
        let lets = lets.map(|text| Declaration::parse(text).unwrap()).to_vec();
        judge(&Request { lets, init: (!init.is_empty()).then(|| init.into()), language: Language::Cpp, ..Request::default() }, code).mode
    }

    const LATENCY: Option<Mode> = Some(Mode::Latency);
    const THROUGHPUT: Option<Mode> = Some(Mode::Throughput);

    #[test]
    fn assignments_that_feed_on_themselves_are_chains() {
        for code in [
            "x = x * c",
            "x *= c",
            "x++",
            "--x",
            "x = c; c = x + 1",
            "p = *(void **)p",
            "if (x > 3) x = x / 2; else x = 3 * x + 1;",
            "if (c) x = x * 2",
            "x = x > 3 ? x / 2 : 3 * x + 1",
            "d = sqrt(d)",
            "d = std::max(d, 2.0) + (double)(d)",
            "uint64_t t = x; x = c; c = t",
            "while (x < 100) x = x * c",
            "for (int i = 0; i < 3; i++) { x += i; }",
            "do { x = x * 3; } while (x < 50)",
            "c = (x = x + 1)",
            "#define TWICE(a) \\\n  ((a) * 2)\nx = TWICE(x) + 1",
            "switch (c) { case 1: x = x + 1; break; default: x = x * 3; }",
        ] {
            assert_eq!(mode_of("", code), LATENCY, "{code}");
        }
        for code in [
            "x * c",
            "x = c * 2",
            "#define N 12\nx = c * N",
            "sqrt(d)",
            "sqrtf(d) + __builtin_popcount(x) + isalpha(x)",
            "x == c",
            "y = 3 /* x = x + 1 */",
            "y = x; x = 3",
            "x = sizeof(x)",
            "x = sizeof x",
            "x, x = 3",
            "3 & x",
            "std::min(x, c) + std::abs(d) + std::max<int>(x, 3)",
            "static_cast<double>(x) * double(c) + v.size()",
            "uint64_t t = x + 1; c = t",
            "if (c) d = 1; else d = 2;",
            "x = strlen(\"x = x\")",
        ] {
            assert_eq!(mode_of("", code), THROUGHPUT, "{code}");
        }
    }

    #[test]
    fn functions_that_may_keep_state_are_not_known() {
        for code in [
            "inc(x)",
            "#define F(a) a = 3\nF(x)",
            "#define STEP x = x + 1\nSTEP",
            "#define F(a) 3\nx = F(x)",
            "#define F(a) ((a) * c)\nc = F(x)",
            "k.step()",
            "nexts()",
            "rand()",
            "x = rand()",
            "x = f(x)",
            "v.push_back(1)",
            "std::swap(x, c)",
            "(*p)(x)",
            "f<int>(x)",
            "mine::sqrt(d)",
            "k.sqrt(d)",
            "Counter other(x)",
            "[&](int a) { x = a; return x; }(3)",
            "static int n; n++",
            "x = x * 3; inc(x); x = x + 1",
        ] {
            assert_eq!(mode_of("", code), None, "{code}");
        }
        let lets = vec![Declaration::parse("int x = 3").unwrap()];
        let reason = judge(&Request { lets, ..Request::default() }, "inc(x)").reason;
        assert_eq!(reason, "latency or throughput: not known, inc may keep state or change what it is handed");
    }

    #[test]
    fn what_a_condition_decides_is_not_known() {
        for code in
            ["if (c) x = 3", "x = c ? 3 : x", "c && (x = 3)", "while (c) { x = 3; break; }", "x = x ? 2 : 3", "int i = x; x = i && c"]
        {
            assert_eq!(mode_of("", code), None, "{code}");
        }
    }

    #[test]
    fn an_init_is_part_of_the_chain() {
        for (init, code, mode) in [
            ("d = y", "y = d * d", LATENCY),
            ("if (y) d = 1.5", "d = d * d", None),
            ("memcpy(&d, &y, 8)", "d = d * d", None),
            ("reset(d)", "d = d * d", None),
            ("d = 1.5", "d = d * d", THROUGHPUT),
            ("if (y) d = 1.5; else d = 2.5", "d = d * d", THROUGHPUT),
            ("for (int i = 0; i < 4; i++) d = i", "d = d * d", THROUGHPUT),
            ("nexts()", "d = y * y", THROUGHPUT),
            ("d = g(y)", "y = d * d", None),
        ] {
            assert_eq!(mode_of(init, code), mode, "{init}: {code}");
        }
    }

    #[test]
    fn code_without_end_is_not_known() {
        let deep = format!("x = {}x{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(mode_of("", &deep), None);
        assert_eq!(mode_of("", &"if (x) while (c) ".repeat(2_000)), None);
        assert_eq!(mode_of("", &"x = x + c; ".repeat(2_000)), LATENCY);
    }

    #[test]
    fn an_init_that_sets_the_variable_breaks_the_chain() {
        let judged = |init: &str| {
            let lets = vec![Declaration::parse("double x = 2").unwrap()];
            judge(&Request { lets, init: Some(init.into()), ..Request::default() }, "x = x * x").mode
        };
        assert_eq!(judged("x = 1.5"), Some(Mode::Throughput));
        assert_eq!([judged("x = x + 1"), judged("x += 1"), judged("f()")], [Some(Mode::Latency); 3]);
    }

    #[test]
    fn a_chain_that_the_text_cannot_show_is_not_known() {
        let lets = ["uint64_t x = 3", "int a[4]", "struct p { int v; } s", "int *p = 0", "int &r = g", "char *t = 0"];
        let lets: Vec<Declaration> = lets.into_iter().map(|text| Declaration::parse(text).unwrap()).collect();
        let mode = |code: &str| judge(&Request { lets: lets.clone(), ..Request::default() }, code).mode;
        for code in [
            "a[0] = a[0] * 3",
            "a[1]++",
            "++a[1]",
            "s.v = s.v + 1",
            "p->v += 2",
            "*p = *p + 1",
            "(x) = x + 1",
            "f(&x)",
            "sort(a, 4)",
            "g = g * 3",
            "r = r + 1",
            "__asm__(\"imul %0, %0\" : \"+r\"(x))",
            "x = 3; f(p)",
            "f(x)",
            "int y = x; y += 2; x = y & 1 ? 2 : 3",
        ] {
            assert_eq!(mode(code), None, "{code}");
        }
        for code in [
            "x & 3",
            "a[0] * 3",
            "strlen(t)",
            "int y = x; y += 2; x = y < a[0]; x = 3",
            "for (int i = 0; i < 3; i++) x = i",
            "x = a[1] && *p",
        ] {
            assert_eq!(mode(code), Some(Mode::Throughput), "{code}");
        }
        assert_eq!(mode("x = x + a[0]"), Some(Mode::Latency));
    }

    #[test]
    fn code_that_returns_is_told_from_code_with_a_lambda() {
        assert!(returns("if (x) return 3;") && returns("return"));
        assert!(!returns("[&](int y) { return y; }(3)") && !returns("\"return\"") && !returns("returns(x)"));
    }

    #[test]
    fn directives_stand_before_the_code() {
        assert_eq!(split_directives("#define F(a) \\\n a\n# if 1\nF(x)\n#endif"), ("#define F(a) \\\n a\n# if 1\n", "F(x)\n#endif"));
        assert!(is_expression("#define F(a) a = 3;\nF(x)") && !is_expression("#define F 3\nx = F"));
        assert!(is_empty(" // x\n/* y */;") && !is_empty("x // y") && !is_empty("#error") && !is_empty("/* x"));
    }

    #[test]
    fn expressions_are_told_from_statements() {
        for code in ["x * c", "sqrt(d)", "f()", "x == c", "f(a = 3)", "x * c;", "(x, c)", "a[x] < c"] {
            assert!(is_expression(code), "{code}");
        }
        for code in
            ["x = x * c", "x += 1;", "int y = x; y++", "for (;;) x++", "{ f(); }", "a; b", "double y = sqrt(d)", "x++", "char *q = p"]
        {
            assert!(!is_expression(code), "{code}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}") {
            let _ = (is_expression(&text), is_empty(&text), returns(&text), split_directives(&text));
            let _ = mode_of(&text, &text);
            let _ = Declaration::parse(&text);
        }

        #[test]
        fn no_order_of_tokens_panics(
            text in "((x|c|d|int|f|if|else|for|while|do|switch|sizeof|std|3|=|\\+=|\\+\\+|&|&&|\\?|:|::|,|;|<|>|\\.|->|\\*|\\(|\\)|\\[|\\]|\\{|\\}) ){0,30}"
        ) {
            let _ = mode_of(&text, &text);
        }
    }
}
