//! Code in Python as rows of a benchmark.

use hairspring_host::clock::ReadFn;
use hairspring_program::{Benchmark, Group, Order, Row};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// A piece of code as the package declares it.
#[derive(FromPyObject)]
pub(crate) struct Declared {
    name: String,
    code: Option<String>,
    /// Bodies, inits, and whether the inits are spread evenly before the bodies (a check) rather
    /// than left for the end.
    rows: Vec<(u32, u32, bool)>,
    /// Runs the setup.
    prepare: Py<PyAny>,
    /// Takes the data that the setup made for the placement of a number.
    place: Py<PyAny>,
    /// Makes the function of a row: it takes a callable that reads the clock, and returns the ticks
    /// in between.
    function: Py<PyAny>,
}

/// The first exception that the code raised.
#[derive(Clone, Default)]
pub(crate) struct Failure(Rc<RefCell<Option<PyErr>>>);

impl Failure {
    /// The exception, which is then nobody else's.
    pub fn take(&self) -> Option<PyErr> {
        self.0.borrow_mut().take()
    }

    /// Runs code unless some has failed; keeps the exception that it raises.
    fn unless<T>(&self, run: impl FnOnce() -> PyResult<T>) -> Option<T> {
        if self.0.borrow().is_some() {
            return None;
        }
        run().map_err(|error| *self.0.borrow_mut() = Some(error)).ok()
    }
}

/// The clock of a measurement, to be called from Python.
#[pyclass(frozen, name = "Clock", module = "hairspring._native")]
struct Now(ReadFn);

#[pymethods]
impl Now {
    /// Ticks since some fixed moment.
    fn __call__(&self) -> u64 {
        (self.0)()
    }
}

/// The pieces of code as a group.
pub(crate) fn group<'py>(
    py: Python<'py>,
    declarations: Vec<Declared>,
    failure: &Failure,
) -> Group<'py> {
    Group { benchmarks: declarations.into_iter().map(|one| benchmark(py, one, failure)).collect() }
}

fn benchmark<'py>(py: Python<'py>, declaration: Declared, failure: &Failure) -> Benchmark<'py> {
    let (prepare, failed) = (declaration.prepare.into_bound(py), failure.clone());
    let (place, misplaced) = (declaration.place.into_bound(py), failure.clone());
    let function = declaration.function.into_bound(py);
    let rows = declaration.rows.into_iter().map(|(bodies, inits, in_place)| {
        let order = if in_place { Order::InPlace } else { Order::AtEnd };
        Row::new(
            bodies,
            inits,
            order,
            run(function.clone(), (bodies, inits, in_place), failure.clone()),
        )
    });
    Benchmark {
        code: declaration.code,
        setup: Some(Box::new(move || {
            failed.unless(|| prepare.call0());
        })),
        place: Some(Box::new(move |placement| {
            misplaced.unless(|| place.call1((placement,)));
        })),
        ..Benchmark::new(declaration.name, rows.collect())
    }
}

/// The code of a row. Its function is made when it is first run: rows that the pilot does not get
/// to are never compiled.
fn run<'py>(
    make: Bound<'py, PyAny>,
    counts: (u32, u32, bool),
    failure: Failure,
) -> impl FnMut(ReadFn) -> Option<u64> + 'py {
    let mut made_function: Option<Bound<'py, PyAny>> = None;
    move |read| {
        failure.unless(|| {
            let now = Bound::new(make.py(), Now(read))?;
            if made_function.is_none() {
                made_function = Some(make.call1(counts)?);
            }
            let ticks: i64 = made_function.as_ref().unwrap_or(&make).call1((now,))?.extract()?;
            // A counter that went backwards or wrapped: the engine knows its width.
            Ok(ticks as u64)
        })
    }
}
