//! What the keys of a document say, for views of documents of any kind: its words, and the unit in
//! which it ends (`spec/result.md`).

/// Endings of keys with their units, longer ones first.
const UNITS: [(&str, &str); 13] = [
    ("per_second", "per second"),
    ("percent", "%"),
    ("samples", "samples"),
    ("cycles", "cycles"),
    ("ticks", "ticks"),
    ("bytes", "bytes"),
    ("bits", "bits"),
    ("ppm", "ppm"),
    ("ns", "ns"),
    ("us", "us"),
    ("ms", "ms"),
    ("hz", "Hz"),
    ("s", "s"),
];
/// Keys without an ending that have a unit nevertheless.
const WHOLE: [(&str, &str); 3] =
    [("throughput", "cycles"), ("throughput_one_line", "cycles"), ("seconds", "s")];
/// Keys whose own words say too little.
const OWN: [(&str, &str); 10] = [
    ("core_hz", "core clock"),
    ("any_run_core_hz", "core clock of any run"),
    ("tick_hz", "ticks of the clock"),
    ("rate_hz", "rate"),
    ("ppm", "difference"),
    ("sd_ns", "standard deviation"),
    ("sd_ticks", "standard deviation"),
    ("sd_percent", "standard deviation"),
    ("at_hz", "at core clock"),
    ("cpu", "CPU"),
];

/// The unit of the numbers of a key; empty for none.
pub fn unit(key: &str) -> &'static str {
    let whole = WHOLE.iter().find(|(name, _)| *name == key);
    whole.or_else(|| UNITS.iter().find(|(end, _)| ends_in(key, end))).map_or("", |(_, unit)| unit)
}

/// The words of a key without its unit: `p99.9` of `p99_9_ns`.
pub fn words(key: &str) -> String {
    if let Some((_, own)) = OWN.iter().find(|(name, _)| *name == key) {
        return (*own).to_owned();
    }
    let ending = UNITS.iter().find(|(end, _)| ends_in(key, end)).map_or("", |(end, _)| end);
    let rest = key.strip_suffix(ending).unwrap_or(key).trim_end_matches('_');
    let words = if rest.is_empty() { key } else { rest };
    percentile(words).unwrap_or_else(|| words.replace('_', " "))
}

/// Whether the numbers of a key are parts of a whole.
pub fn is_share(key: &str) -> bool {
    key == "share" || key.ends_with("_share") || key == "coverage" || key == "explained"
}

/// Whether a key is an ending, or has it behind a word.
fn ends_in(key: &str, ending: &str) -> bool {
    key.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
}

/// `p99.9` of `p99_9`.
fn percentile(words: &str) -> Option<String> {
    let (whole, part) = words.strip_prefix('p')?.split_once('_')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    (is_number(whole) && is_number(part)).then(|| format!("p{whole}.{part}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_words_and_a_unit() {
        for (key, expected, of) in [
            ("p99_9_ns", "p99.9", "ns"),
            ("p50_ns", "p50", "ns"),
            ("half_width_ns", "half width", "ns"),
            ("ns", "ns", "ns"),
            ("most_per_second", "most", "per second"),
            ("per_second", "per second", "per second"),
            ("elapsed_ms", "elapsed", "ms"),
            ("core_hz", "core clock", "Hz"),
            ("core_hz_share", "core hz share", ""),
            ("throughput", "throughput", "cycles"),
            ("cycles", "cycles", "cycles"),
            ("columns", "columns", ""),
            ("class", "class", ""),
            ("p_value", "p value", ""),
            ("_s", " s", "s"),
            ("", "", ""),
            ("\u{e9}_ns", "\u{e9}", "ns"),
        ] {
            assert_eq!((words(key).as_str(), unit(key)), (expected, of), "{key}");
        }
        assert!(is_share("quiet_share") && !is_share("shared"));
    }
}
