//! Expectations as models: numbers with units and uncertainties, and how these propagate (Muller,
//! "Modeling and Analysis: Measuring", steps 4B and 5).
//!
//! ```
//! use hairspring_expect::evaluate;
//! // The model of the paper for a context switch: instructions and memory accesses.
//! let switch = evaluate("(10+50+20+10+10) * 5 ns + 6 * 190 ns").unwrap();
//! assert_eq!(switch.to_string(), "1640 ns");
//! // Its warning: a difference of readings has a large error. Systematic errors add linearly ...
//! let bound = evaluate("14 +- 2 us systematic - 10 +- 2 us systematic").unwrap();
//! assert_eq!(bound.to_string(), "4000 ns +- 4000 ns systematic");
//! // ... and stochastic ones in quadrature.
//! let noise = evaluate("14 +- 2 us - 10 +- 2 us").unwrap();
//! assert!((noise.stochastic - 2_828.427).abs() < 1e-3);
//! // An error points at the character.
//! assert!(evaluate("3 ns + 2 m").unwrap_err().to_string().ends_with("3 ns + 2 m\n           ^"));
//! ```
//!
//! # The language
//!
//! - Units: `s ms us ns ps`, `cycles`, `ticks`, `bytes` (`kB MB GB KiB MiB GiB`), `Hz kHz MHz GHz`,
//!   `counts`, `%`, `ppm`. A unit stands behind a number or a parenthesis, or alone for one of it:
//!   `16 bytes/cycle`. Counts and shares are plain numbers. Only values of one dimension can be
//!   added; a product or quotient has the product or quotient of the dimensions. Cycles or ticks by
//!   a frequency are a time: `3 cycles / 3.5 GHz`.
//! - Operators: `^`, then signs, then `*` and `/`, then `+`, `-` and `+-`, from left to right.
//!   Parentheses group.
//! - `+-` gives everything before it in the sum an uncertainty: `14 +- 2 us`,
//!   `(10+50) * 5 ns +- 2 ns`, `5 ns +- 10 %`. It is stochastic, or what follows:
//!   `14 +- 2 us systematic`. A stochastic half-width is that of a 95 % interval, and such
//!   half-widths add in quadrature; a systematic one is a bound, and bounds add linearly. The total
//!   is the sum of both.
//! - A value that is used twice under a name ([`Model::define`]) is the same value in both places:
//!   `x - x` is exactly 0.
//!
//! Uncertainties are propagated to first order and by Monte Carlo. Where the two do not agree, the
//! model is far from a straight line within its uncertainties, and the ends by Monte Carlo count,
//! each on its own side ([`Quantity::expected`]).
//!
//! The length of an expression, its depth, its numbers and its uncertain values are bounded, so
//! that no text takes long.

#![forbid(unsafe_code)]

mod fault;
mod model;
mod monte_carlo;
mod parse;
mod quantity;
mod token;
pub mod unit;

pub use fault::Fault;
pub use monte_carlo::MonteCarlo;
pub use quantity::{LEVEL, Quantity};
pub use unit::Dimension;

use model::{Kind, Steps};
use std::collections::BTreeMap;
use unit::Unit;

/// Named values that a model may have.
const MOST_NAMES: usize = 100;

/// The value of an expression.
///
/// # Errors
/// What is wrong with it, with a pointer at the character.
pub fn evaluate(text: &str) -> Result<Quantity, Fault> {
    Model::default().evaluate(text)
}

/// A model with named values.
///
/// ```
/// use hairspring_expect::Model;
/// let mut model = Model::default();
/// model.define("instruction", "5 +- 1 ns systematic").unwrap();
/// model.define("access", "38 * instruction").unwrap();
/// assert_eq!(model.evaluate("access - 37 * instruction").unwrap().to_string(),
///     "5 ns +- 1 ns systematic");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    steps: Steps,
    names: BTreeMap<String, usize>,
}

impl Model {
    /// Gives the value of an expression a name, which later expressions may use.
    ///
    /// # Errors
    /// What is wrong with the expression or the name.
    pub fn define(&mut self, name: &str, text: &str) -> Result<(), Fault> {
        let fault = |message: String| Fault { message, text: name.to_owned(), at: 0 };
        let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_word {
            return Err(fault(
                "a name has letters, digits and `_`, and does not begin with a digit".into(),
            ));
        }
        if Unit::find(name).is_some() || Kind::find(name).is_some() {
            return Err(fault(format!("`{name}` has a meaning of its own and cannot be a name")));
        }
        if self.names.len() == MOST_NAMES {
            return Err(fault(format!("too many names: at most {MOST_NAMES}")));
        }
        let root = parse::parse(text, &mut self.steps, &self.names)?;
        self.names.insert(name.to_owned(), root);
        Ok(())
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// What is wrong with it, with a pointer at the character.
    pub fn evaluate(&self, text: &str) -> Result<Quantity, Fault> {
        let mut steps = self.steps.clone();
        let root = parse::parse(text, &mut steps, &self.names)?;
        Ok(Quantity::of(&steps, root))
    }
}

#[cfg(test)]
mod tests;
