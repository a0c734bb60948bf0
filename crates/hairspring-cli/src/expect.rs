//! `--expect`: a measurement beside what is expected of it.

#[cfg(feature = "instructions")]
mod llvm;
#[cfg(not(feature = "instructions"))]
#[path = "expect/no_llvm.rs"]
mod llvm;

use crate::{AnyError, Outcome};
use clap::Args;
use hairspring_core::alike::nearest;
use hairspring_core::judge::Agreement;
use hairspring_expect::{Dimension, Quantity, evaluate};
use hairspring_result::document::Wanted;
use hairspring_result::{ResultDocument, Unit};

// Options about expectations. A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Args)]
pub struct ExpectArguments {
    /// Exit with 3 if the first time and this expectation differ by more than their uncertainties:
    /// a model with units, such as '3 cycles', '14 +- 2 us' or '(10+50+20) * 5 ns +- 10 %
    /// systematic', or (in `time`) llvm, the scheduling model of LLVM. docs/pass-or-fail.md has the
    /// rules
    #[arg(long, value_name = "EXPRESSION", value_parser = expectation, allow_hyphen_values = true)]
    pub expect: Option<Expected>,
}

/// An expectation.
#[derive(Debug, Clone)]
pub enum Expected {
    /// An expression with its value.
    Model {
        /// As it was given.
        text: String,
        /// Its value.
        quantity: Box<Quantity>,
        /// The unit in which it is compared.
        unit: Unit,
    },
    /// The scheduling model of LLVM, for the compiled copy.
    Llvm,
}

/// Reads an expectation of a time.
fn expectation(text: &str) -> Result<Expected, String> {
    if text == "llvm" {
        return Ok(Expected::Llvm);
    }
    let is_about_llvm =
        || text.to_lowercase().contains("llvm") || nearest(text, ["llvm"]).is_some();
    let quantity = evaluate(text).map_err(|fault| match is_about_llvm() {
        true => "LLVM's scheduling model is called `llvm`".to_owned(),
        false => fault.to_string(),
    })?;
    let unit = unit(quantity.dimension)?;
    if quantity.value < 0.0 {
        return Err(format!("the expectation is {quantity}: no time is below zero"));
    }
    let quantity = Box::new(quantity);
    Ok(Expected::Model { text: text.to_owned(), quantity, unit })
}

/// The unit in which a time of this dimension is compared.
fn unit(dimension: Dimension) -> Result<Unit, String> {
    match dimension {
        Dimension::TIME => Ok(Unit::Nanoseconds),
        Dimension::CYCLES => Ok(Unit::Cycles),
        Dimension::TICKS => Ok(Unit::Ticks),
        other => Err(format!(
            "the expectation is {}: expected a time, core cycles or ticks, such as `3 cycles` or \
             `5 ns`",
            other.words()
        )),
    }
}

impl ExpectArguments {
    /// Whether the compiled copy is compared with LLVM's model.
    pub fn is_llvm(&self) -> bool {
        matches!(self.expect, Some(Expected::Llvm))
    }

    /// Checks before the measurement that the program for the expectation is installed.
    pub fn prepare(&self) -> Result<(), AnyError> {
        if self.is_llvm() { Ok(llvm::prepare()?) } else { Ok(()) }
    }

    /// Adds the comparison to the document, and returns the outcome with it.
    pub fn judge(&self, document: ResultDocument) -> Result<(ResultDocument, Outcome), AnyError> {
        let document = match &self.expect {
            None => return Ok((document, Outcome::Done)),
            Some(Expected::Llvm) => llvm::beside(document)?,
            Some(Expected::Model { text, quantity, unit }) => {
                let level = document.level();
                document.beside(&Wanted {
                    expression: text.clone(),
                    expected: quantity.expected(level, 1.0),
                    first_order: quantity.first_order(level, 1.0),
                    is_stated: quantity.is_stated,
                    is_straight: quantity.monte_carlo.agrees,
                    unit: *unit,
                })
            }
        };
        let outcome = match document.expectation.as_deref() {
            None => Outcome::Failed,
            Some(found) if found.verdict == Agreement::Deviates => Outcome::LimitMissed,
            Some(_) => Outcome::Done,
        };
        Ok((document, outcome))
    }
}
