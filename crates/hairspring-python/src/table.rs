//! Columns of Python's arrays as observations.

use hairspring_core::observations::{
    Flags, Observations, Origin, Rate, USABLE_NUMBERS, Unit, is_usable,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// Observations as columns; arrays as their bytes, in the types of `Report::columns`.
#[derive(FromPyObject)]
pub(crate) struct Columns {
    components: Vec<String>,
    counts: PyBackedBytes,
    ticks: PyBackedBytes,
    /// `None`: the n-th reading of a row belongs to round n-1.
    rounds: Option<PyBackedBytes>,
    flags: Option<PyBackedBytes>,
    series_names: Vec<String>,
    series: PyBackedBytes,
    /// Whether the readings are nanoseconds.
    time_ns: bool,
    rate_hz: Option<f64>,
}

impl Columns {
    /// The table.
    ///
    /// # Errors
    /// A reading or a count that is not finite, a count that is negative, columns of different
    /// lengths.
    pub fn table(&self) -> PyResult<Observations> {
        let (counts, ticks) =
            (numbers(&self.counts, f64::from_ne_bytes), numbers(&self.ticks, f64::from_ne_bytes));
        let series = numbers(&self.series, u16::from_ne_bytes);
        let rounds = self.rounds.as_ref().map(|bytes| numbers(bytes, u32::from_ne_bytes));
        let (width, length) = (self.components.len(), ticks.len());
        let flags = self.flags.as_ref();
        let lengths = [
            Some(counts.len() / width.max(1)),
            Some(series.len()),
            rounds.as_ref().map(Vec::len),
            flags.map(|flags| flags.len()),
        ];
        if width == 0 || lengths.into_iter().flatten().any(|found| found != length) {
            return Err(PyValueError::new_err(format!(
                "{length} readings do not fit their counts, series, rounds or flags"
            )));
        }
        let mut table = Observations::new(self.components.clone());
        table.origin = self.origin()?;
        self.series_names.iter().for_each(|name| {
            table.series(name);
        });
        let mut repeats: Vec<u32> = Vec::new();
        for (at, (counts, ticks)) in counts.chunks_exact(width).zip(&ticks).enumerate() {
            self.check(at, counts, *ticks, series[at])?;
            let row = table.row(series[at], counts);
            repeats.resize(table.rows().len(), 0);
            let round = rounds.as_ref().map_or(repeats[row as usize], |rounds| rounds[at]);
            repeats[row as usize] += 1;
            table.push_flagged(row, round, *ticks, Flags(flags.map_or(0, |flags| flags[at])));
        }
        Ok(table)
    }

    fn origin(&self) -> PyResult<Origin> {
        let rate =
            |hz: f64| Rate { hz, uncertainty_ppm: 0.0, provenance: "stated by the caller".into() };
        if let Some(hz) = self.rate_hz.filter(|hz| !(is_usable(*hz) && *hz > 0.0)) {
            return Err(PyValueError::new_err(format!(
                "rate_hz {hz}: must be a finite number above 0; {USABLE_NUMBERS}"
            )));
        }
        let unit = if self.time_ns { Unit::TimeNs } else { Unit::Ticks };
        Ok(Origin { unit, rate: self.rate_hz.map(rate), ..Origin::default() })
    }

    fn check(&self, at: usize, counts: &[f64], ticks: f64, series: u16) -> PyResult<()> {
        let reading = format!("reading {at}");
        if !ticks.is_finite() {
            return Err(PyValueError::new_err(format!(
                "{reading}: {ticks} ticks is not a finite number"
            )));
        }
        if let Some(number) =
            counts.iter().chain([&ticks]).find(|number| number.is_finite() && !is_usable(**number))
        {
            return Err(PyValueError::new_err(format!("{reading}: {number:e}: {USABLE_NUMBERS}")));
        }
        if let Some((count, name)) = counts
            .iter()
            .zip(&self.components)
            .find(|(count, _)| !(count.is_finite() && **count >= 0.0))
        {
            return Err(PyValueError::new_err(format!(
                "{reading}: `{name}` ran {count} times: a count is finite and not negative"
            )));
        }
        if usize::from(series) >= self.series_names.len() {
            return Err(PyValueError::new_err(format!("{reading}: there is no series {series}")));
        }
        Ok(())
    }
}

fn numbers<T, const SIZE: usize>(bytes: &[u8], read: impl Fn([u8; SIZE]) -> T) -> Vec<T> {
    bytes.chunks_exact(SIZE).map(|chunk| read(std::array::from_fn(|at| chunk[at]))).collect()
}
