//! `--let` declarations: parses enough of C's declarators to get the name and whether the variable
//! fits a register.

use crate::error::Result;
use crate::request::bad;

/// A declared variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The declaration as given, in one line and without a semicolon.
    pub text: String,
    /// Name of the variable.
    pub name: String,
    /// Everything before the initialiser.
    pub declarator: String,
    /// Whether there is an initialiser after `=`.
    pub initialised: bool,
    /// Whether it is an array.
    pub array: bool,
}

impl Declaration {
    /// Parses a declaration such as `uint64_t x = 3`, `char *p = malloc(64)` or
    /// `int a[4] = {3, 1, 2, 0}`.
    ///
    /// # Errors
    /// If no name can be found in it.
    ///
    /// ```
    /// use hairspring_snippet::Declaration;
    /// let declaration = Declaration::parse("const uint64_t x = 3;").unwrap();
    /// assert_eq!((declaration.name.as_str(), declaration.text.as_str()), ("x", "uint64_t x = 3"));
    /// ```
    pub fn parse(text: &str) -> Result<Declaration> {
        let line = text.replace(['\n', '\r'], " ");
        let mut line = line.trim().trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        // Every variable is a static one.
        while let Some(rest) =
            ["static ", "register "].iter().find_map(|word| line.strip_prefix(word))
        {
            line = rest.trim_start();
        }
        let variable = as_variable(&line.replace("(*const ", "(*").replace("(* const ", "(*"));
        let line = variable.as_str();
        let cut = top_level_equals(line);
        let declarator = line[..cut.unwrap_or(line.len())].trim().to_owned();
        let declared = without_template_arguments(after_type_body(&declarator));
        let name = name_in(&declared);
        let words = declarator.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).count();
        if declares_more(line) {
            let each = "declare each variable with a --let of its own, as in --let 'int a = 1' \
                        --let 'int b = 2'";
            return Err(bad("--let", format!("`{text}` declares more than one variable: {each}")));
        }
        match name {
            Some(name) if words >= 2 && !name.starts_with("hs_") => {
                let array = is_array(&declared);
                Ok(Declaration {
                    text: line.to_owned(),
                    name,
                    declarator,
                    initialised: cut.is_some(),
                    array,
                })
            }
            Some(name) if name.starts_with("hs_") => {
                Err(bad("--let", format!("`{name}`: names that begin with hs_ are reserved")))
            }
            _ => Err(bad(
                "--let",
                format!(
                    "`{text}` is not a declaration: expected a type and a name, as in 'uint64_t x \
                     = 3'"
                ),
            )),
        }
    }

    /// Whether it has the type of a vector, which registers hold if the compiler's flags allow it.
    pub fn is_vector(&self) -> bool {
        let vector = |word: &str| {
            ["__m128", "__m256", "__m512"].iter().any(|prefix| word.starts_with(prefix))
        };
        self.declarator.split(|c: char| !is_word(c)).any(vector) && self.is_single()
    }

    /// Whether it has a scalar type that no register holds, so that copies access it in memory.
    pub fn is_wide_scalar(&self) -> bool {
        let words: Vec<&str> = self.declarator.split(|c: char| !is_word(c)).collect();
        let has = |word: &str| words.contains(&word);
        let wide = has("_Complex")
            || has("complex")
            || has("long") && has("double")
            || ["__int128", "__int128_t", "__uint128_t", "__float128", "_Float128"]
                .into_iter()
                .any(has);
        wide && self.is_single()
    }

    /// Whether it has a type of integers that its words tell, as `unsigned long` or `uint8_t`.
    pub fn is_integer(&self) -> bool {
        const WORDS: [&str; 9] =
            ["int", "unsigned", "signed", "long", "short", "char", "volatile", "bool", "_Bool"];
        let is_type = |word: &&str| WORDS.contains(word) || word.ends_with("_t");
        let head = self.declarator.split(['{', '(']).next().unwrap_or_default();
        let mut words = head
            .split(|c: char| !is_word(c))
            .filter(|word| !["", "std", &self.name].contains(word));
        words.all(|word| is_type(&word))
            && !self.array
            && !head.contains(['*', '&', '<'])
            && !self.is_wide_scalar()
    }

    fn is_single(&self) -> bool {
        !self.array && !self.declarator.contains(['*', '&', '{', '<'])
    }

    /// Whether the initialiser cannot be copied in later because the declarator has no size of its
    /// own (`int a[] = ...`).
    pub fn sized_by_initialiser(&self) -> bool {
        self.declarator.replace(' ', "").contains("[]")
    }
}

