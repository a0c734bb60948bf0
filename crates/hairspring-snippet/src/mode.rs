//! Latency or throughput: whether one copy of the code waits for the copy before it.

use crate::declaration::Declaration;
use crate::request::{Language, Request};
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
    /// The mode.
    pub mode: Mode,
    /// The reason, in words.
    pub reason: String,
}

/// Judges one alternative of a request.
pub fn judge(request: &Request, code: &str) -> Judged {
    if !request.cold.is_empty() {
        return Judged { mode: Mode::Latency, reason: "fenced: the caches are flushed before every evaluation".into() };
    }
    let init = request.init.as_deref().unwrap_or("");
    let chained = match request.language {
        Language::Asm => super::asm::chained_register(&format!("{init}\n{code}"), &request.lets),
        Language::C | Language::Cpp => chained_variable(code, &request.lets),
    };
    match chained {
        Some(name) if sets_anew(init, &name) => {
            Judged { mode: Mode::Throughput, reason: format!("--init sets {name} anew: copies are independent") }
        }
        Some(name) => Judged { mode: Mode::Latency, reason: format!("chained through {name}") },
        None => Judged { mode: Mode::Throughput, reason: "no variable carries one copy into the next".into() },
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

fn is_assignment(token: &str) -> bool {
    matches!(token, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "++" | "--")
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
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

/// The preprocessor's lines at the start of a piece of code, and the rest.
pub fn split_directives(code: &str) -> (&str, &str) {
    let mut end = 0;
    let mut goes_on = false;
    for line in code.split_inclusive('\n') {
        if !goes_on && !line.trim_start().starts_with('#') {
            break;
        }
        goes_on = line.trim_end_matches(['\r', '\n']).ends_with('\\');
        end += line.len();
    }
    code.split_at(end)
}

/// Words, numbers, literals and operators; comments and the preprocessor's lines fall away.
fn tokens(code: &str) -> Vec<String> {
    const OPERATORS: [&str; 22] = [
        "<<=", ">>=", "->", "++", "--", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&&", "||", "<<", ">>",
        "::",
    ];
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_alphanumeric() || c == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if c == '"' || c == '\'' {
            literal_length(rest, c)
        } else if c == '#' {
            split_directives(rest).0.len()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else {
            OPERATORS.iter().find(|operator| rest.starts_with(**operator)).map_or(c.len_utf8(), |operator| operator.len())
        };
        let (token, tail) = rest.split_at(length);
        // A comment that nobody ends is something for the compiler to complain about.
        let comment = token.starts_with("//") || token.starts_with("/*") && token.len() > 3 && token.ends_with("*/");
        if !c.is_whitespace() && c != '#' && !comment {
            found.push(token.to_owned());
        }
        rest = tail;
    }
    found
}

fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(judged("x = 1.5"), Mode::Throughput);
        assert_eq!([judged("x = x + 1"), judged("x += 1"), judged("f()")], [Mode::Latency; 3]);
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
