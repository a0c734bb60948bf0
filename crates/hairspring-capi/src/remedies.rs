//! Remedies of the C ABI: they name fields of its structs. A test checks that the header has each
//! name in backquotes.

use hairspring_core::judge::Remedies;

/// Remedies of `hairspring_assess`.
pub const ASSESS: Remedies = Remedies {
    by_code: &[
        (
            "rows_left_out",
            "look at these rows; `keep_all_rows` of the `hairspring_question` uses all of them",
        ),
        (
            "threads",
            "`threads` of the `hairspring_plan` says so from the start, before a pool of threads \
             is made",
        ),
        (
            "wide_interval",
            "repeat the rows more often, observe rows with larger counts, or ask for less \
             `precision`",
        ),
    ],
    more_rows: "add rows with other counts",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_name_what_the_header_has() {
        let header = include_str!("../include/hairspring_engine.h");
        let is_there = |name: &str| {
            header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
        };
        let mut seen_names = 0;
        for words in ASSESS.words() {
            assert!(!words.contains("--"), "an option of the command: {words}");
            for name in words.split('`').skip(1).step_by(2) {
                assert!(is_there(name), "no `{name}` in the header: {words}");
                seen_names += 1;
            }
        }
        assert!(seen_names > 0);
    }
}