/// What follows the body of a type that is defined in the declaration: `s[3]` in
/// `struct point { int x, y; } s[3]`.
fn after_type_body(declarator: &str) -> &str {
    let defines =
        ["struct", "union", "enum", "class"].iter().any(|word| declarator.starts_with(word));
    let mut depth = 0i32;
    let end = declarator.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        *c == '}' && depth == 0
    });
    let behind = end.map(|(at, _)| declarator[at + 1..].trim());
    behind.filter(|behind| defines && !behind.is_empty()).unwrap_or(declarator)
}

/// The declaration of a variable in place of that of a constant, which would not be opaque: the
/// compiler may use its value directly. What it points or refers to may be constant.
fn as_variable(line: &str) -> String {
    let start = line.find(['=', '(', '[', '{']).unwrap_or(line.len());
    let (declarator, rest) = line.split_at(start);
    let mut depth = 0i32;
    let mut is_outside = |c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0
    };
    let outside = declarator.char_indices().filter(|(_, c)| is_outside(*c));
    let pointee =
        outside.filter(|(_, c)| matches!(c, '*' | '&')).last().map_or(0, |(at, _)| at + 1);
    let is_const = |word: &str| matches!(word, "const" | "constexpr" | "constinit");
    let own_words: Vec<&str> = declarator[pointee..]
        .split_inclusive(' ')
        .filter(|word| !is_const(word.trim_end()))
        .collect();
    let pointed = &declarator[..pointee];
    let pointed = pointed.strip_prefix("constexpr ").unwrap_or(pointed);
    format!("{pointed}{}{rest}", own_words.concat().trim_start()).trim().to_owned()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Place of the `=` that begins the initialiser.
fn top_level_equals(line: &str) -> Option<usize> {
    let mut depth = 0i32;
    line.char_indices()
        .find(|(_, c)| {
            depth += match c {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            };
            *c == '=' && depth == 0
        })
        .map(|(at, _)| at)
}

