//! The page of the book that lists all limits is that of the source.
//! `UPDATE_EXPECT=1 cargo test -p hairspring-core --test limits` writes it anew.

use hairspring_core::limit::Limit;
use hairspring_core::pipeline::{limits, stages};
use std::path::Path;

const HEAD: &str = "# Limits

A stage of the estimator compares numbers with limits. This page lists them, without sizes of
algorithms, in the order of the stages in `crates/hairspring-core/src/pipeline.rs`. Where a value
comes from is one of four:

- derived: it follows from the model, or is that of a publication
- simulated: a test shows it; the name is that of the test
- seen: experience, on the machines and at the time that are named
- size: the size of an algorithm; results hardly depend on it

A test of the project fails if this page is not that of the source:

```sh
UPDATE_EXPECT=1 cargo test -p hairspring-core --test limits
```
";

/// A paragraph in lines of at most 100 columns.
fn filled(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + word.len() < 100 => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

fn row(limit: &Limit) -> String {
    let (kind, text) = limit.basis.parts();
    let value = if limit.value != 0.0 && limit.value.abs() < 1e-3 {
        format!("{:e}", limit.value)
    } else {
        limit.value.to_string()
    };
    format!(
        "| `{}` | {value} | {} | {} | {kind}: {text} |\n",
        limit.name,
        limit.unit,
        limit.decides.trim()
    )
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (name, limits) in limits() {
        let question = stages()
            .iter()
            .find(|stage| stage.name == name)
            .map_or("What several stages compare with.", |stage| stage.question);
        page += &format!("\n## {name}\n\n{}\n", filled(question));
        if !limits.is_empty() {
            page +=
                "\n| limit | value | unit | what it decides | origin |\n|---|---|---|---|---|\n";
        }
        limits.into_iter().for_each(|limit| page += &row(limit));
    }
    page
}

#[test]
fn the_page_of_limits_is_current() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/limits.md"));
    expect_test::expect_file![path].assert_eq(&page());
}

#[test]
fn limits_are_few_and_have_names_units_and_origins() {
    let all_limits: Vec<&Limit> = limits().into_iter().flat_map(|(_, limits)| limits).collect();
    assert!(all_limits.iter().all(|limit| limit.name.contains('_')
        && limit.value.is_finite()
        && !limit.decides.trim().is_empty()));
    assert!(all_limits.iter().all(|limit| !limit.basis.parts().1.is_empty()));
    assert!(
        all_limits.len() <= 112,
        "{} limits: does a new one replace an older one?",
        all_limits.len()
    );
}
