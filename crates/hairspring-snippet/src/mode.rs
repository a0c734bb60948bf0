//! Latency or throughput: whether one copy of the code waits for the copy before it.

use crate::declaration::Declaration;
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
    let judged = |mode, reason: &str| Judged { mode, reason: reason.to_owned() };
    if !request.cold.is_empty() {
        return judged(Some(Mode::Latency), "fenced: the caches are flushed before every evaluation");
    }
    if request.fence {
        return judged(Some(Mode::Latency), "fenced: an evaluation starts when all before it is done");
    }
    let init = request.init.as_deref().unwrap_or("");
    let (chained, hidden) = match request.language {
        Language::Asm => crate::asm::chained_register(init, code, &request.lets),
        Language::C | Language::Cpp => (chained_variable(code, &request.lets), hidden_chain(code, &request.lets)),
    };
    match (chained, hidden) {
        (Some(name), _) if sets_anew(init, &name) => {
            judged(Some(Mode::Throughput), &format!("--init sets {name} anew: copies are independent"))
        }
        (Some(name), _) => judged(Some(Mode::Latency), &format!("chained through {name}")),
        (None, Some(why)) => judged(None, &format!("latency or throughput: not known, {why}")),
        (None, None) => judged(Some(Mode::Throughput), "no variable carries one copy into the next"),
    }
}

/// Why a copy might wait for the one before although no variable that is assigned says so.
fn hidden_chain(code: &str, lets: &[Declaration]) -> Option<String> {
    let tokens = tokens(code);
    let declaration = |name: &String| lets.iter().find(|declaration| declaration.name == *name);
    let scalar = |name: &String| declaration(name).is_some_and(|d| !d.array && !d.declarator.contains('&'));
    if tokens.iter().any(|token| matches!(token.as_str(), "asm" | "__asm__" | "__asm")) {
        return Some("inline assembly may chain the copies".into());
    }
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is_member = at >= 2 && matches!(tokens[at - 2].as_str(), "." | "->" | "::");
        let local = |name: &String| is_word(name) && declared_here(&tokens, name);
        if is_assignment(token) {
            let steps = matches!(token.as_str(), "++" | "--");
            let behind = tokens.get(at + 1).filter(|_| steps);
            let target = before.filter(|name| is_word(name) || !steps || matches!(name.as_str(), "]" | ")")).or(behind);
            if !target.is_some_and(|name| !is_member && (scalar(name) || local(name))) {
                return Some("the code writes to memory that the next copy may read".into());
            }
        }
        let unary = before.is_none_or(|before| !is_word(before) && !matches!(before.as_str(), ")" | "]") || before == "return");
        if token == "&" && unary {
            return Some(format!("the code hands out the address of {}", tokens.get(at + 1).map_or("a variable", String::as_str)));
        }
        let handed =
            matches!(before.map(String::as_str), Some("(" | ",")) && matches!(tokens.get(at + 1).map(String::as_str), Some(")" | ","));
        let in_memory = declaration(token).is_some_and(|d| d.array || d.declarator.contains(['*', '&']));
        if handed && in_memory && !is_member && !callee(&tokens, at).is_some_and(|name| ONLY_READ.contains(&name)) {
            return Some(format!("a function that is handed {token} may write what the next copy reads"));
        }
    }
    None
}

/// Functions of the C library that only read what they are handed.
const ONLY_READ: [&str; 11] = ["strlen", "strcmp", "strncmp", "memcmp", "strchr", "strrchr", "memchr", "strstr", "atoi", "atol", "atof"];

/// The function whose argument a token is.
fn callee(tokens: &[String], at: usize) -> Option<&str> {
    let mut depth = 0i32;
    let open = (0..at).rev().find(|before| {
        match tokens[*before].as_str() {
            ")" => depth += 1,
            "(" => depth -= 1,
            _ => {}
        }
        depth < 0
    })?;
    tokens.get(open.checked_sub(1)?).map(String::as_str)
}

/// Whether a name is declared in the code itself: it stands behind a type.
fn declared_here(tokens: &[String], name: &str) -> bool {
    let behind_a_type = |at: usize| {
        at > 0 && (is_word(&tokens[at - 1]) && tokens[at - 1] != "return" || tokens[at - 1] == "*" && at > 1 && is_word(&tokens[at - 2]))
    };
    (0..tokens.len()).find(|at| tokens[*at] == name).is_some_and(behind_a_type)
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

/// The variable that carries one copy's result into the next, if there is one: it is assigned, and read elsewhere.
fn chained_variable(code: &str, lets: &[Declaration]) -> Option<String> {
    let tokens = tokens(code);
    let chained = lets.iter().find(|declaration| {
        let places: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at] == declaration.name && !is_member(&tokens, *at)).collect();
        let stepped = places.iter().any(|at| {
            let (before, after) = (at.checked_sub(1).map(|b| tokens[b].as_str()), tokens.get(at + 1).map(String::as_str));
            matches!(after, Some("++" | "--"))
                || matches!(before, Some("++" | "--"))
                || after.is_some_and(|token| is_assignment(token) && token != "=")
        });
        let assigned = places.iter().filter(|at| tokens.get(*at + 1).is_some_and(|token| token == "=")).count();
        stepped || assigned > 0 && places.len() > assigned
    });
    chained.map(|declaration| declaration.name.clone())
}

/// Whether an init gives a variable a value that does not depend on the one it had.
fn sets_anew(init: &str, name: &str) -> bool {
    let tokens = tokens(init);
    let places: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at] == name && !is_member(&tokens, *at)).collect();
    !places.is_empty() && places.iter().all(|at| tokens.get(at + 1).is_some_and(|token| token == "="))
}

fn is_member(tokens: &[String], at: usize) -> bool {
    at > 0 && matches!(tokens[at - 1].as_str(), "." | "->" | "::")
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

    fn chain(code: &str) -> Option<String> {
        let lets = ["uint64_t x = 3", "uint64_t c = 5", "double d = 2", "void *p = 0"].map(|text| Declaration::parse(text).unwrap());
        chained_variable(code, &lets)
    }

    #[test]
    fn assignments_that_feed_on_themselves_are_chains() {
        for code in
            ["x = x * c", "x *= c", "x++", "--x", "x = c; c = x + 1", "p = *(void **)p", "if (x > 3) x = x / 2; else x = 3 * x + 1;"]
        {
            assert!(chain(code).is_some(), "{code}");
        }
        for code in ["x * c", "x = c * 2", "sqrt(d)", "x == c", "f(x)", "s.x = s.x + 1", "\"x = x\"", "y = 3 /* x = x + 1 */"] {
            assert_eq!(chain(code), None, "{code}");
        }
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
        ] {
            assert_eq!(mode(code), None, "{code}");
        }
        for code in [
            "x & 3",
            "a[0] * 3",
            "strlen(t)",
            "f(x)",
            "int y = x; y += 2; x = y & 1 ? 2 : 3",
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
            let _ = chain(&text);
            let _ = Declaration::parse(&text);
        }
    }
}
