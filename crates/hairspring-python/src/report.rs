//! What came of a measurement, and its texts.

use crate::notebook;
use hairspring_core::observations::{Observations, Unit, read_csv, write_csv};
use hairspring_program::output;
use hairspring_result::json::print;
use hairspring_result::read::read;
use hairspring_result::{ResultDocument, document};
use hairspring_view::{Style, markdown, text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::path::PathBuf;

/// A document with the observations behind it.
#[pyclass(frozen, module = "hairspring._native")]
pub(crate) struct Report {
    pub document: ResultDocument,
    /// `None` where a command measured and kept no readings.
    pub table: Option<Observations>,
    pub precise: bool,
}

impl Report {
    fn table(&self) -> PyResult<&Observations> {
        let missing = "the readings of this result were not kept";
        self.table.as_ref().ok_or_else(|| PyValueError::new_err(missing))
    }
}

/// Names of the components, names of the series, unit of the readings, ticks per second.
type Origin = (Vec<String>, Vec<String>, &'static str, Option<f64>);

/// Columns of the raw table as the bytes of arrays: counts row by row and ticks in float64, rounds
/// in uint32, flags in uint8, the places of the series in uint16.
type Columns<'py> = [Bound<'py, PyBytes>; 5];

#[pymethods]
impl Report {
    /// The document as JSON (spec/result.md).
    fn json(&self) -> String {
        print(&self.document)
    }

    /// The report for people; with `terminal` as it looks best on standard output.
    fn text(&self, terminal: bool) -> String {
        text::report(&self.document, &style(terminal))
    }

    /// The same for a comment on a pull request, in Markdown.
    fn markdown(&self) -> String {
        markdown::of(&self.document)
    }

    /// The same with its plots, for a notebook.
    fn html(&self) -> PyResult<String> {
        notebook::html(&self.document, self.table.as_ref()).map_err(PyValueError::new_err)
    }

    /// The plots: names, titles and SVG.
    fn plots(&self) -> PyResult<Vec<(String, String, String)>> {
        let plots = notebook::plots(&self.document, self.table.as_ref());
        let plots = plots.map_err(PyValueError::new_err)?;
        Ok(plots
            .into_iter()
            .map(|plot| (plot.name.clone(), plot.title.clone(), plot.file()))
            .collect())
    }

    /// Whether the precision asked for was reached.
    #[getter]
    fn precise(&self) -> bool {
        self.precise
    }

    /// The observations as a file (spec/observations.md).
    fn csv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut file = Vec::new();
        write_csv(self.table()?, &mut file)?;
        Ok(PyBytes::new(py, &file))
    }

    /// Names of the components, names of the series, unit of the readings, ticks per second where
    /// they are known.
    fn origin(&self) -> PyResult<Origin> {
        let table = self.table()?;
        let origin = &table.origin;
        let unit = if origin.unit == Unit::Ticks { "ticks" } else { "time_ns" };
        Ok((
            table.components().to_vec(),
            table.series_names().to_vec(),
            unit,
            origin.rate.as_ref().map(|rate| rate.hz),
        ))
    }

    /// The columns of the observations.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Columns<'py>> {
        let table = self.table()?;
        let (rows, readings) = (table.rows(), table.readings());
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
        Ok(columns.map(|column| PyBytes::new(py, &column)))
    }
}

fn style(terminal: bool) -> Style {
    if terminal { output::style() } else { Style { color: false, ..output::style() } }
}

/// One JSON document of several.
#[pyfunction]
pub(crate) fn joined(reports: Vec<PyRef<'_, Report>>) -> PyResult<String> {
    let all = document::joined(reports.iter().map(|report| report.document.clone()));
    all.map(|all| print(&all)).ok_or_else(|| PyValueError::new_err("no report to join"))
}

/// The result that a command printed as JSON, with the readings that it saved, if it did, and
/// whether it reached the precision.
#[pyfunction]
pub(crate) fn read_report(json: &str, table: Option<PathBuf>, precise: bool) -> PyResult<Report> {
    let wrong = |reason: String| PyValueError::new_err(format!("the document {reason}"));
    let document = read(json).map_err(wrong)?;
    let table = table.map(|path| {
        read_csv(File::open(&path)?)
            .map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))
    });
    Ok(Report { document, table: table.transpose()?, precise })
}

/// One table of a JSON document.
#[pyfunction]
pub(crate) fn as_table(json: &str, terminal: bool) -> PyResult<String> {
    let result =
        read(json).map_err(|reason| PyValueError::new_err(format!("the document {reason}")))?;
    Ok(text::table(&result, &style(terminal)))
}
