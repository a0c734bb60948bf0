//! The table as the instruction forms of a machine file for OSACA: operands in the order of AT&T syntax, latency and
//! reciprocal throughput. Ports are not measured, so they stay empty for the author of the file.

use crate::result::{FormResult, Table};
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
    let latency = row.latency().filter(|latency| !latency.is_of_memory()).and_then(|latency| latency.cycles.at_most());
    let number = |value: Option<f64>| value.map_or_else(|| "~".to_owned(), |value| format!("{:.3}", value.max(0.0)));
    let _ = write!(text, "- name: {mnemonic}\n  operands:{}\n", if operands.is_empty() { " []" } else { "" });
    for one in operands {
        text.push_str(&operand(one));
    }
    let throughput = row.throughput.cycles.as_ref().ok().map(|cycles| cycles.value);
    let doubt = if row.is_doubtful() { "  # in doubt" } else { "" };
    let _ = write!(text, "  latency: {}{doubt}\n  throughput: {}\n  port_pressure: []\n", number(latency), number(throughput));
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
