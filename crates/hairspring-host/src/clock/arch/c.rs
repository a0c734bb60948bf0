//! C macros that read the counter of every architecture.

use super::{CounterInC, IN_C, Place};
use crate::fence::c::asm;

/// Macros whose names begin with `prefix`: `COUNTER`, the name of the clock; `COUNTER_READ(ticks)`;
/// `COUNTER_RATE(hz)` if the processor reports a rate; and `CLOCK_FENCE()`, for both sides of a
/// read of the system's clock. An unknown processor has only `CLOCK_FENCE()`, as a compiler
/// barrier.
pub fn macros(prefix: &str) -> String {
    let mut text = String::new();
    for (at, counter) in IN_C.iter().enumerate() {
        text +=
            &format!("{} defined({})\n", if at == 0 { "#if" } else { "#elif" }, counter.c_macro);
        text += &known(prefix, counter);
    }
    text + "#else\n" + &fence(prefix, "") + "#endif\n"
}

fn known(prefix: &str, counter: &CounterInC) -> String {
    let rate = counter
        .rate
        .map(|read| format!("#define {prefix}COUNTER_RATE(hz) {}\n", asm(read, ": \"=r\"(hz)")));
    let name = format!("#define {prefix}COUNTER \"{}\"\n", counter.name);
    [name, read(prefix, counter), rate.unwrap_or_default(), fence(prefix, counter.fence)].concat()
}

fn read(prefix: &str, counter: &CounterInC) -> String {
    let head = format!("#define {prefix}COUNTER_READ(ticks)");
    match counter.place {
        Place::Register => {
            format!("{head} {}\n", asm(counter.read, ": \"=r\"(ticks) : : \"memory\""))
        }
        Place::Halves([in_low, in_high]) => {
            let (low, high) =
                (format!("{prefix}LOW").to_lowercase(), format!("{prefix}HIGH").to_lowercase());
            let read = asm(
                counter.read,
                &format!(": \"{in_low}\"({low}), \"{in_high}\"({high}) : : \"memory\""),
            );
            // The read clears the upper halves of both registers.
            let whole = format!("(ticks) = {high} << 32 | {low}");
            format!(
                "{head} \\\n  do {{ \\\n    uint64_t {low}, {high}; \\\n    {read}; \\\n    \
                 {whole}; \\\n  }} while (0)\n"
            )
        }
    }
}

fn fence(prefix: &str, instructions: &str) -> String {
    format!("#define {prefix}CLOCK_FENCE() {}\n", asm(instructions, ": : : \"memory\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_has_a_read_and_a_fence() {
        let text = macros("X_");
        assert_eq!(text.matches("#define X_COUNTER_READ(ticks)").count(), IN_C.len());
        assert_eq!(text.matches("#define X_CLOCK_FENCE()").count(), IN_C.len() + 1);
        assert!(
            text.contains("\"lfence\\n\\trdtsc\\n\\tlfence\" : \"=a\"(x_low), \"=d\"(x_high)")
                && text.contains("mrs %0, cntfrq_el0")
        );
    }
}
