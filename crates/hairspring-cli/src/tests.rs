//! What holds for every verb of the table.

use crate::{command, verbs};
use clap::Arg;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn command_line_is_consistent() {
    command().debug_assert();
}

#[test]
fn every_verb_has_a_help_of_its_own() {
    for verb in verbs() {
        let found = command()
            .find_subcommand(verb.name)
            .and_then(|verb| verb.get_about().map(ToString::to_string));
        let about = found.unwrap_or_default();
        let others = verbs().filter(|other| {
            (other.command)().get_about().is_some_and(|other| other.to_string() == about)
        });
        assert!(
            about.starts_with(|c: char| c.is_ascii_uppercase()) && !about.ends_with('.'),
            "{}: `{about}`",
            verb.name
        );
        assert_eq!(others.count(), 1, "{}: `{about}` is the help of another verb too", verb.name);
    }
}

#[test]
fn the_help_shows_all_verbs_in_groups() {
    let help = command().render_help().to_string();
    let places: Vec<usize> =
        verbs().map(|verb| help.find(&format!("\n  {} ", verb.name)).unwrap()).collect();
    assert!(places.is_sorted() && help.lines().all(|line| line.chars().count() <= 80), "{help}");
    assert!(help.contains("Usage: hairspring <COMMAND>\n\nMeasure code:\n  time "), "{help}");
}

#[test]
fn a_short_help_shows_the_options_that_its_verb_names_and_where_the_others_are() {
    let mut short = crate::command_with_short_helps();
    for verb in verbs().filter(|verb| !verb.common_options.is_empty()) {
        let own = short.find_subcommand_mut(verb.name).unwrap();
        let shown: Vec<&str> = own
            .get_arguments()
            .filter(|one| !one.is_hide_set())
            .filter_map(Arg::get_long)
            .collect();
        assert!(shown.iter().all(|one| verb.common_options.contains(one)), "{shown:?}");
        let help = own.render_long_help().to_string();
        assert!(help.contains(&format!("`hairspring {} --help-all` shows ", verb.name)), "{help}");
        for option in verb.common_options {
            assert!(
                help.contains(&format!("--{option}")),
                "{option} is no option of {}",
                verb.name
            );
        }
    }
}

/// The names of options in a text, without their dashes.
fn option_names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '-');
    words.filter_map(|word| word.strip_prefix("--")).filter(|name| !name.is_empty())
}

#[test]
fn remedies_name_existing_options() {
    for (verb, remedies) in verbs().filter_map(|verb| Some((verb, verb.remedies?))) {
        let command = (verb.command)();
        let options: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
        for words in remedies.words() {
            for name in option_names(words) {
                assert!(options.contains(&name), "{} has no --{name}: {words}", verb.name);
            }
        }
    }
}

#[test]
fn remedies_are_for_documented_findings() {
    let documents = ["spec/result.md", "spec/period.md"]
        .map(|name| std::fs::read_to_string(root().join(name)).unwrap())
        .concat();
    let all: Vec<_> = verbs().filter_map(|verb| Some((verb.name, verb.remedies?))).collect();
    assert!(all.len() >= 8, "some verbs have lost their remedies");
    for (verb, remedies) in all {
        for (code, _) in remedies.by_code {
            assert!(documents.contains(&format!("`{code}`")), "{verb}: `{code}` is not documented");
        }
    }
}

#[test]
fn every_verb_has_a_page_in_the_book() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for verb in verbs() {
        let page = format!("commands/{}.md", verb.name);
        assert!(
            root().join("docs").join(&page).is_file(),
            "the verb `{}` has no page: write docs/{page}",
            verb.name
        );
        assert!(
            contents.contains(&format!("]({page})")),
            "docs/SUMMARY.md has no line for docs/{page}"
        );
    }
}

/// The table of verbs in the book.
fn verb_table() -> String {
    let line = |verb: &crate::Verb| {
        let about = (verb.command)().get_about().map(ToString::to_string).unwrap_or_default();
        format!("| [`{0}`]({0}.md) | {about} |\n", verb.name)
    };
    verbs().map(line).collect()
}

/// `UPDATE_EXPECT=1` writes the lines anew.
#[test]
fn the_book_lists_the_verbs() {
    let path = root().join("docs/commands/index.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let columns = "| verb | what it does |\n|---|---|\n";
    let (before, rest) =
        text.split_once(columns).expect("docs/commands/index.md has a table of verbs");
    let after: String =
        rest.split_inclusive('\n').skip_while(|line| line.starts_with('|')).collect();
    expect_test::expect_file![path].assert_eq(&format!("{before}{columns}{}{after}", verb_table()));
}
