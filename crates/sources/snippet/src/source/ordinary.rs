//! Ordinary values in the vector registers before a row of assembly.
//!
//! A register that the code does not set would hold what other code left there. If that is a
//! denormal, a multiplication of 4 cycles takes 120. So every row begins with the same number in
//! every element of these registers: [`VALUE`]. It is near 1, so that some thousand multiplications
//! or divisions by it stay ordinary, and its digits fill the whole mantissa, so that a divider has
//! no short case. Code that names instructions for single precision only gets it in single
//! precision. The bits of the double are no denormal, zero or NaN in any narrower format either.

use crate::request::{Language, Request};

/// The number.
pub const VALUE: f64 = 1.0125;

/// The registers to be set, and their element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordinary {
    /// Bytes of the widest register that the code names. Wider parts stay zero: on some cores, bits
    /// there slow older instructions down.
    bytes: u32,
    /// The first registers, as many as these.
    registers: u32,
    /// Whether the elements are numbers of single precision.
    single: bool,
}

impl Ordinary {
    /// For these lines of assembly; `None` if they name no vector register, or on another processor
    /// than x86-64.
    pub fn for_code(code: &str) -> Option<Ordinary> {
        let words =
            || code.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
        let named: Vec<(u32, u32)> = words().filter_map(|word| vector_register(&word)).collect();
        let (bytes, highest) = (
            named.iter().map(|(bytes, _)| *bytes).max()?,
            named.iter().map(|(_, number)| *number).max()?,
        );
        let precision = |endings: [&str; 2]| {
            words().any(|word| endings.iter().any(|ending| of_precision(&word, ending)))
        };
        let single = precision(["ss", "ps"]) && !precision(["sd", "pd"]);
        cfg!(target_arch = "x86_64").then_some(Ordinary {
            bytes,
            registers: if highest < 16 { 16 } else { 32 },
            single,
        })
    }

    /// The same number twice, as bits.
    fn pattern(self) -> u64 {
        let single = u64::from((VALUE as f32).to_bits());
        if self.single { single << 32 | single } else { VALUE.to_bits() }
    }

    /// Instructions that set the registers, in AT&T syntax; they use rax.
    pub fn lines(self) -> Vec<String> {
        let mut lines = vec![
            format!("movabs ${:#x}, %rax", self.pattern()),
            "movq %rax, %xmm0".into(),
            "punpcklqdq %xmm0, %xmm0".into(),
        ];
        match self.bytes {
            64 => lines.push("vbroadcastsd %xmm0, %zmm0".into()),
            32 => lines.push("vinsertf128 $1, %xmm0, %ymm0, %ymm0".into()),
            _ => {}
        }
        let (copy, name) = match (self.bytes, self.registers) {
            (64, _) => ("vmovapd", "zmm"),
            (32, _) => ("vmovapd", "ymm"),
            (_, 32) => ("vmovapd", "xmm"),
            _ => ("movaps", "xmm"),
        };
        lines.extend((1..self.registers).map(|number| format!("{copy} %{name}0, %{name}{number}")));
        lines
    }

    /// Names of the registers for a clobber list.
    pub fn clobbered(self) -> Vec<String> {
        std::iter::once("rax".to_owned())
            .chain((0..self.registers).map(|number| format!("xmm{number}")))
            .collect()
    }

    /// Whether the parts beyond 16 bytes must be cleared behind the row: bits there would slow down
    /// rows with older instructions.
    pub fn leaves_upper_parts(self) -> bool {
        self.bytes > 16
    }

    /// What the registers hold, in words.
    pub fn words(self) -> String {
        format!(
            "{VALUE} in {} precision in every vector register",
            if self.single { "single" } else { "double" }
        )
    }
}

/// Width in bytes and number of the vector register of that name.
fn vector_register(word: &str) -> Option<(u32, u32)> {
    let bytes = [("xmm", 16), ("ymm", 32), ("zmm", 64)];
    let (name, bytes) = bytes.into_iter().find(|(name, _)| word.starts_with(name))?;
    let number = word[name.len()..].parse().ok().filter(|number| *number < 32)?;
    Some((bytes, number))
}

