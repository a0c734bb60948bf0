//! Arguments of benchmarks as parts of their names: `family/argument:value` by our convention, and
//! `family/value` by Google Benchmark's.

/// An argument in a name.
pub(crate) struct Argument<'n> {
    /// The name before it, with its slash.
    pub before: &'n str,
    /// Its name, or its place, from 1.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The name behind it.
    pub after: &'n str,
}

/// The arguments of a name whose values are numbers of at least 1.
pub(crate) fn arguments(name: &str) -> Vec<Argument<'_>> {
    let mut found = Vec::new();
    let starts = name.match_indices('/').map(|(at, _)| at);
    for (place, start) in starts.enumerate() {
        let part = &name[start + 1..];
        let part = &part[..part.find('/').unwrap_or(part.len())];
        let (key, value) = part.rsplit_once(':').unwrap_or(("", part));
        let Some(value) = number(value) else { continue };
        found.push(Argument {
            before: &name[..start],
            name: if key.is_empty() { (place + 1).to_string() } else { key.to_owned() },
            value,
            after: &name[start + 1 + part.len()..],
        });
    }
    found
}

/// A number in plain digits: names such as `inf` and `1e5` are words.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
        && text.len() <= 20;
    text.parse().ok().filter(|value| is_plain && *value >= 1.0)
}
