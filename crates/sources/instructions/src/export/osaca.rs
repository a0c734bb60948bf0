//! The table as the instruction forms of a machine file for OSACA: operands in the order of AT&T
//! syntax, latency and reciprocal throughput. Ports are not measured, so they stay empty for the
//! author of the file.

use crate::result::{Cycles, FormResult, Latency, Table};
use std::fmt::Write;

/// The machine file. OSACA takes all general registers for one class and all places in memory for
/// another, so that forms of several widths are one there: the widest stands for them.
pub fn osaca(table: &Table, machine: &str) -> String {
    let mut text = format!(
        "# Measured by hairspring instructions. Latencies are of the slowest pair of register \
         operands.\n# Of forms that differ only in the width of general registers, memory or \
         immediates, the widest is listed.\nosaca_version: 0.7.1\nmicro_architecture: {}\n\
         arch_code: {}\nisa: x86\nports: []\nport_model_scheme: ~\ninstruction_forms:\n",
        quoted(machine),
        quoted("measured")
    );
    for rows in by_key(&table.forms) {
        let widest = rows.iter().copied().reduce(|a, b| if width(b) > width(a) { b } else { a });
        widest.into_iter().for_each(|widest| form(&mut text, widest));
        let others = rows.iter().filter(|row| widest.is_none_or(|widest| widest.name != row.name));
        others.for_each(|row| also(&mut text, row));
    }
    text
}

/// The forms that OSACA cannot tell apart, together, in the order of the table.
fn by_key(forms: &[FormResult]) -> Vec<Vec<&FormResult>> {
    let mut forms_by_key: Vec<(String, Vec<&FormResult>)> = Vec::new();
    for row in forms.iter().filter(|row| !row.name.contains("(same)")) {
        let key = key(row);
        match forms_by_key.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(row),
            None => forms_by_key.push((key, vec![row])),
        }
    }
    forms_by_key.into_iter().map(|(_, rows)| rows).collect()
}

/// The mnemonic and the operands as the file has them.
fn key(row: &FormResult) -> String {
    let (mnemonic, operands) = parts(row);
    let list = if operands.is_empty() { " []" } else { "" };
    let operands: String = operands.into_iter().map(operand).collect();
    format!("- name: {mnemonic}\n  operands:{list}\n{operands}")
}

/// The mnemonic, and the operands from the last to the first.
fn parts(row: &FormResult) -> (&str, Vec<&str>) {
    let (mnemonic, operands) = row.name.split_once(' ').unwrap_or((&row.name, ""));
    // Addresses contain no comma.
    (mnemonic, operands.rsplit(", ").filter(|operand| !operand.is_empty()).collect())
}

/// Bits of all operands whose width is not in their class.
fn width(row: &FormResult) -> u32 {
    let bits = |operand: &str| {
        operand.trim_start_matches("imm").trim_start_matches(['r', 'm']).parse().unwrap_or(0)
    };
    parts(row).1.into_iter().map(bits).sum()
}

/// The latency and the throughput of a form as the file has them, each with what is said about it.
fn numbers(row: &FormResult) -> [(String, &'static str); 2] {
    // A store has no result in a register.
    let latency = row.latency().filter(|latency| !latency.is_of_memory());
    let number = |value: Option<f64>| {
        value.map_or_else(|| "~".to_owned(), |value| format!("{:.3}", value.max(0.0)))
    };
    let throughput = row.throughput.cycles.as_ref().ok().map(|cycles| cycles.value);
    [
        (number(latency.and_then(|latency| latency.cycles.at_most())), latency.map_or("", about)),
        (number(throughput), if row.throughput.is_doubtful { DOUBT } else { "" }),
    ]
}

fn form(text: &mut String, row: &FormResult) {
    let [latency, throughput] =
        numbers(row).map(
            |(number, about)| {
                if about.is_empty() { number } else { format!("{number}  # {about}") }
            },
        );
    let _ = write!(
        text,
        "{}  latency: {latency}\n  throughput: {throughput}\n  port_pressure: []\n",
        key(row)
    );
}

/// A comment on a form that another one stands for.
fn also(text: &mut String, row: &FormResult) {
    let [latency, throughput] =
        numbers(row).map(
            |(number, about)| if about.is_empty() { number } else { format!("{number} ({about})") },
        );
    let _ = writeln!(text, "  # also {}: latency {latency}, throughput {throughput}", row.name);
}

/// Said of a number that is in doubt.
const DOUBT: &str = "in doubt";

/// What a reader of the file must know about a latency.
fn about(latency: &Latency) -> &'static str {
    match (&latency.cycles, latency.is_doubtful) {
        (Cycles::Sum(..), true) => "at most, known with helpers only; in doubt",
        (Cycles::Sum(..), false) => "at most, known with helpers only",
        (_, true) => DOUBT,
        (_, false) => "",
    }
}

