//! The input of a document: an assessment, its circumstances, and what is known about the code.

use crate::document::{Environment, Mode, Run};
use hairspring_core::judge::methods::{MethodTable, doubts};
use hairspring_core::judge::{Assessment, Finding};

/// An assessed measurement, from which a source makes a [`crate::ResultDocument`].
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The verb that made it, such as `time` or `fit`.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// The estimates and findings.
    pub assessment: Assessment,
    /// Nanoseconds for one unit of the table (`Origin::ns_per_unit`); `None` where the clock's rate
    /// is unknown.
    pub ns_per_unit: Option<f64>,
    /// What is known about the series beyond the numbers, by the name of the series.
    pub subjects: Vec<Subject>,
    /// Other methods beside the line fit, if they were requested.
    pub methods: Vec<MethodTable>,
    /// How the run went, if there was one.
    pub run: Option<Run>,
}

/// What is known about a series beyond its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Subject {
    /// Name of the series in the assessment.
    pub name: String,
    /// The code that was timed.
    pub code: Option<String>,
    /// What the slope means.
    pub mode: Option<Mode>,
    /// Why, in words, such as `chained through x`; may be empty.
    pub mode_reason: String,
    /// Machine code for one copy, in bytes.
    pub bytes_per_copy: Option<f64>,
    /// The instructions of one copy, if they were requested.
    pub disassembly: Vec<String>,
    /// Findings beyond those of the assessment.
    pub findings: Vec<Finding>,
}

impl Subject {
    /// The errors of other tools' methods, as findings of their series.
    pub fn of_methods(tables: &[MethodTable]) -> Vec<Subject> {
        let subject = |table: &MethodTable| Subject {
            name: table.subject.clone(),
            findings: doubts(table),
            ..Subject::default()
        };
        tables.iter().map(subject).collect()
    }
}
