//! Properties of a piece of C or C++ that the generator needs before compiling it: whether it is an
//! expression, whose value must be used, or statements; whether it is empty; and whether it leaves
//! the measurement.

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

/// Words, numbers, literals and operators, without comments and preprocessor lines.
fn tokens(code: &str) -> Vec<String> {
    const OPERATORS: [&str; 22] = [
        "<<=", ">>=", "->", "++", "--", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=",
        "|=", "^=", "&&", "||", "<<", ">>", "::",
    ];
    let mut remarks = Vec::new();
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
            OPERATORS
                .iter()
                .find(|operator| rest.starts_with(**operator))
                .map_or(c.len_utf8(), |operator| operator.len())
        };
        let (token, tail) = rest.split_at(length);
        // An unterminated comment stays a token: the compiler reports it.
        let comment = token.starts_with("//")
            || token.starts_with("/*") && token.len() > 3 && token.ends_with("*/");
        if !c.is_whitespace() && c != '#' && !comment {
            remarks.push(token.to_owned());
        }
        rest = tail;
    }
    remarks
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

/// Whether a token assigns to the variable next to it.
fn is_assignment(token: &str) -> bool {
    matches!(
        token,
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "++" | "--"
    )
}

/// Whether a token is a name (or a keyword).
fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether the code takes the address of a variable: an `&` before its name that joins no two
/// values.
pub fn takes_address(code: &str, name: &str) -> bool {
    let tokens = tokens(code);
    let is = |at: Option<usize>, wanted_token: &str| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| token == wanted_token)
    };
    let is_operand = |at: usize| {
        let before = at.checked_sub(1).map(|before| tokens[before].as_str());
        let is_cast = is(at.checked_sub(2), "*");
        before.is_some_and(|token| {
            token == "]"
                || token == ")" && !is_cast
                || token.starts_with(char::is_alphanumeric) && token != "return"
        })
    };
    (0..tokens.len()).any(|at| tokens[at] == "&" && is(Some(at + 1), name) && !is_operand(at))
}

/// Whether the code assigns to a variable by its name.
pub fn assigns(code: &str, name: &str) -> bool {
    let tokens = tokens(code);
    let is_next = |at: usize| tokens.get(at).is_some_and(|token| is_assignment(token));
    let is_step = |at: usize| tokens.get(at).is_some_and(|token| token == "++" || token == "--");
    let is_member = |at: usize| {
        at.checked_sub(1).is_some_and(|before| [".", "->", "::"].contains(&tokens[before].as_str()))
    };
    let is_assigned = |at: usize| is_next(at + 1) || at.checked_sub(1).is_some_and(is_step);
    (0..tokens.len()).any(|at| tokens[at] == name && !is_member(at) && is_assigned(at))
}

/// Whether the code is a single expression whose value must be used (not statements, not an
/// assignment).
pub fn is_expression(code: &str) -> bool {
    let code = code.trim().trim_end_matches(';');
    let tokens = tokens(code);
    let statement_words = [
        "if", "for", "while", "do", "switch", "return", "goto", "asm", "__asm__", "throw",
        "delete", "static",
    ];
    let first_is_word =
        tokens.first().is_some_and(|first| statement_words.contains(&first.as_str()));
    !first_is_word
        && !tokens.iter().any(|token| token == ";")
        && tokens.first().is_none_or(|first| first != "{")
        && !looks_declared(&tokens)
        && !is_declaration(&tokens)
        && !assigns_at_top(&tokens)
}

/// `std::string q(s)`, `std::vector<int> v{3}`, `int y`: the words of a type, and a name behind
/// them.
fn is_declaration(tokens: &[String]) -> bool {
    const OPERATORS: [&str; 18] = [
        "sizeof", "alignof", "_Alignof", "typeid", "new", "not", "compl", "co_await", "and", "or",
        "xor", "bitand", "bitor", "not_eq", "and_eq", "or_eq", "xor_eq", "case",
    ];
    let is_name = |at: usize| {
        tokens.get(at).is_some_and(|token| is_word(token) && !OPERATORS.contains(&token.as_str()))
    };
    let is =
        |at: usize, wanted_token: &str| tokens.get(at).is_some_and(|token| token == wanted_token);
    let Some(at) = end_of_type(tokens, usize::from(is(0, "::")), &is_name) else { return false };
    // Further words of the type, as in `unsigned long`, and the name.
    let words = (at..).take_while(|at| is_name(*at)).count();
    words > 0
        && (at + words == tokens.len() || ["(", "{", "["].iter().any(|open| is(at + words, open)))
}

