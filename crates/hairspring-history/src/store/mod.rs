//! Where runs are kept. [`Sqlite`] is one file.

mod error;
mod pack;
mod schema;
mod sqlite;
#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use sqlite::Sqlite;

/// A machine, as far as it stays the same over a reboot and is the same for all machines of its
/// kind: hosted runners are another one each time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Machine {
    /// Family and model of the cores by their numbers, if they are known.
    pub family: String,
    /// Name of the model, or what another tool says of the machine.
    pub model: String,
    /// Architecture.
    pub architecture: String,
    /// Whether it is a virtual machine, where that is known.
    pub guest: Option<bool>,
}

/// A figure that a run measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The series that it belongs to.
    pub series: SeriesKey,
    /// The value.
    pub value: f64,
    /// Lower end of its interval; NaN if it has none.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
    /// Whether it is to be trusted.
    pub trusted: bool,
    /// Codes of the findings, parted by blanks.
    pub findings: String,
}

/// What makes a series the same one in the next run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SeriesKey {
    /// Name.
    pub name: String,
    /// Component.
    pub component: String,
    /// Unit.
    pub unit: String,
    /// Hash of the code, or empty.
    pub code: String,
}

/// A run without its document and figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// Number in this database; 0 before it is added.
    pub id: i64,
    /// Hash of the document.
    pub hash: String,
    /// The machine.
    pub machine: Machine,
    /// Commit that was measured.
    pub commit: Option<String>,
    /// Its first parent.
    pub parent: Option<String>,
    /// Whether files differed from the commit; `None` where that is not known.
    pub dirty: Option<bool>,
    /// Seconds since 1970 at which it was made.
    pub made: i64,
    /// The verb, or the tool.
    pub command: String,
    /// Version of it.
    pub version: String,
    /// Fingerprint of the installation.
    pub host: String,
}

/// A run that is added.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewRun {
    /// The run.
    pub run: Run,
    /// Its document.
    pub document: String,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// A figure in the database: the numbers of its run and its series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The run.
    pub run: i64,
    /// The series.
    pub series: i64,
    /// The value.
    pub value: f64,
    /// Lower end of its interval; NaN if it has none.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
    /// Whether it is to be trusted.
    pub trusted: bool,
}

/// A place where runs are kept.
pub trait Store {
    /// Adds a run, whole or not at all. Gives whether it is new.
    ///
    /// # Errors
    /// It could not be written.
    fn add(&mut self, run: &NewRun) -> Result<bool, StoreError>;

    /// All runs in the order in which they were made.
    ///
    /// # Errors
    /// They cannot be read.
    fn runs(&self) -> Result<Vec<Run>, StoreError>;

    /// All series with their numbers.
    ///
    /// # Errors
    /// They cannot be read.
    fn series(&self) -> Result<Vec<(i64, SeriesKey)>, StoreError>;

    /// All points by series.
    ///
    /// # Errors
    /// They cannot be read.
    fn points(&self) -> Result<Vec<Point>, StoreError>;

    /// A run with its document and figures.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    fn whole(&self, run: i64) -> Result<NewRun, StoreError>;

    /// Removes runs, and series that have no point any more. Gives how many runs were there.
    ///
    /// # Errors
    /// They cannot be removed.
    fn remove(&mut self, runs: &[i64]) -> Result<usize, StoreError>;

    /// Adds all runs of another place. Gives how many were new.
    ///
    /// # Errors
    /// One of the two cannot be read or written.
    fn import(&mut self, other: &dyn Store) -> Result<usize, StoreError> {
        let mut new = 0;
        for run in other.runs()? {
            new += usize::from(self.add(&other.whole(run.id)?)?);
        }
        Ok(new)
    }
}