/// Whether a word is a floating-point instruction with this ending (`sd`, `ps` ...), or a
/// conversion from such numbers.
fn of_precision(word: &str, ending: &str) -> bool {
    vector_register(word).is_none()
        && word.len() > 4
        && (word.ends_with(ending) || word.contains(&format!("{ending}2")))
}

/// The values with which the code of an alternative begins, as far as they are known: those of its
/// variables, and of the vector registers in assembly.
pub fn first_values(request: &Request, subject: usize) -> Vec<String> {
    let code = [&request.codes[subject]].into_iter().chain(&request.init).chain(&request.setup);
    let code = code.map(String::as_str).collect::<Vec<_>>().join("\n");
    let is_named = |name: &str| {
        code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    };
    let mut values: Vec<String> =
        request.lets.iter().filter(|one| is_named(&one.name)).map(|one| one.text.clone()).collect();
    if request.language == Language::Asm {
        values.extend(Ordinary::for_code(&code).map(Ordinary::words));
        values.extend(
            request.setup.as_ref().map(|_| "what the setup puts into registers".to_owned()),
        );
    }
    values
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn found(code: &str) -> (u32, u32, bool) {
        let Ordinary { bytes, registers, single } = Ordinary::for_code(code).unwrap();
        (bytes, registers, single)
    }

    #[test]
    fn registers_and_precision_follow_the_code() {
        assert_eq!(Ordinary::for_code("imul rax, rcx"), None);
        assert_eq!(found("mulsd xmm0, xmm1"), (16, 16, false));
        assert_eq!(found("vfmadd231ps %ymm0, %ymm1, %ymm2"), (32, 16, true));
        assert_eq!(found("VMULPS zmm0, zmm1, zmm31"), (64, 32, true));
        assert_eq!(found("vaddss xmm16, xmm1, xmm2"), (16, 32, true));
        assert_eq!(found("cvtsd2ss xmm0, xmm1; mulss xmm0, xmm2"), (16, 16, false));
        assert_eq!(found("cvtps2dq xmm0, xmm1"), (16, 16, true));
        assert_eq!(found("paddd xmm0, ymm1"), (32, 16, false));
    }

    #[test]
    fn every_named_register_is_set_and_clobbered() {
        for (code, last) in [
            ("addpd xmm1, xmm15", "xmm15"),
            ("vaddpd ymm1, ymm2, ymm15", "ymm15"),
            ("vaddpd zmm1, zmm2, zmm31", "zmm31"),
        ] {
            let ordinary = Ordinary::for_code(code).unwrap();
            assert!(ordinary.lines().last().unwrap().ends_with(&format!("%{last}")), "{code}");
            assert_eq!(ordinary.clobbered().last().unwrap()[3..], last[3..]);
            assert_eq!(ordinary.leaves_upper_parts(), !last.starts_with('x'));
        }
    }

    #[test]
    fn the_bits_of_the_value_are_ordinary_in_every_format() {
        let bits = Ordinary::for_code("mulsd xmm0, xmm0").unwrap().pattern();
        let halves = [bits as u32, (bits >> 32) as u32];
        assert!(
            f64::from_bits(bits).is_normal()
                && halves.iter().all(|half| f32::from_bits(*half).is_normal())
        );
        // Five bits of exponent in numbers of 16 bits: neither all 0 nor all 1.
        let quarters = (0..4).map(|at| (bits >> (16 * at)) as u16 >> 10 & 31);
        assert!(quarters.into_iter().all(|exponent| exponent != 0 && exponent != 31));
        let single = Ordinary::for_code("mulss xmm0, xmm0").unwrap().pattern();
        assert_eq!(
            (f32::from_bits(single as u32), f32::from_bits((single >> 32) as u32)),
            (1.0125, 1.0125)
        );
    }

    #[test]
    fn a_thousand_divisions_stay_ordinary() {
        assert!((0..1024).fold(VALUE as f32, |value, _| value / VALUE as f32).is_normal());
        assert!((0..1024).fold(VALUE as f32, |value, _| value * VALUE as f32).is_normal());
    }
}
