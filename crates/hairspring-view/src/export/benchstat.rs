//! Lines of Go's benchmark format, for benchstat: `BenchmarkNAME 1 12.3 ns/op 36.1 cycles/op`.
//!
//! A name is one field and begins its line. White space, `%`, and control and format characters (of
//! which no reader sees anything) are written as `%` and the two hexadecimal digits of each byte,
//! as in a URL; an underscore is put before a first letter that Go does not accept. The format has
//! no place for an interval: benchstat computes its own from the same benchmark in several files.

use super::{Format, Holds, Names, Timed};
use crate::clean::{clean, is_hidden};
use hairspring_result::Environment;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "benchstat",
    aliases: &[],
    purpose: "benchstat",
    help: "Lines of Go's benchmarks, for benchstat",
    interval: "none: benchstat computes its own from several files",
    names: Names::Escaped(
        "white space, control and format characters, and `%` as `%XX`; `_` before a lower-case \
         letter",
    ),
    holds: Holds::PlainTimes(text),
    #[cfg(test)]
    labels: tests::labels,
};

fn text(entries: &[Timed], environment: &Environment) -> String {
    let mut out = String::new();
    let cpu = environment.cpu.as_ref();
    for (key, value) in [
        ("goarch", cpu.map(|cpu| &cpu.architecture)),
        ("cpu", cpu.map(|cpu| &cpu.model)),
        ("compiler", environment.compiler.as_ref()),
    ] {
        if let Some(value) = value.map(|value| clean(value)).filter(|value| !value.is_empty()) {
            out += &format!("{key}: {value}\n");
        }
    }
    for (entry, time) in entries {
        let cycles = entry
            .figure
            .cycles
            .map(|cycles| format!(" {} cycles/op", cycles.value))
            .unwrap_or_default();
        out += &format!(
            "Benchmark{} {} {} ns/op{cycles}\n",
            name(&entry.label),
            entry.executions(),
            time.value
        );
    }
    out
}

/// The label as one field.
fn name(label: &str) -> String {
    let mut out = String::new();
    // `go test` lets no lower-case letter follow the word Benchmark.
    if label.starts_with(|first: char| first.is_lowercase() || first == '_') {
        out.push('_');
    }
    for c in label.chars() {
        if c == '%' || c.is_whitespace() || is_hidden(c) {
            let mut bytes = [0; 4];
            out.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Export, export, samples};
    use super::*;

    pub fn labels(text: &str) -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with(|c: char| c.is_ascii_lowercase()));
        let label = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            assert!(
                fields.len() == 6
                    && fields[0].starts_with("Benchmark")
                    && fields[1].parse::<i64>().is_ok(),
                "{line}"
            );
            fields[0].to_owned()
        };
        lines.map(label).collect()
    }

    #[test]
    fn a_line_has_the_time_and_the_cycles() {
        let found = export(&samples::result(&samples::line()), &FORMAT).text;
        let last = found.lines().last().unwrap();
        let fields: Vec<&str> = last.split_whitespace().collect();
        assert!(last.starts_with("Benchmark") && fields.len() == 6, "{last}");
        assert_eq!((fields[3], fields[5]), ("ns/op", "cycles/op"));
        assert!(
            fields[1].parse::<i64>().is_ok()
                && fields[2].parse::<f64>().is_ok()
                && fields[4].parse::<f64>().is_ok()
        );
    }

    #[test]
    fn times_below_resolution_are_left_out() {
        let Export { text, left_out, .. } =
            export(&samples::result(&samples::below_resolution()), &FORMAT);
        assert!(
            !text.contains("ns/op") && left_out[0].contains("below resolution"),
            "{text} {left_out:?}"
        );
    }

    #[test]
    fn characters_that_break_a_line_or_mislead_a_reader_are_escaped() {
        assert_eq!(name("sort/n:8"), "_sort/n:8");
        assert_eq!(name("A b%\n"), "A%20b%25%0A");
        assert_eq!(
            name("A\u{202e}B\u{2066}\u{200b}\u{feff}\u{1b}\u{e9}"),
            "A%E2%80%AEB%E2%81%A6%E2%80%8B%EF%BB%BF%1B\u{e9}"
        );
    }
}