/// Whether there is a comma outside all brackets and quotes.
fn declares_more(line: &str) -> bool {
    let (mut depth, mut quote, mut before) = (0i32, None, ' ');
    for c in line.chars() {
        match (quote, c) {
            (Some(_), _) if before == '\\' => {}
            (Some(open), _) => quote = quote.filter(|_| c != open),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{' | '<') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            // Not part of `->`, nor a comparison without an opening bracket.
            (None, '>') if before != '-' && depth > 0 => depth -= 1,
            (None, ',') if depth == 0 => return true,
            _ => {}
        }
        before = if before == '\\' { ' ' } else { c };
    }
    false
}

/// A declarator with a blank in place of the arguments of templates: `std::function  f` of
/// `std::function<int(int)> f`.
fn without_template_arguments(declarator: &str) -> String {
    let (mut depth, mut brackets) = (0u32, 0i32);
    let outside = |c: char| {
        match c {
            '<' if brackets == 0 => depth += 1,
            '>' if depth > 0 => {
                depth -= 1;
                return (depth == 0).then_some(' ');
            }
            '(' | '[' | '{' if depth == 0 => brackets += 1,
            ')' | ']' | '}' if depth == 0 => brackets -= 1,
            _ => {}
        }
        (depth == 0).then_some(c)
    };
    declarator.chars().filter_map(outside).collect()
}

/// Whether an array is declared: what `(*name)` points to may be one, too.
fn is_array(declared: &str) -> bool {
    let inner = declared.split_once("(*").and_then(|(_, inner)| inner.split_once(')'));
    inner.map_or(declared, |(inner, _)| inner).contains('[')
}

/// The declared name: inside `(*name)` for a function pointer, else the last word before any
/// bracket.
fn name_in(declarator: &str) -> Option<String> {
    if let Some((_, inner)) = declarator.split_once("(*") {
        return inner.split(|c: char| !is_word(c)).find(|word| !word.is_empty()).map(str::to_owned);
    }
    let head = declarator.split(['[', '(', '{']).next()?;
    let name = head.split(|c: char| !is_word(c)).rfind(|word| !word.is_empty())?;
    (!name.starts_with(|c: char| c.is_ascii_digit())).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        let cases = [
            ("uint64_t x = 3", "x", false),
            ("char *p = malloc(64)", "p", false),
            ("int a[4] = {1, 2, 3, 4};", "a", true),
            ("struct point s", "s", false),
            ("struct point { int x[2]; } s = {1, 2}", "s", false),
            ("struct { int x; } s[3]", "s", true),
            ("struct X { const int value; } x{5}", "x", false),
            ("int (*a)[4] = malloc(16)", "a", false),
            ("int (*f[3])(int)", "f", true),
            ("int (*const f)(int) = abs", "f", false),
            ("struct X { struct { int a; } b; } *x", "x", false),
            ("const char *s = \"hello\"", "s", false),
            ("const std::vector<int> v(3)", "v", false),
            ("int (*f)(int) = abs", "f", false),
            ("std::vector<int> v(100)", "v", false),
            ("unsigned long long\n y=1", "y", false),
            ("double m[2][3]", "m", true),
            ("std::array<int, 4> q{1, 2}", "q", false),
            ("std::function<int(int)> f = [](int a) { return a + 1; }", "f", false),
            ("std::map<std::string, void (*)(int[2])> m", "m", false),
            ("std::vector<std::vector<int>>*w[3]", "w", true),
            ("std::vector<int>near = 3", "near", false),
            ("char t[1 << 20]", "t", true),
        ];
        for (text, name, array) in cases {
            let declaration = Declaration::parse(text).unwrap();
            assert_eq!((declaration.name.as_str(), declaration.array), (name, array), "{text}");
        }
    }

    #[test]
    fn semicolons_const_and_storage_classes_are_removed() {
        assert_eq!(
            Declaration::parse("static const char t[1 << 20]").unwrap().text,
            "char t[1 << 20]"
        );
        for text in [
            "int x = 3 ; ;",
            "const int x = 3;\n",
            "const  const int x = 3",
            "int const x = 3",
            "constexpr int x = 3",
        ] {
            assert_eq!(Declaration::parse(text).unwrap().text, "int x = 3", "{text}");
        }
    }

    #[test]
    fn what_a_variable_points_to_stays_constant() {
        for text in [
            "const char *s = \"hello\"",
            "char const *s = t",
            "const int &r = x",
            "int (*f)(const char *) = g",
        ] {
            assert_eq!(Declaration::parse(text).unwrap().text, text);
        }
        for (text, variable) in [
            ("const char *const s = t", "const char *s = t"),
            ("int *const p = q", "int *p = q"),
            ("static const char *names[2]", "const char *names[2]"),
            ("const std::vector<const char *> v(3)", "std::vector<const char *> v(3)"),
            (
                "struct X { const int value; } const x{5}",
                "struct X { const int value; } const x{5}",
            ),
        ] {
            assert_eq!(Declaration::parse(text).unwrap().text, variable);
        }
    }

    #[test]
    fn wide_scalars_are_recognised() {
        let wide = |text: &str| Declaration::parse(text).unwrap().is_wide_scalar();
        assert!(
            wide("long double x = 2") && wide("unsigned __int128 x = 2") && wide("double long x")
        );
        let vector = |text: &str| Declaration::parse(text).unwrap().is_vector();
        assert!(
            vector("__m256d x = _mm256_set1_pd(1)")
                && vector("__m128 x")
                && !vector("__m128 *p")
                && !vector("double x")
        );
        assert!(wide("double _Complex z = 1") && !wide("__m128 x"));
        assert!(
            !wide("double x = 2")
                && !wide("long x = 2")
                && !wide("long double *p")
                && !wide("long double a[3]")
        );
    }

    #[test]
    fn integers_are_recognised() {
        let integer = |text: &str| Declaration::parse(text).unwrap().is_integer();
        for text in ["int k = 0", "std::size_t k{3}", "unsigned long long k", "uint8_t k=2"] {
            assert!(integer(text), "{text}");
        }
        assert!(
            !integer("double k = 0")
                && !integer("int *k = 0")
                && !integer("int k[3]")
                && !integer("std::vector<int> k")
        );
        assert!(!integer("__int128 k") && !integer("struct k k") && !integer("long double k"));
    }

    #[test]
    fn one_declaration_declares_one_variable() {
        for text in ["int a, b", "int a = 1, b = 2", "int a[2] = {1, 2}, b", "char *s = \"x\", t"] {
            assert!(
                Declaration::parse(text)
                    .unwrap_err()
                    .to_string()
                    .contains("more than one variable"),
                "{text}"
            );
        }
        for text in [
            "char s[] = \"a, b\"",
            "char c = ','",
            "char q = '\\''",
            "char s[] = \"\\\"a\\\", b\"",
            "std::map<int, std::vector<int>> m",
            "int (*f)(int, int) = 0",
            "auto p = std::pair<int, int>(1, 2)",
            "int x = p->y",
        ] {
            assert!(Declaration::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn invalid_declarations_are_refused() {
        for text in ["", "x", "= 3", "x = 3", "uint64_t", "int hs_now = 3", "3 4"] {
            assert!(Declaration::parse(text).is_err(), "{text}");
        }
    }
}
