//! The engine in Python: PyO3 glue for the package in `python/`, and nothing else. Rows are Python
//! functions that read the clock through a Python callable; what is said of their readings comes
//! from the crates below, as for every language.

mod code;
mod errors;
mod notebook;
mod remedies;
mod report;
mod table;

use crate::code::{Declared, Failure, group};
use crate::errors::{OptionError, of_core, of_program};
use crate::report::Report;
use hairspring_core::design::table::{Before, Order, shapes};
use hairspring_core::estimate::Options;
use hairspring_core::judge::Question;
use hairspring_core::observations::{Observations, read_csv};
use hairspring_program::{Manner, Seating, Session, Settings, Stop, document, seating, values};
use hairspring_result::{Environment, Measurement, ResultDocument};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// How to measure, as texts that the command line would take too.
#[derive(FromPyObject)]
struct Asked {
    budget: String,
    precision: Option<String>,
    confidence_level: String,
    clock: Option<String>,
    cpu: Option<usize>,
    threads: bool,
    pin: bool,
}

impl Asked {
    fn settings(&self) -> PyResult<Settings> {
        let default = Settings::default();
        let seating = seating(self.threads, !self.pin);
        if self.cpu.is_some() && seating != Seating::Pinned {
            let reason = "cpu with threads=True or pin=False: the thread cannot be bound to a CPU \
                          and not be bound";
            return Err(OptionError::new_err(reason));
        }
        let budget = valid("budget", &self.budget, values::duration)?;
        Ok(Settings {
            clock: self.clock.clone(),
            cpu: self.cpu,
            seating,
            budget,
            is_firm: budget != default.budget,
            precision: self.precision()?.unwrap_or(default.precision),
            level: valid("confidence_level", &self.confidence_level, values::level)?,
            remedies: &remedies::TIME,
            ..default
        })
    }

    fn precision(&self) -> PyResult<Option<f64>> {
        self.precision.as_ref().map(|text| valid("precision", text, values::share)).transpose()
    }
}

/// The value of a text, or an error that names what it was for.
fn valid<T>(option: &str, text: &str, read: impl Fn(&str) -> Result<T, String>) -> PyResult<T> {
    read(text).map_err(|reason| OptionError::new_err(format!("{option} {text}: {reason}")))
}

/// The rows of a statement, with an init or without, as the package declares them: bodies, inits,
/// and whether the inits are spread evenly before the bodies. Python has no fences, so that there
/// are no rows with them; and what a core learns of an interpreter does not depend on how long a
/// row is, so that there are none that run blocks.
#[pyfunction]
fn rows(with_init: bool) -> Vec<(u32, u32, bool)> {
    let all_shapes = shapes(if with_init { Before::Init } else { Before::Nothing }).into_iter();
    let straight = all_shapes
        .filter(|row| row.runs == 1 && matches!(row.order, Order::AtEnd | Order::InPlace));
    straight.map(|row| (row.bodies, row.inits, row.order == Order::InPlace)).collect()
}

/// Measures pieces of code in the same rounds; the others are compared with the first. An exception
/// of the code ends the measurement and is passed on unchanged.
#[pyfunction]
fn measure(py: Python<'_>, declared: Vec<Declared>, asked: Asked) -> PyResult<Report> {
    let (settings, precision) = (asked.settings()?, asked.precision()?);
    let failure = Failure::default();
    let mut group = group(py, declared, &failure);
    let session = Session::new(&settings).map_err(of_program)?;
    let measured = session
        .measure(&mut group)
        .map_err(|error| failure.take().unwrap_or_else(|| of_program(error)))?;
    let document = document(&session, &group, &measured, "time", precision).map_err(of_program)?;
    Ok(Report {
        document: ResultDocument::new(&document),
        precise: measured.run.stop == Stop::Precise,
        table: Some(measured.run.table),
    })
}

/// Runs a program with benchmarks: `arguments` with the program's name first. Returns the exit
/// status. An exception of the code is passed on unchanged.
#[pyfunction]
fn run_program(
    py: Python<'_>,
    arguments: Vec<OsString>,
    groups: Vec<Vec<Declared>>,
) -> PyResult<u8> {
    let failure = Failure::default();
    let groups = groups.into_iter().map(|declared| group(py, declared, &failure)).collect();
    let status = hairspring_program::main(arguments, Manner::Plain, groups);
    failure.take().map_or(Ok(status), Err)
}

/// Solves and checks observations that are given as columns.
#[pyfunction]
fn fit_columns(
    columns: table::Columns,
    confidence_level: &str,
    keep_all: bool,
) -> PyResult<Report> {
    fit(columns.table()?, confidence_level, keep_all)
}

/// Solves and checks the observations of a file (spec/observations.md).
#[pyfunction]
fn fit_file(path: PathBuf, confidence_level: &str, keep_all: bool) -> PyResult<Report> {
    let file = std::fs::File::open(&path)?;
    let table = read_csv(file)
        .map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))?;
    fit(table, confidence_level, keep_all)
}

fn fit(table: Observations, confidence_level: &str, keep_all: bool) -> PyResult<Report> {
    let level = valid("confidence_level", confidence_level, values::level)?;
    let options = Options { level, leave_rows_out: !keep_all, ..Options::default() };
    let question = Question { options, ..Question::default() };
    let document = Measurement {
        command: "fit".into(),
        environment: Environment::unknown("the observations have no reference chain")
            .with_origin(&table.origin),
        ns_per_unit: table.origin.ns_per_unit(),
        assessment: remedies::FIT.assess(&table, &question).map_err(of_core)?,
        subjects: Vec::new(),
        methods: Vec::new(),
        run: None,
    };
    Ok(Report { document: ResultDocument::new(&document), precise: true, table: Some(table) })
}

/// The words of all remedies by the function that they are for: tests look for the arguments that
/// they name.
#[pyfunction]
fn remedy_words() -> Vec<(&'static str, Vec<&'static str>)> {
    [("time", &remedies::TIME), ("fit", &remedies::FIT)]
        .map(|(of, all)| (of, all.words().collect()))
        .into()
}

/// The native half of the package `hairspring`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("OptionError", module.py().get_type::<OptionError>())?;
    module.add_class::<Report>()?;
    module.add_function(wrap_pyfunction!(rows, module)?)?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(run_program, module)?)?;
    module.add_function(wrap_pyfunction!(fit_columns, module)?)?;
    module.add_function(wrap_pyfunction!(fit_file, module)?)?;
    module.add_function(wrap_pyfunction!(remedy_words, module)?)?;
    module.add_function(wrap_pyfunction!(report::joined, module)?)?;
    module.add_function(wrap_pyfunction!(report::read_report, module)?)?;
    module.add_function(wrap_pyfunction!(report::as_table, module)?)
}
