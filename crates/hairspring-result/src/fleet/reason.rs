//! Why a machine differs from its family, as its times in both units say.

use hairspring_core::math::exp;

/// What the distances of an odd machine mean: logarithms of its ratios to the family.
pub fn reason(cycles: Option<f64>, ns: Option<f64>, in_cycles: bool, in_ns: bool) -> String {
    let (Some(c), Some(n)) = (cycles, ns) else {
        let (size, unit) = cycles.map_or((ns, "ns"), |cycles| (Some(cycles), "cycles"));
        let other = if cycles.is_some() { "time in ns is" } else { "core cycles are" };
        return format!(
            "{} in {unit}; its {other} not known: its clock, core, caches or memory",
            sized(size.unwrap_or(0.0))
        );
    };
    let equal = |small: f64, large: f64| small.abs() <= 0.5 * large.abs();
    match (in_cycles, in_ns) {
        (false, _) if equal(c, n) => format!("{} in ns, equal in cycles: its clock", sized(n)),
        (_, false) if equal(n, c) => format!(
            "{} in cycles, equal in ns: its clock differs, and its core waits for what does not \
             follow the clock, such as memory",
            sized(c)
        ),
        _ if c * n < 0.0 => {
            format!("{} in ns and {} in cycles: its core and its clock", sized(n), sized(c))
        }
        (true, true) if equal(c, n) || equal(n, c) => format!(
            "{} in ns and {} in cycles: its core, caches or memory, and its clock",
            sized(n),
            sized(c)
        ),
        _ => format!("{} in ns and {} in cycles: its core, caches or memory", sized(n), sized(c)),
    }
}

/// The ratio of a logarithm, in percent above 100.
pub fn percent(log: f64) -> f64 {
    100.0 * (exp(log) - 1.0)
}

/// `4 % slower`.
fn sized(log: f64) -> String {
    let (size, word) = (percent(log).abs(), if log < 0.0 { "faster" } else { "slower" });
    let digits = if size < 0.095 { 2 } else { usize::from(size < 9.5) };
    format!("{} % {word}", format!("{size:.digits$}").trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_read_from_both_units() {
        let of = |c: f64, n: f64, in_cycles, in_ns| reason(Some(c), Some(n), in_cycles, in_ns);
        assert_eq!(of(0.0001, 0.0392, false, true), "4 % slower in ns, equal in cycles: its clock");
        let both = of(0.1, 0.1, true, true);
        assert_eq!(both, "11 % slower in ns and 11 % slower in cycles: its core, caches or memory");
        assert!(of(0.1, 0.3, true, true).ends_with("memory, and its clock"));
        assert!(of(0.05, 0.001, true, false).contains("equal in ns"));
        assert!(of(-0.05, 0.05, true, true).ends_with("its core and its clock"));
        assert!(of(0.03, 0.04, false, true).ends_with("its core, caches or memory"));
        let ns = reason(None, Some(-0.02), false, true);
        assert!(ns.starts_with("2 % faster in ns; its core cycles are not known"), "{ns}");
    }
}
