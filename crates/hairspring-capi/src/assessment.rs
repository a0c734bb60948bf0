//! From a table to an array of estimates, findings and comparisons.

use crate::observations::ObservationsHandle;
use crate::remedies::ASSESS;
use crate::sized::{Growing, fill, input};
use crate::wall::{Refusal, Status, c_text, free, hand_out, level, shared, wall};
use hairspring_core::estimate::{self, Options};
use hairspring_core::judge::{
    self, Assessment, ComponentResult, SeriesResult, Severity, Time, Verdict,
};
use std::ffi::{CString, c_char};
use std::mem::offset_of;

/// A value with its confidence interval.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level, such as 0.95. An unavailable estimate is 0 in all fields.
    pub level: f64,
}

impl From<estimate::Estimate> for Estimate {
    fn from(from: estimate::Estimate) -> Estimate {
        Estimate { value: from.value, low: from.low, high: from.high, level: from.level }
    }
}

/// Options of an assessment.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Confidence level of all intervals, 0.5 to 0.9999; 0 is 0.95.
    pub level: f64,
    /// Required half-width as a share of the first component's time; 0: none is required.
    pub precision: f64,
    /// 1: all rows are used; 0: rows far off the line may be left out.
    pub keep_all_rows: u32,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for Question {
    const LEAST_BYTES: usize = size_of::<usize>();
}

/// What an estimate is of.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A component, or a combination that the counts cannot separate.
    Component = 0,
    /// What all rows have in common.
    Overhead = 1,
}

/// The time of one component of one series. The texts live as long as the assessment.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ComponentEstimate {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Name of the series.
    pub series: *const c_char,
    /// Name of the component, the combination spelled out, or `overhead`.
    pub name: *const c_char,
    /// What it is.
    pub kind: Kind,
    /// 1 if the time cannot be distinguished from zero; `bound` is then its upper bound.
    pub below_resolution: u32,
    /// The bound, in nanoseconds if the clock's rate is known, else in ticks.
    pub bound: f64,
    /// The time in the unit of the readings.
    pub ticks: Estimate,
    /// The time in nanoseconds, if the clock's rate is known.
    pub ns: Estimate,
    /// The time in core cycles, if a reference chain ran in the same rounds.
    pub cycles: Estimate,
    /// 1 if a finding says that this time must not be trusted.
    pub untrusted: u32,
    /// 1 if the component only serves the others, such as an init.
    pub serves: u32,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for ComponentEstimate {
    const LEAST_BYTES: usize = offset_of!(ComponentEstimate, ns);
}

/// How serious a finding is.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeverityOfFinding {
    /// Worth knowing.
    Note = 0,
    /// The result may be off.
    Warning = 1,
    /// The result must not be trusted.
    Untrusted = 2,
}

/// A doubt about a result. The texts live as long as the assessment.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FindingText {
    /// Size of this struct in bytes.
    pub size: usize,
    /// The series that it is about.
    pub series: *const c_char,
    /// How serious it is.
    pub severity: SeverityOfFinding,
    /// What was found.
    pub message: *const c_char,
    /// What to do about it.
    pub remedy: *const c_char,
    /// The component that it is about; null if it is about the whole series.
    pub component: *const c_char,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for FindingText {
    const LEAST_BYTES: usize = offset_of!(FindingText, remedy);
}

/// The verdict of a comparison.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictOfComparison {
    /// `a` takes less time.
    Faster = 0,
    /// `a` takes more time.
    Slower = 1,
    /// A difference is not certain, and the interval is narrow.
    NoDifference = 2,
    /// A difference is not certain, and the interval is wide.
    Undecided = 3,
}

/// Two series compared by their first component. The texts live as long as the assessment.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ComparisonEstimate {
    /// Size of this struct in bytes.
    pub size: usize,
    /// The series that is compared.
    pub a: *const c_char,
    /// The series that it is compared with: the first of the table.
    pub b: *const c_char,
    /// Time of `a` over time of `b`.
    pub ratio: Estimate,
    /// The conclusion from the interval.
    pub verdict: VerdictOfComparison,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for ComparisonEstimate {
    const LEAST_BYTES: usize = size_of::<ComparisonEstimate>();
}

/// The estimates, findings and comparisons of a table. It is immutable, so threads may share it.
#[derive(Debug)]
pub struct AssessmentHandle {
    components: Vec<ComponentEstimate>,
    findings: Vec<FindingText>,
    comparisons: Vec<ComparisonEstimate>,
    /// The texts that the pointers above point to.
    _texts: Vec<CString>,
}

// SAFETY: the pointers point into `_texts`, which lives as long and is never changed.
unsafe impl Send for AssessmentHandle {}
// SAFETY: as above.
unsafe impl Sync for AssessmentHandle {}

impl AssessmentHandle {
    fn new(assessment: &Assessment, level: f64) -> AssessmentHandle {
        let mut handle = AssessmentHandle {
            components: Vec::new(),
            findings: Vec::new(),
            comparisons: Vec::new(),
            _texts: Vec::new(),
        };
        assessment.series.iter().for_each(|series| handle.add_series(series, level));
        for comparison in &assessment.comparisons {
            let (a, b) = (handle.text(&comparison.a), handle.text(&comparison.b));
            let (size, ratio) = (size_of::<ComparisonEstimate>(), comparison.ratio.into());
            handle.comparisons.push(ComparisonEstimate {
                size,
                a,
                b,
                ratio,
                verdict: verdict(assessment.verdict(comparison)),
            });
        }
        handle
    }

