//! What came of a measurement, and its texts.

use hairspring_core::observations::{Observations, Unit, write_csv};
use hairspring_program::output;
use hairspring_result::json::print;
use hairspring_result::read::read;
use hairspring_result::{Measurement, ResultDocument, document};
use hairspring_view::{Style, text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A document with the observations behind it.
#[pyclass(frozen, module = "hairspring._native")]
pub(crate) struct Report {
    pub document: Measurement,
    pub table: Observations,
    pub precise: bool,
}

/// Columns of the raw table as the bytes of arrays: counts row by row and ticks in float64, rounds
/// in uint32, flags in uint8, the places of the series in uint16.
type Columns<'py> = [Bound<'py, PyBytes>; 5];

#[pymethods]
impl Report {
    /// The document as JSON (spec/result.md).
    fn json(&self) -> String {
        print(&ResultDocument::new(&self.document))
    }

    /// The report for people; with `terminal` as it looks best on standard output.
    fn text(&self, terminal: bool) -> String {
        text::report(&ResultDocument::new(&self.document), &style(terminal))
    }

    /// Whether the precision asked for was reached.
    #[getter]
    fn precise(&self) -> bool {
        self.precise
    }

    /// The observations as a file (spec/observations.md).
    fn csv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut file = Vec::new();
        write_csv(&self.table, &mut file)?;
        Ok(PyBytes::new(py, &file))
    }

    /// Names of the components, names of the series, unit of the readings, ticks per second where
    /// they are known.
    fn origin(&self) -> (Vec<String>, Vec<String>, &'static str, Option<f64>) {
        let (table, origin) = (&self.table, &self.table.origin);
        let unit = if origin.unit == Unit::Ticks { "ticks" } else { "time_ns" };
        (
            table.components().to_vec(),
            table.series_names().to_vec(),
            unit,
            origin.rate.as_ref().map(|rate| rate.hz),
        )
    }

    /// The columns of the observations.
    fn columns<'py>(&self, py: Python<'py>) -> Columns<'py> {
        let (rows, readings) = (self.table.rows(), self.table.readings());
        let row = |reading: &hairspring_core::observations::Reading| &rows[reading.row as usize];
        let counts = readings
            .iter()
            .flat_map(|reading| &row(reading).counts)
            .flat_map(|count| count.to_ne_bytes());
        let columns: [Vec<u8>; 5] = [
            counts.collect(),
            readings.iter().flat_map(|reading| reading.ticks.to_ne_bytes()).collect(),
            readings.iter().flat_map(|reading| reading.round.to_ne_bytes()).collect(),
            readings.iter().map(|reading| reading.flags.0).collect(),
            readings.iter().flat_map(|reading| row(reading).series.to_ne_bytes()).collect(),
        ];
        columns.map(|column| PyBytes::new(py, &column))
    }
}

fn style(terminal: bool) -> Style {
    if terminal { output::style() } else { Style { color: false, ..output::style() } }
}

/// One JSON document of several.
#[pyfunction]
pub(crate) fn joined(reports: Vec<PyRef<'_, Report>>) -> PyResult<String> {
    let all = document::joined(reports.iter().map(|report| ResultDocument::new(&report.document)));
    all.map(|all| print(&all)).ok_or_else(|| PyValueError::new_err("no report to join"))
}

/// One table of a JSON document.
#[pyfunction]
pub(crate) fn as_table(json: &str, terminal: bool) -> PyResult<String> {
    let result =
        read(json).map_err(|reason| PyValueError::new_err(format!("the document {reason}")))?;
    Ok(text::table(&result, &style(terminal)))
}
