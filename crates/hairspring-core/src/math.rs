//! Functions of numbers with the same digits on every target.
//!
//! `f64::ln` and its like call the mathematical library of the system, whose last digit differs
//! from one system to the next. The solver in a page is to say what the command says, so all crates
//! that a result passes through take these functions from here: the crate `libm` on every target.
//!
//! `sqrt`, `round`, `floor` and arithmetic are exact by the standard, and `powi` is a chain of
//! products; those of `f64` are used.

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Logarithm to base 2.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Logarithm to base 10.
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// e to the power of `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// 2 to the power of `x`.
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// `x` to the power of `y`.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Length of the hypotenuse over the sides `x` and `y`.
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

/// Sine.
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine and cosine.
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values with all their bits: they hold on every target, unlike those of `f64`'s functions.
    #[test]
    fn last_digits_are_the_same_on_every_target() {
        let found = [
            ln(1.1),
            log2(3.3),
            log10(7.7),
            exp(1.3),
            exp2(0.7),
            pow(1.7, 2.3),
            hypot(1.3, 2.7),
            sin(1.9),
            cos(2.1),
        ];
        let bits: Vec<String> = found.iter().map(|x| format!("{:016x}", x.to_bits())).collect();
        expect_test::expect!["3fb8663f793c46cc 3ffb8f3888b93109 3fec5e21cc1a571c 400d5ab83615f8b4 3ff9fdf8bcce533d 400b1c0c46dcb4ea 4007f92b66bed4b0 3fee48171f1a3857 bfe027b304989eca"].assert_eq(&bits.join(" "));
        assert_eq!(sin_cos(1.9), (sin(1.9), cos(1.9)));
    }

    #[test]
    fn powers_of_ten_have_whole_logarithms() {
        for power in -300..300 {
            let near: f64 = format!("1e{power}").parse().unwrap();
            assert_eq!(log10(near).round(), f64::from(power));
            assert!((log10(near) - f64::from(power)).abs() < 1e-12);
        }
    }
}
