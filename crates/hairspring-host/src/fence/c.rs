//! The fences as C macros for every architecture.

use super::{ALL, Fences};
use hairspring_core::design::table::FENCED_CHAIN_COPIES;

/// Macros whose names begin with `prefix`: `FLOATING_REGISTER`, `FENCE()`, `FULL_FENCE()`,
/// `FLUSH_LINE(address)` and `CHAIN()`. A processor that lets no program flush a line has no
/// `FLUSH_LINE`, and an unknown one only compiler barriers.
pub fn macros(prefix: &str) -> String {
    let mut text = String::new();
    for (at, fences) in ALL.iter().enumerate() {
        text += &format!("{} defined({})\n", if at == 0 { "#if" } else { "#elif" }, fences.c_macro);
        text += &known(prefix, fences);
    }
    text + "#else\n" + &unknown(prefix) + "#endif\n"
}

fn known(prefix: &str, fences: &Fences) -> String {
    // A line for each: compilers take the number of lines for the length, and have short branches
    // to put around them.
    let links = vec![fences.link; FENCED_CHAIN_COPIES as usize].join("\n\t");
    let link = variable(prefix);
    let operands = ": : \"r\"(address) : \"memory\"";
    let flush = fences
        .flush_line
        .map(|line| format!("#define {prefix}FLUSH_LINE(address) {}\n", asm(line, operands)));
    [
        format!("#define {prefix}FLOATING_REGISTER \"{}\"\n", fences.c_float),
        barrier(prefix, "FENCE", fences.order),
        barrier(prefix, "FULL_FENCE", fences.full),
        flush.unwrap_or_default(),
        chain(prefix, &asm(&links, &format!(": \"+r\"({link}) : : \"cc\""))),
    ]
    .concat()
}

fn unknown(prefix: &str) -> String {
    let link = variable(prefix);
    let links = vec![
        format!("{link} *= {link}; {}", asm("", &format!(": \"+r\"({link})")));
        FENCED_CHAIN_COPIES as usize
    ];
    [
        format!("#define {prefix}FLOATING_REGISTER \"m\"\n"),
        barrier(prefix, "FENCE", ""),
        barrier(prefix, "FULL_FENCE", ""),
        chain(prefix, &links.join("; \\\n      ")),
    ]
    .concat()
}

fn barrier(prefix: &str, name: &str, instructions: &str) -> String {
    format!("#define {prefix}{name}() {}\n", asm(instructions, ": : : \"memory\""))
}

/// The register is multiplied without being initialised, because loading it would add to the time.
fn chain(prefix: &str, links: &str) -> String {
    let link = variable(prefix);
    let empty = asm("", &format!(": \"=r\"({link})"));
    format!(
        "#define {prefix}CHAIN() \\\n  do {{ \\\n    uint64_t {link}; \\\n    {empty}; \\\n    \
         {links}; \\\n  }} while (0)\n"
    )
}

fn variable(prefix: &str) -> String {
    format!("{prefix}LINK").to_lowercase()
}

/// The instructions as a C statement.
pub(crate) fn asm(instructions: &str, operands: &str) -> String {
    let text = instructions
        .replace('%', "%%")
        .replace("{0}", "%0")
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    format!("__asm__ volatile(\"{text}\" {operands})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_has_all_macros() {
        let text = macros("X_");
        for name in ["FLOATING_REGISTER", "FENCE()", "FULL_FENCE()", "CHAIN()"] {
            assert_eq!(text.matches(&format!("#define X_{name}")).count(), ALL.len() + 1, "{name}");
        }
        let flushing = ALL.iter().filter(|fences| fences.flush_line.is_some()).count();
        assert_eq!(text.matches("#define X_FLUSH_LINE(address)").count(), flushing);
        assert!(
            text.contains("\"lfence\" : : : \"memory\"")
                && text.contains("\\n\\timul %0, %0\\n")
                && text.contains("x_link")
        );
    }
}
