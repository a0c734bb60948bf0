//! The table as the instruction forms of a machine file for OSACA: operands in the order of AT&T syntax, latency and
//! reciprocal throughput. Ports are not measured, so they stay empty for the author of the file.

use crate::result::{Cycles, FormResult, Latency, Table};
use std::fmt::Write;

/// The machine file.
pub fn osaca(table: &Table, machine: &str) -> String {
    let mut text = format!(
        "# Measured by hairspring instructions. Latencies are of the slowest pair of register operands.\n\
         osaca_version: 0.7.1\nmicro_architecture: {}\narch_code: {}\nisa: x86\nports: []\nport_model_scheme: ~\n\
         instruction_forms:\n",
        quoted(machine),
        quoted("measured")
    );
    for row in table.forms.iter().filter(|row| !row.name.contains("(same)")) {
        form(&mut text, row);
    }
    text
}

fn form(text: &mut String, row: &FormResult) {
    let (mnemonic, operands) = row.name.split_once(' ').unwrap_or((&row.name, ""));
    // Addresses contain no comma.
    let operands: Vec<&str> = operands.rsplit(", ").filter(|operand| !operand.is_empty()).collect();
    // A store has no result in a register.
    let latency = row.latency().filter(|latency| !latency.is_of_memory());
    let number = |value: Option<f64>| value.map_or_else(|| "~".to_owned(), |value| format!("{:.3}", value.max(0.0)));
    let _ = write!(text, "- name: {mnemonic}\n  operands:{}\n", if operands.is_empty() { " []" } else { "" });
    for one in operands {
        text.push_str(&operand(one));
    }
    let throughput = row.throughput.cycles.as_ref().ok().map(|cycles| cycles.value);
    let cycles = latency.and_then(|latency| latency.cycles.at_most());
    let (latency_comment, throughput_comment) = (latency.map_or("", about), if row.throughput.is_doubtful { DOUBT } else { "" });
    let _ = write!(
        text,
        "  latency: {}{latency_comment}\n  throughput: {}{throughput_comment}\n  port_pressure: []\n",
        number(cycles),
        number(throughput)
    );
}

/// Stands behind a number that is in doubt.
const DOUBT: &str = "  # in doubt";

/// What a reader of the file must know about a latency.
fn about(latency: &Latency) -> &'static str {
    match (&latency.cycles, latency.is_doubtful) {
        (Cycles::Sum(..), true) => "  # at most, known with helpers only; in doubt",
        (Cycles::Sum(..), false) => "  # at most, known with helpers only",
        (_, true) => DOUBT,
        (_, false) => "",
    }
}

fn operand(name: &str) -> String {
    let register = |name: &str| format!("  - class: register\n    name: {name}\n");
    match name {
        "r8" | "r16" | "r32" | "r64" => register("gpr"),
        "m8" | "m16" | "m32" | "m64" | "m128" | "m256" | "m512" => {
            "  - class: memory\n    base: gpr\n    offset: '*'\n    index: ~\n    scale: 1\n".to_owned()
        }
        "imm8" | "imm16" | "imm32" | "1" => "  - class: immediate\n    imd: int\n".to_owned(),
        address if address.starts_with('[') => {
            let part = |is_there: bool, text: &str| if is_there { text.to_owned() } else { "~".to_owned() };
            let scale = address.split_once('*').map_or("1", |(_, rest)| rest.split(['+', ']']).next().unwrap_or("1"));
            let index = address.matches("r64").count() > 1;
            format!(
                "  - class: memory\n    base: gpr\n    offset: {}\n    index: {}\n    scale: {scale}\n",
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
    use hairspring_core::Estimate;

    #[test]
    fn an_upper_bound_and_a_doubt_stand_beside_the_number() {
        let cycles = Estimate { value: 4.0, low: 3.9, high: 4.1, level: 0.95 };
        let comment = |cycles: Cycles, is_doubtful| {
            let (from, to) = ("2".to_owned(), "1".to_owned());
            about(&Latency { from, to, cycles, values: Vec::new(), arrangements: Vec::new(), chain: None, is_doubtful })
        };
        assert_eq!((comment(Cycles::Alone(cycles), false), comment(Cycles::Alone(cycles), true)), ("", DOUBT));
        assert!(comment(Cycles::Sum(cycles, Vec::new()), false).contains("at most"));
        assert!(comment(Cycles::Sum(cycles, Vec::new()), true).contains("in doubt"));
    }
}