    fn add_series(&mut self, result: &SeriesResult, level: f64) {
        let series = self.text(&result.name);
        for ComponentResult { name, time, serves, .. } in &result.components {
            let untrusted = u32::from(!result.trusts(name));
            let estimate = component(series, self.text(name), Kind::Component, time, level);
            self.components.push(ComponentEstimate {
                untrusted,
                serves: u32::from(*serves),
                ..estimate
            });
        }
        if let Some(time) = &result.overhead {
            let name = self.text("overhead");
            self.components.push(component(series, name, Kind::Overhead, time, level));
        }
        for finding in &result.findings {
            let (message, remedy) = (self.text(&finding.message), self.text(&finding.remedy));
            let severity = severity(finding.severity);
            let component = finding.component().map_or(std::ptr::null(), |name| self.text(name));
            self.findings.push(FindingText {
                size: size_of::<FindingText>(),
                series,
                severity,
                message,
                remedy,
                component,
            });
        }
    }

    /// The text's bytes stay where they are when the list of texts grows.
    fn text(&mut self, text: &str) -> *const c_char {
        self._texts.push(c_text(text));
        self._texts.last().map_or(std::ptr::null(), |text| text.as_ptr())
    }
}

fn component(
    series: *const c_char,
    name: *const c_char,
    kind: Kind,
    time: &Time,
    level: f64,
) -> ComponentEstimate {
    let at_level = |value: &Option<estimate::Uncertain>| {
        value.as_ref().map(|value| value.estimate(level).into()).unwrap_or_default()
    };
    ComponentEstimate {
        size: size_of::<ComponentEstimate>(),
        series,
        name,
        kind,
        below_resolution: u32::from(time.bound.is_some()),
        bound: time.bound.as_ref().map_or(0.0, |bound| bound.shown),
        ticks: time.ticks.into(),
        ns: at_level(&time.ns),
        cycles: at_level(&time.cycles),
        untrusted: 0,
        serves: 0,
    }
}

fn severity(severity: Severity) -> SeverityOfFinding {
    match severity {
        Severity::Note => SeverityOfFinding::Note,
        Severity::Warning => SeverityOfFinding::Warning,
        Severity::Untrusted => SeverityOfFinding::Untrusted,
    }
}

fn verdict(verdict: Verdict) -> VerdictOfComparison {
    match verdict {
        Verdict::Faster => VerdictOfComparison::Faster,
        Verdict::Slower => VerdictOfComparison::Slower,
        Verdict::NoDifference => VerdictOfComparison::NoDifference,
        Verdict::Undecided => VerdictOfComparison::Undecided,
    }
}

/// Solves and checks every series of a table, and compares it with the first. `question` may be
/// null, for the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_assess(
    table: *const ObservationsHandle,
    question: *const Question,
    out: *mut *mut AssessmentHandle,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let table = unsafe { shared(table, "the table") }?;
        let asked_question = if question.is_null() {
            judge::Question::default()
        } else {
            // SAFETY: passed on to the caller.
            asked(&unsafe { input(question, "the question") }?)?
        };
        let copy = table.with(|table| table.clone());
        let mut assessment = ASSESS.assess(&copy, &asked_question)?;
        let mut findings = table.findings().to_vec();
        ASSESS.apply(&mut findings);
        for series in &mut assessment.series {
            findings.iter().for_each(|finding| series.add(finding.clone()));
        }
        // SAFETY: passed on to the caller.
        unsafe { hand_out(out, AssessmentHandle::new(&assessment, asked_question.options.level)) }
    })
}

fn asked(question: &Question) -> Result<judge::Question, Refusal> {
    let options = Options {
        level: level(if question.level == 0.0 { 0.95 } else { question.level })?,
        leave_rows_out: question.keep_all_rows == 0,
        ..Options::default()
    };
    let precision = question.precision;
    if !precision.is_finite() || !(0.0..1.0).contains(&precision) || question.keep_all_rows > 1 {
        let text = format!(
            "a precision of {precision} is not from 0 to 1, or keep_all_rows is not 0 or 1"
        );
        return Err(Refusal::new(Status::BadValue, text));
    }
    Ok(judge::Question {
        options,
        precision: (precision > 0.0).then_some(precision),
        ..judge::Question::default()
    })
}

/// Frees an assessment and its texts; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_assessment_free(assessment: *mut AssessmentHandle) {
    // SAFETY: passed on to the caller.
    unsafe { free(assessment) }
}

/// Copies at most `room` estimates into an array, and sets `count` to the number that the
/// assessment has. The array may be null if `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_assessment_components(
    assessment: *const AssessmentHandle,
    array: *mut ComponentEstimate,
    element_size: usize,
    room: usize,
    count: *mut usize,
) -> Status {
    // SAFETY: passed on to the caller.
    wall(|| unsafe {
        fill(array, element_size, room, count, &shared(assessment, "the assessment")?.components)
    })
}

/// Copies the findings, as `hairspring_assessment_components` does the estimates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_assessment_findings(
    assessment: *const AssessmentHandle,
    array: *mut FindingText,
    element_size: usize,
    room: usize,
    count: *mut usize,
) -> Status {
    // SAFETY: passed on to the caller.
    wall(|| unsafe {
        fill(array, element_size, room, count, &shared(assessment, "the assessment")?.findings)
    })
}

/// Copies the comparisons, as `hairspring_assessment_components` does the estimates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_assessment_comparisons(
    assessment: *const AssessmentHandle,
    array: *mut ComparisonEstimate,
    element_size: usize,
    room: usize,
    count: *mut usize,
) -> Status {
    // SAFETY: passed on to the caller.
    wall(|| unsafe {
        fill(array, element_size, room, count, &shared(assessment, "the assessment")?.comparisons)
    })
}
