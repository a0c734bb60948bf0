//! Lines of Go's benchmark format, for benchstat: `BenchmarkNAME 1 12.3 ns/op 36.1 cycles/op`.
//!
//! A name is one field and begins its line. White space, control characters and `%` are written as `%` and the two
//! hexadecimal digits of each byte, as in a URL; an underscore is put before a first letter that Go does not accept. The format
//! has no place for an interval: benchstat computes its own from the same benchmark in several files.

use super::Timed;
use hairspring_result::Environment;

/// The lines. Times below resolution are left out: without their interval they would look like plain times.
pub(super) fn text(entries: &[Timed], environment: &Environment, left_out: &mut Vec<String>) -> String {
    let mut out = String::new();
    let cpu = environment.cpu.as_ref();
    for (key, value) in
        [("goarch", cpu.map(|cpu| &cpu.architecture)), ("cpu", cpu.map(|cpu| &cpu.model)), ("compiler", environment.compiler.as_ref())]
    {
        if let Some(value) = value.map(|value| crate::clean::clean(value)).filter(|value| !value.is_empty()) {
            out += &format!("{key}: {value}\n");
        }
    }
    for (entry, time) in entries {
        if entry.figure.below_resolution {
            left_out.push(format!("`{}` is left out: it is below resolution, and the format has no place for its bound", entry.label));
            continue;
        }
        let cycles = entry.figure.cycles.map(|cycles| format!(" {} cycles/op", cycles.value)).unwrap_or_default();
        out += &format!("Benchmark{} {} {} ns/op{cycles}\n", name(&entry.label), entry.executions(), time.value);
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
        if c == '%' || c.is_whitespace() || c.is_control() {
            let mut bytes = [0; 4];
            out.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            out.push(c);
        }
    }
    out
}
