//! Text that users write: inputs of `blocks`, `--let` declarations, values of options, expectations
//! and experiments.

use hairspring_expect::evaluate;
use hairspring_experiment::Plan;
use hairspring_program::values::{duration, level, share};
use hairspring_snippet::Declaration;
use std::time::Duration;

/// Inputs of `blocks`: at least one, and every text fits a message.
pub fn inputs(bytes: &[u8]) -> bool {
    let Ok(inputs) = hairspring_blocks::read_inputs(bytes) else { return false };
    assert!(!inputs.is_empty() && inputs.iter().all(|input| input.text.chars().count() <= 123));
    true
}

/// Declarations: one line that holds the name.
pub fn declaration(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(declared) = Declaration::parse(text) else { return false };
    let _ = (declared.is_wide_scalar(), declared.sized_by_initialiser());
    assert!(
        !declared.name.is_empty() && declared.declarator.contains(&declared.name),
        "{declared:?}"
    );
    assert!(
        declared.text.starts_with(&declared.declarator) && !declared.text.contains('\n'),
        "{declared:?}"
    );
    // Parsing the parsed text again gives the same declaration.
    assert_eq!(Declaration::parse(&declared.text).ok().as_ref(), Some(&declared));
    true
}

/// Times, shares and confidence levels: within their limits.
pub fn values(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let (time, part, confidence) = (duration(text), share(text), level(text));
    assert!(
        time.as_ref().is_ok_and(|time| *time <= Duration::from_secs(86_400)) || time.is_err(),
        "{time:?}"
    );
    assert!(
        part.as_ref().is_ok_and(|part| *part > 0.0 && *part < 1.0) || part.is_err(),
        "{part:?}"
    );
    assert!(
        confidence.as_ref().is_ok_and(|level| (0.5..=0.9999).contains(level))
            || confidence.is_err(),
        "{confidence:?}"
    );
    time.is_ok() || part.is_ok()
}

/// Expectations: an error points into the text, and a value written as an expression is the same
/// value.
pub fn expression(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let value = match evaluate(text) {
        Ok(value) => value,
        Err(fault) => {
            assert!(fault.at <= text.len() && !fault.to_string().is_empty(), "{fault:?}");
            return false;
        }
    };
    assert!(
        value.value.is_finite() && value.stochastic >= 0.0 && value.systematic >= 0.0,
        "{value:?}"
    );
    let again = evaluate(&value.to_string()).unwrap_or_else(|fault| panic!("{value}: {fault}"));
    assert_eq!(again.dimension, value.dimension, "{value}");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs() || a.abs() < 1e-290;
    assert!(
        near(value.value, again.value) && near(value.systematic, again.systematic),
        "{value:?} {again:?}"
    );
    true
}

/// Files of experiments: a plan has an expectation and something to run.
pub fn experiment(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    match Plan::read(text) {
        Ok(plan) => {
            assert!(
                plan.definition.setup.work().is_ok()
                    && plan.expected.value.is_finite()
                    && plan.level < 1.0,
                "{plan:?}"
            );
            true
        }
        Err(error) => {
            assert!(!error.is_empty());
            false
        }
    }
}
