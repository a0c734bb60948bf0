//! Names of functions as people write them.

use hairspring_core::alike::alike;
use std::collections::BTreeSet;

/// The names by which a symbol can be requested: as in the file, and demangled with and without
/// arguments.
pub fn forms(symbol: &str) -> Vec<String> {
    let mut all_forms = vec![symbol.to_owned()];
    let shown_name = demangled(symbol);
    if shown_name != symbol {
        all_forms.push(without_arguments(&shown_name).to_owned());
        all_forms.push(shown_name);
    }
    // The version suffix of a dynamic symbol.
    if let Some((bare, _)) = symbol.split_once('@') {
        all_forms.push(bare.to_owned());
    }
    all_forms
}

/// A symbol, demangled for C++, Rust and the modules of Fortran.
pub fn demangled(symbol: &str) -> String {
    if let Some(name) = of_module(symbol) {
        return name;
    }
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    if symbol.starts_with("_Z") {
        if let Some(name) =
            cpp_demangle::Symbol::new(symbol).ok().and_then(|name| name.demangle().ok())
        {
            return name;
        }
    }
    symbol.to_owned()
}

/// A procedure of a Fortran module: `__m_MOD_work` by gfortran, `_QMmPwork` by flang. Fortran has
/// no upper case in its symbols.
pub fn of_module(symbol: &str) -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let by_gfortran = symbol.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_"));
    let (module, procedure) =
        by_gfortran.or_else(|| symbol.strip_prefix("_QM").and_then(|rest| rest.split_once('P')))?;
    (is_name(module) && is_name(procedure)).then(|| format!("{module}::{procedure}"))
}

fn without_arguments(name: &str) -> &str {
    // `operator()(...)` keeps its own parentheses.
    let from = name.find("operator()").map_or(0, |at| at + "operator()".len());
    name[from..].find('(').map_or(name, |at| &name[..from + at])
}

/// A name without the namespaces and types before it.
pub fn last_name(name: &str) -> &str {
    let mut depth = 0;
    let mut from = 0;
    for (at, letter) in name.char_indices() {
        match letter {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ':' if depth == 0 => from = at + 1,
            _ => {}
        }
    }
    &name[from..]
}

/// Whether a symbol names a part of a function, which the compiler moved elsewhere.
pub fn is_part(symbol: &str) -> bool {
    symbol.split_once(".cold").is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('.'))
}

/// A few names that resemble one that was not found.
pub fn similar<'a>(wanted_name: &str, known_names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeSet<String> = known_names.map(demangled).collect();
    alike(wanted_name, names).into_iter().take(5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpp_and_rust_names_can_be_given_without_their_arguments() {
        assert!(forms("_ZN3foo3barEi").contains(&"foo::bar".to_owned()));
        assert!(forms("_ZN3foo3barEi").contains(&"foo::bar(int)".to_owned()));
        assert_eq!(forms("adler32"), ["adler32"]);
    }

    #[test]
    fn procedures_of_fortran_modules_are_named_by_both() {
        for symbol in ["__linear_MOD_dot_2", "_QMlinearPdot_2"] {
            assert!(
                demangled(symbol) == "linear::dot_2"
                    && forms(symbol).contains(&"linear::dot_2".to_owned())
            );
        }
        assert!(
            ["work_", "__MOD_work", "__a_MOD_", "_QMaP", "_QQmain", "__Upper_MOD_x"]
                .iter()
                .all(|other| demangled(other) == *other)
        );
    }

    #[test]
    fn the_last_name_comes_after_namespaces_and_types() {
        assert_eq!(
            ["work", "rs::work", "a::b<c::d>::e(f::g)", "Vec<a::b>"].map(last_name),
            ["work", "work", "e(f::g)", "Vec<a::b>"]
        );
        assert_eq!(
            ["f", "f.cold", "f.cold.3", "f.colder"].map(is_part),
            [false, true, true, false]
        );
    }

    #[test]
    fn misspelt_names_find_similar_ones() {
        assert_eq!(similar("adler23", ["adler32", "crc32", "main"].into_iter()), ["adler32"]);
    }
}