/// Where the name of a type that begins at a token ends, with its templates' arguments.
fn end_of_type(tokens: &[String], mut at: usize, is_name: &dyn Fn(usize) -> bool) -> Option<usize> {
    let is =
        |at: usize, wanted_token: &str| tokens.get(at).is_some_and(|token| token == wanted_token);
    while is_name(at) {
        at += 1;
        if is(at, "<") {
            at += end_of_arguments(&tokens[at..])?;
        }
        if !is(at, "::") {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Tokens up to the bracket that closes the arguments of a template.
fn end_of_arguments(tokens: &[String]) -> Option<usize> {
    let mut depth = 0i32;
    let closes = |token: &String| {
        depth += match token.as_str() {
            "<" => 1,
            ">" => -1,
            ">>" => -2,
            _ => 0,
        };
        depth <= 0
    };
    let end = tokens.iter().position(closes)? + 1;
    // What joins two values is in no type.
    let is_type = |token: &String| {
        !matches!(
            token.as_str(),
            "&&" | "||" | "==" | "!=" | "<=" | ">=" | "+" | "-" | "/" | "%" | "?"
        )
    };
    tokens[..end].iter().all(is_type).then_some(end)
}

/// `double y = ...`: two words in a row before an `=`.
fn looks_declared(tokens: &[String]) -> bool {
    let equals = tokens.iter().position(|token| token == "=").unwrap_or(0);
    equals >= 2
        && is_word(&tokens[equals - 1])
        && (is_word(&tokens[equals - 2])
            || tokens[equals - 2] == "*" && equals >= 3 && is_word(&tokens[equals - 3]))
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

/// Whether the code has only comments and semicolons.
pub fn is_empty(code: &str) -> bool {
    !code.contains('#') && tokens(code).iter().all(|token| token == ";")
}

/// Whether the code returns from the row and so skips the end of the measurement. A lambda's return
/// does not count.
pub fn returns(code: &str) -> bool {
    let tokens = tokens(code);
    let lambda =
        tokens.windows(2).any(|pair| pair[0] == "]" && matches!(pair[1].as_str(), "(" | "{"));
    tokens.iter().any(|token| token == "return") && !lambda
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_no_conjunction() {
        for code in [
            "f(&v)",
            "x = &v",
            "&v",
            "*(char *)&v = 1",
            "a ? &v : &w",
            "return &v;",
            "a && f(& v)",
            "x + *&v",
        ] {
            assert!(takes_address(code, "v"), "{code}");
        }
        for code in [
            "x & v",
            "x[1] & v",
            "f(x) & v",
            "a && v",
            "x &= v",
            "f(&value)",
            "\"&v\"",
            "v",
            "7 & v",
            "f(v_&v)",
        ] {
            assert!(!takes_address(code, "v"), "{code}");
        }
    }

    #[test]
    fn what_the_code_assigns_to_is_known_by_its_name() {
        for code in ["m[k++] = 1", "--k", "k = k * 3", "f(k += 2)", "k <<= 1"] {
            assert!(assigns(code, "k"), "{code}");
        }
        for code in ["m[k] = 1", "k == 3", "a.k = 3", "x = k", "p->k++", "kk++"] {
            assert!(!assigns(code, "k"), "{code}");
        }
    }

    #[test]
    fn return_is_detected_except_in_a_lambda() {
        assert!(returns("if (x) return 3;") && returns("return"));
        assert!(
            !returns("[&](int y) { return y; }(3)")
                && !returns("\"return\"")
                && !returns("returns(x)")
        );
    }

    #[test]
    fn directives_are_split_from_the_code() {
        assert_eq!(
            split_directives("#define F(a) \\\n a\n# if 1\nF(x)\n#endif"),
            ("#define F(a) \\\n a\n# if 1\n", "F(x)\n#endif")
        );
        assert!(is_expression("#define F(a) a = 3;\nF(x)") && !is_expression("#define F 3\nx = F"));
        assert!(
            is_empty(" // x\n/* y */;")
                && !is_empty("x // y")
                && !is_empty("#error")
                && !is_empty("/* x")
        );
    }

    #[test]
    fn expressions_are_distinguished_from_statements() {
        for code in [
            "x * c",
            "sqrt(d)",
            "f()",
            "x == c",
            "f(a = 3)",
            "x * c;",
            "(x, c)",
            "a[x] < c",
            "sizeof x",
            "new T(3)",
            "x and c",
            "std::max(x, c)",
            "std::get<0>(t)",
            "std::vector<int>(3)",
            "a < b && c > d",
            "x",
            "f(x)(c)",
            "not x",
        ] {
            assert!(is_expression(code), "{code}");
        }
        for code in [
            "x = x * c",
            "x += 1;",
            "int y = x; y++",
            "for (;;) x++",
            "{ f(); }",
            "a; b",
            "double y = sqrt(d)",
            "x++",
            "char *q = p",
            "std::string q(s);",
            "std::vector<int> v{3}",
            "std::map<int, std::vector<int>> m",
            "std::vector<int>::iterator i(v.begin())",
            "int y",
            "unsigned long y[4]",
            "T t(x)",
        ] {
            assert!(!is_expression(code), "{code}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}") {
            let _ = (is_expression(&text), is_empty(&text), returns(&text),
                split_directives(&text));
        }
    }
}
