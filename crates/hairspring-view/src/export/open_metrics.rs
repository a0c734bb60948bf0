//! OpenMetrics, the text that Prometheus and its relatives scrape or get pushed: gauges in base
//! units, with the benchmark and its component as labels.
//!
//! A label holds any character, and a backslash, a quote or a line break in it is escaped
//! (OpenMetrics 1.0, section "Escaping"). Other control and format characters have no escape there:
//! they are written as escapes of Rust, as in CSV, before the format's own escapes.

use super::{Entry, Format, Holds, Names};
use crate::clean::is_hidden;
use hairspring_core::Estimate;
use hairspring_result::Environment;
use std::fmt::Write;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "openmetrics",
    aliases: &["prometheus"],
    purpose: "OpenMetrics",
    help: "Gauges of OpenMetrics in seconds and cycles, with the interval",
    interval: "gauges `..._low_...`, `..._high_...` of `hairspring_time_seconds`, \
               `hairspring_core_cycles`, `hairspring_clock_ticks`",
    names: Names::Escaped("control and format characters and `\\` as escapes"),
    holds: Holds::Everything(text),
    #[cfg(test)]
    labels: tests::labels,
};

/// What gauges are made of.
struct Quantity {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    /// In the unit of the gauge.
    estimate: fn(&Entry) -> Option<Estimate>,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity {
        name: "time",
        unit: "seconds",
        help: "Time of one execution",
        estimate: |entry| entry.figure.time_ns.flatten().map(in_seconds),
    },
    Quantity {
        name: "core",
        unit: "cycles",
        help: "Core cycles of one execution",
        estimate: |entry| entry.figure.cycles,
    },
    Quantity {
        name: "clock",
        unit: "ticks",
        help: "Ticks of the clock of one execution",
        estimate: |entry| entry.figure.ticks.flatten(),
    },
];

/// The value of a gauge.
type Pick = fn(&Estimate) -> f64;

/// The gauges of a quantity: a part of the name, a part of its help, and the value.
const GAUGES: [(&str, &str, Pick); 3] = [
    ("", "", |estimate| estimate.value),
    ("_low", ", lower end of its interval", |estimate| estimate.low),
    ("_high", ", upper end of its interval", |estimate| estimate.high),
];

fn in_seconds(Estimate { value, low, high, level }: Estimate) -> Estimate {
    Estimate { value: value / 1e9, low: low / 1e9, high: high / 1e9, level }
}

fn text(entries: &[Entry], _: &Environment) -> String {
    let mut out = String::new();
    for quantity in &QUANTITIES {
        for gauge in &GAUGES {
            out += &family(entries, quantity, gauge);
        }
    }
    out + "# EOF\n"
}

/// A gauge of all benchmarks that have it. All its lines stand together, as the format demands.
fn family(
    entries: &[Entry],
    quantity: &Quantity,
    (end, about, pick): &(&str, &str, Pick),
) -> String {
    let Quantity { name, unit, help, estimate } = quantity;
    let metric = format!("hairspring_{name}{end}_{unit}");
    let mut lines = String::new();
    for entry in entries {
        let Some(estimate) = estimate(entry) else { continue };
        let _ =
            writeln!(lines, "{metric}{{{}}} {}", labels(entry, &estimate), number(pick(&estimate)));
    }
    if lines.is_empty() {
        return lines;
    }
    format!(
        "# TYPE {metric} gauge\n# UNIT {metric} {unit}\n# HELP {metric} {help}{about}.\n{lines}"
    )
}

fn labels(entry: &Entry, estimate: &Estimate) -> String {
    format!(
        "benchmark=\"{}\",component=\"{}\",level=\"{}\"",
        escaped(&entry.label),
        escaped(entry.component),
        estimate.level
    )
}

/// A number as the format writes those that are not finite.
fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        value => format!("{value:e}"),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\\' | '"' => out.extend(['\\', c]),
            c if is_hidden(c) => c.escape_default().for_each(|c| match c {
                '\\' => out.push_str("\\\\"),
                c => out.push(c),
            }),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{export, samples};
    use super::*;

    /// The labels of the first gauge that has lines, as a reader of the format takes them.
    pub fn labels(text: &str) -> Vec<String> {
        let Some((last, lines)) =
            text.lines().collect::<Vec<_>>().split_last().map(|(last, lines)| {
                (last.to_string(), lines.iter().map(ToString::to_string).collect::<Vec<_>>())
            })
        else {
            panic!("an empty text")
        };
        assert_eq!(last, "# EOF");
        let values: Vec<&String> = lines.iter().filter(|line| !line.starts_with('#')).collect();
        let Some(name) = values.first().map(|line| line.split('{').next().unwrap()) else {
            return Vec::new();
        };
        let of_first = values.iter().filter(|line| line.split('{').next() == Some(name));
        of_first.map(|line| quoted(line)).collect()
    }

    /// The first quoted text of a line, without its escapes.
    fn quoted(line: &str) -> String {
        let mut chars = line.split_once('"').unwrap().1.chars();
        let mut label = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => return label,
                '\\' => match chars.next() {
                    Some('n') => label.push('\n'),
                    Some(c @ ('\\' | '"')) => label.push(c),
                    other => panic!("an unknown escape {other:?} in {line}"),
                },
                c => label.push(c),
            }
        }
        panic!("a quote is open: {line}")
    }

    #[test]
    fn gauges_are_in_base_units_and_named_after_them() {
        let result = samples::result(&samples::line());
        let text = export(&result, &FORMAT).text;
        let time = result.results[0].components[0].figure.time_ns.unwrap().unwrap();
        let value = |name: &str| -> f64 {
            let line = text.lines().find(|line| line.starts_with(&format!("{name}{{"))).unwrap();
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        assert_eq!(value("hairspring_time_seconds"), time.value / 1e9);
        assert_eq!(value("hairspring_time_low_seconds"), time.low / 1e9);
        assert_eq!(value("hairspring_time_high_seconds"), time.high / 1e9);
        assert!(value("hairspring_core_cycles") > 0.0);
        for line in text.lines().filter_map(|line| line.strip_prefix("# UNIT ")) {
            let (metric, unit) = line.split_once(' ').unwrap();
            assert!(metric.ends_with(&format!("_{unit}")), "{line}");
        }
    }

    #[test]
    fn numbers_that_are_not_finite_have_names() {
        let named = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.5e-8].map(number);
        assert_eq!(named, ["NaN", "+Inf", "-Inf", "1.5e-8"]);
    }

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\"\\\n\u{202e}"), "a\\\"\\\\\\n\\\\u{202e}");
    }
}