fn operand(name: &str) -> String {
    let register = |name: &str| format!("  - class: register\n    name: {name}\n");
    match name {
        "r8" | "r16" | "r32" | "r64" => register("gpr"),
        "m8" | "m16" | "m32" | "m64" | "m128" | "m256" | "m512" => {
            "  - class: memory\n    base: gpr\n    offset: '*'\n    index: ~\n    scale: 1\n"
                .to_owned()
        }
        "imm8" | "imm16" | "imm32" | "1" => "  - class: immediate\n    imd: int\n".to_owned(),
        address if address.starts_with('[') => {
            let part = |is_there: bool, text: &str| {
                if is_there { text.to_owned() } else { "~".to_owned() }
            };
            let scale = address
                .split_once('*')
                .map_or("1", |(_, rest)| rest.split(['+', ']']).next().unwrap_or("1"));
            let index = address.matches("r64").count() > 1;
            format!(
                "  - class: memory\n    base: gpr\n    offset: {}\n    index: {}\n    scale: \
                 {scale}\n",
                part(address.contains("+i"), "imd"),
                part(index, "gpr")
            )
        }
        other => register(other),
    }
}

/// A text that YAML reads as one, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Run;
    use crate::result::Throughput;
    use hairspring_core::Estimate;
    use std::time::Duration;

    fn estimate(value: f64) -> Estimate {
        Estimate { value, low: value - 0.1, high: value + 0.1, level: 0.95 }
    }

    fn latency(cycles: Cycles, is_doubtful: bool) -> Latency {
        let (from, to) = ("2".to_owned(), "1".to_owned());
        Latency {
            from,
            to,
            cycles,
            values: Vec::new(),
            arrangements: Vec::new(),
            chain: None,
            delayed_by: None,
            is_doubtful,
        }
    }

    /// A table of forms with their latencies; a copy takes half of that.
    fn table(forms: &[(&str, f64)]) -> Table {
        let form = |(name, cycles): &(&str, f64)| FormResult {
            name: (*name).to_owned(),
            set: "integer".into(),
            extension: "x64".into(),
            latencies: vec![latency(Cycles::Alone(estimate(*cycles)), name.ends_with("m32"))],
            throughput: Throughput {
                cycles: Ok(estimate(cycles / 2.0)),
                with: Vec::new(),
                one_line: None,
                is_doubtful: false,
            },
            findings: Vec::new(),
        };
        let run = Run {
            series: Vec::new(),
            cpu: 0,
            provenance: String::new(),
            core_hz: None,
            rounds: 0,
            elapsed: Duration::ZERO,
            repeated: 0,
        };
        Table {
            forms: forms.iter().map(form).collect(),
            left_out: Vec::new(),
            front_end: None,
            run,
        }
    }

    #[test]
    fn of_forms_that_are_one_for_osaca_the_widest_is_listed_and_the_others_are_comments() {
        let forms = [
            ("div r32", 12.0),
            ("div r64", 18.0),
            ("shl r64, 1", 1.0),
            ("shl r64, imm8", 2.0),
            ("add r32, m32", 5.0),
            ("add r64, m64", 6.0),
            ("addps xmm, xmm", 3.0),
            ("addps ymm, ymm", 4.0),
            ("xor r64, r64 (same)", 0.2),
        ];
        let text = osaca(&table(&forms), "any");
        let keys: Vec<&str> = text
            .split("- name: ")
            .skip(1)
            .filter_map(|entry| entry.split("  latency: ").next())
            .collect();
        let different: std::collections::BTreeSet<&&str> = keys.iter().collect();
        assert_eq!((keys.len(), different.len()), (5, 5), "{text}");
        let division = "- name: div\n  operands:\n  - class: register\n    name: gpr\n  latency: \
                        18.000\n  throughput: 9.000\n  port_pressure: []\n  # also div r32: \
                        latency 12.000, throughput 6.000\n- name: shl\n";
        assert!(text.contains(division), "{text}");
        assert!(
            text.contains("  latency: 2.000\n")
                && text.contains("  # also shl r64, 1: latency 1.000, throughput 0.500\n"),
            "{text}"
        );
        assert!(
            text.contains("  # also add r32, m32: latency 5.000 (in doubt), throughput 2.500\n"),
            "{text}"
        );
        assert!(!text.contains("also addps"), "vectors of two widths are two classes: {text}");
    }

    #[test]
    fn an_upper_bound_and_a_doubt_stand_beside_the_number() {
        let comment = |cycles: Cycles, is_doubtful| about(&latency(cycles, is_doubtful));
        assert_eq!(
            (
                comment(Cycles::Alone(estimate(4.0)), false),
                comment(Cycles::Alone(estimate(4.0)), true)
            ),
            ("", DOUBT)
        );
        assert!(comment(Cycles::Sum(estimate(4.0), Vec::new()), false).contains("at most"));
        assert!(comment(Cycles::Sum(estimate(4.0), Vec::new()), true).contains("in doubt"));
        let doubted = osaca(&table(&[("mov r32, m32", 4.0)]), "any");
        assert!(doubted.contains("  latency: 4.000  # in doubt\n"), "{doubted}");
    }
}
