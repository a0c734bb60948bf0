//! The declarations of a binding: rows, benchmarks of rows, and groups that run in the same rounds.

pub use hairspring_core::design::table::Order;
use hairspring_host::clock::ReadFn;
use hairspring_measure::table::free_name;

/// Name of the second component if it flushes data from the caches before every body, with fences
/// around it.
pub const FLUSH: &str = "flush";

/// Code of a row: reads the given clock, runs its copies, reads the clock again, and returns the
/// ticks in between (a wrapping difference), or `None` if the code failed.
pub type RunRow<'a> = Box<dyn FnMut(ReadFn) -> Option<u64> + 'a>;

/// Takes the data of the placement of this number, for all rows that run from now on.
pub type Place<'a> = Box<dyn FnMut(u32) + 'a>;

/// Code at one number of copies.
pub struct Row<'a> {
    /// Bodies between the two reads.
    pub bodies: u32,
    /// Inits between the two reads.
    pub inits: u32,
    /// How they are ordered.
    pub order: Order,
    /// How often the row runs its copies: the bodies and inits are those of all runs.
    pub runs: u32,
    /// The code.
    pub run: RunRow<'a>,
}

impl<'a> Row<'a> {
    /// A row of straight copies.
    pub fn new(
        bodies: u32,
        inits: u32,
        order: Order,
        run: impl FnMut(ReadFn) -> Option<u64> + 'a,
    ) -> Row<'a> {
        Row { bodies, inits, order, runs: 1, run: Box::new(run) }
    }

    /// The row as one that runs its copies this many times; its bodies and inits are those of all
    /// runs.
    #[must_use]
    pub fn in_runs(self, runs: u32) -> Row<'a> {
        Row { runs, ..self }
    }

    /// Bodies and inits.
    pub(crate) fn copies(&self) -> u32 {
        self.bodies.saturating_add(self.inits)
    }
}

impl std::fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Row({} bodies, {} inits, {:?}, {} runs)",
            self.bodies, self.inits, self.order, self.runs
        )
    }
}

/// A piece of code to be timed.
pub struct Benchmark<'a> {
    /// Its name: any text, by convention `family/argument:value`.
    pub name: String,
    /// The code as the user wrote it, if the binding knows it.
    pub code: Option<String>,
    /// Name of the second component: `init` or [`FLUSH`].
    pub second: &'static str,
    /// Whether the compiler says that it compiled the rows without optimisation.
    pub unoptimised: bool,
    /// Runs once before the first row.
    pub setup: Option<Box<dyn FnMut() + 'a>>,
    /// Runs before each placement but the first, if the binding can move the data of the rows.
    pub place: Option<Place<'a>>,
    /// Its rows, the shortest first.
    pub rows: Vec<Row<'a>>,
}

impl<'a> Benchmark<'a> {
    /// A benchmark of these rows, the shortest first.
    pub fn new(name: impl Into<String>, rows: Vec<Row<'a>>) -> Benchmark<'a> {
        Benchmark {
            name: name.into(),
            code: None,
            second: "init",
            unoptimised: false,
            setup: None,
            place: None,
            rows,
        }
    }
}

impl std::fmt::Debug for Benchmark<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Benchmark({:?}, {:?})", self.name, self.rows)
    }
}

/// Benchmarks that run in the same rounds; the others are compared with the first.
#[derive(Debug, Default)]
pub struct Group<'a> {
    /// At least one.
    pub benchmarks: Vec<Benchmark<'a>>,
}

impl<'a> From<Benchmark<'a>> for Group<'a> {
    fn from(benchmark: Benchmark<'a>) -> Group<'a> {
        Group { benchmarks: vec![benchmark] }
    }
}

impl Group<'_> {
    /// The name that filters match: the first benchmark's.
    pub fn name(&self) -> &str {
        self.benchmarks.first().map_or("", |first| &first.name)
    }

    /// Names for the series. Names that a table cannot hold are changed: blanks at the ends, empty
    /// ones, duplicates.
    pub(crate) fn series_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for benchmark in &self.benchmarks {
            let plain = benchmark.name.trim();
            let plain = if plain.is_empty() { "unnamed" } else { plain };
            names.push(free_name(plain, &names));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_and_duplicate_names_become_series_names() {
        let names = ["a", " a ", "", "\t", "a (2)"];
        let group = Group { benchmarks: names.map(|name| Benchmark::new(name, Vec::new())).into() };
        assert_eq!(group.series_names(), ["a", "a (2)", "unnamed", "unnamed (2)", "a (2) (2)"]);
    }
}
