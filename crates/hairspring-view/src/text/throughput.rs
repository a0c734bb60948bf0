//! Work in a second, below the table of times.

use crate::clean::{clean, width};
use crate::format::{plus_minus, significant};
use crate::page::{Page, Style, Tone};
use hairspring_core::Estimate;
use hairspring_result::throughput::Throughput;

/// Widest name in the table.
const WIDEST_NAME: usize = 28;

/// The throughput of each series, a line for each.
pub fn throughput(all: &[Throughput], style: &Style) -> String {
    let mut page = Page::new(*style);
    let names: Vec<String> = all.iter().map(|one| clean(&one.name)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0).min(WIDEST_NAME);
    page.line("  throughput", Tone::Strong);
    for (one, name) in all.iter().zip(&names) {
        page.item_at(widest + 4, name, &rates(one), Tone::Plain);
    }
    format!("\n{}", page.finish())
}

/// Work in a second and in a cycle: `16.0 +- 3.6 GB/s, 4.00 +- 0.25 B a cycle`.
pub fn rates(one: &Throughput) -> String {
    let second = match (&one.per_second, one.at_least, &one.reason) {
        (Some(rate), ..) => {
            let (factor, prefix) = prefix(rate.value);
            format!("{} {prefix}{}/s", plus_minus(&rate.scaled(factor)), one.unit)
        }
        (None, Some(least), _) => {
            let (factor, prefix) = prefix(least);
            format!("at least {} {prefix}{}/s", significant(least * factor, 2), one.unit)
        }
        (None, None, Some(reason)) => format!("unknown: {}", clean(reason)),
        (None, None, None) => "unknown".to_owned(),
    };
    let cycle = one.per_cycle.as_ref().map(|rate| cycle(rate, &one.unit));
    second + &cycle.unwrap_or_default()
}

fn cycle(rate: &Estimate, unit: &str) -> String {
    format!(", {} {unit} a cycle", plus_minus(rate))
}

/// Factor and prefix for a readable rate.
fn prefix(rate: f64) -> (f64, &'static str) {
    match rate.abs() {
        size if size < 1e4 => (1.0, ""),
        size if size < 1e6 => (1e-3, "k"),
        size if size < 1e9 => (1e-6, "M"),
        size if size < 1e12 => (1e-9, "G"),
        _ => (1e-12, "T"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy() -> Throughput {
        let estimate = |value: f64, half: f64| {
            Some(Estimate { value, low: value - half, high: value + half, level: 0.95 })
        };
        Throughput {
            name: "copy/size:64\u{1b}[31m".to_owned(),
            amount: 64.0,
            unit: "B".to_owned(),
            per_second: estimate(16e9, 0.36e9),
            at_least: None,
            per_cycle: estimate(4.0, 0.12),
            reason: None,
        }
    }

    #[test]
    fn rates_have_prefixes_and_intervals() {
        assert_eq!(rates(&copy()), "16.00 +- 0.36 GB/s, 4.00 +- 0.12 B a cycle");
        let bound =
            Throughput { per_second: None, per_cycle: None, at_least: Some(2e12), ..copy() };
        assert_eq!(rates(&bound), "at least 2 TB/s");
        let none =
            Throughput { reason: Some("it has no times".to_owned()), at_least: None, ..bound };
        assert_eq!(rates(&none), "unknown: it has no times");
    }

    #[test]
    fn lines_fit_and_names_are_clean() {
        let long = Throughput { name: "x".repeat(200), ..copy() };
        let text = throughput(&[copy(), long], &Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("16.00 +- 0.36 GB/s"));
    }
}
