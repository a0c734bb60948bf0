//! Tokens of C and C++, as far as the questions about a piece of code need them.

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
pub fn tokens(code: &str) -> Vec<String> {
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

/// Whether a token gives the variable beside it a value.
pub fn is_assignment(token: &str) -> bool {
    matches!(token, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "++" | "--")
}

/// Whether a token is a name (or a keyword).
pub fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
