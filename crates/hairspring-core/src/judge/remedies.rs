//! The remedies of a front end. A finding comes with a remedy in neutral words; a front end that
//! can be more specific, because it knows the names of its options, arguments or fields, replaces
//! it from its own table.

use super::{Assessment, Finding, Question, assess};
use crate::error::{Error, Result};
use crate::observations::Observations;

/// The remedies of one front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remedies {
    /// Remedies by the code of the finding. Findings that are not listed keep their neutral remedy.
    pub by_code: &'static [(&'static str, &'static str)],
    /// The advice of [`Error::TooFewRows`] and [`Error::Singular`].
    pub more_rows: &'static str,
}

impl Remedies {
    /// The remedy for a code, if it is listed.
    pub fn find(&self, code: &str) -> Option<&'static str> {
        self.by_code.iter().find(|(known, _)| *known == code).map(|(_, remedy)| *remedy)
    }

    /// Puts the remedies of this front end into findings.
    pub fn apply<'f>(&self, findings: impl IntoIterator<Item = &'f mut Finding>) {
        for finding in findings.into_iter().filter(|finding| !finding.keeps_remedy) {
            if let Some(remedy) = self.find(&finding.code) {
                finding.remedy = remedy.into();
            }
        }
    }

    /// [`assess`] with the remedies of this front end, in findings and in the error.
    ///
    /// # Errors
    /// As [`assess`].
    pub fn assess(&self, table: &Observations, question: &Question) -> Result<Assessment> {
        let mut assessment = assess(table, question).map_err(|error| self.explain(error))?;
        self.apply(assessment.series.iter_mut().flat_map(|series| &mut series.findings));
        Ok(assessment)
    }

    /// Puts the advice of this front end into an error.
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::TooFewRows { usable, unknowns, detail, .. } => {
                Error::TooFewRows { usable, unknowns, detail, advice: self.more_rows }
            }
            Error::Singular { rows, left_out, unknowns, .. } => {
                Error::Singular { rows, left_out, unknowns, advice: self.more_rows }
            }
            other => other,
        }
    }

    /// All texts of this front end, for tests of the names in them.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.by_code.iter().map(|(_, remedy)| *remedy).chain([self.more_rows])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Severity, shared_finding, stepped_finding};
    use super::*;

    const LIBRARY_REMEDIES: Remedies = Remedies {
        by_code: &[("core_shared", "set `all` to see them")],
        more_rows: "call `row` more often",
    };

    #[test]
    fn only_listed_remedies_are_replaced() {
        let mut findings = [shared_finding(Severity::Note, 1.1, 1.0), stepped_finding(0.9, 1.1)];
        let neutral = findings[1].remedy.clone();
        LIBRARY_REMEDIES.apply(&mut findings);
        assert_eq!(findings[0].remedy, "set `all` to see them");
        assert_eq!(findings[1].remedy, neutral);
    }

    #[test]
    fn error_gets_the_advice_of_the_front_end() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        let row = table.row(series, &[1.0]);
        table.push(row, 0, 59.0);
        let error = LIBRARY_REMEDIES.assess(&table, &Question::default()).unwrap_err().to_string();
        assert!(error.ends_with(": call `row` more often"), "{error}");
    }
}
