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

/// One less the error function.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// Logarithm to base 10.
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// e to the power of `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// e to the power of `x`, less 1.
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
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
        for (value, bits) in [
            (ln(1.1), 0x3fb8_663f_793c_46cc),
            (log2(3.3), 0x3ffb_8f38_88b9_3109),
            (log10(7.7), 0x3fec_5e21_cc1a_571c),
            (exp(1.3), 0x400d_5ab8_3615_f8b4),
            (exp2(0.7), 0x3ff9_fdf8_bcce_533d),
            (pow(1.7, 2.3), 0x400b_1c0c_46dc_b4ea),
            (hypot(1.3, 2.7), 0x4007_f92b_66be_d4b0),
            (sin(1.9), 0x3fee_4817_1f1a_3857),
            (cos(2.1), 0xbfe0_27b3_0498_9eca),
        ] {
            assert_eq!(value.to_bits(), bits, "{value}");
        }
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
