//! The rows of a group: code of its benchmarks, and chains of known length.

use hairspring_host::chains::RowFn;
use hairspring_host::clock::ReadFn;
use hairspring_measure::rounds::Rig;

/// The code of one row of the table.
pub(crate) enum RowCode<'g> {
    /// A row of the benchmark at this index of the group, and how often it runs before it is
    /// measured.
    Benchmark(&'g mut (dyn FnMut(ReadFn) -> Option<u64> + 'g), usize, u32),
    /// A row of a chain.
    Chain(RowFn),
    /// Another row of the table, right behind one that leaves the state of an init or of a body:
    /// these are their places.
    Behind { row: usize, before: usize },
}

/// The rows. After the first failure no more code is run.
pub(crate) struct Rows<'g> {
    now: ReadFn,
    pub all: Vec<RowCode<'g>>,
    /// What moves the data of the benchmarks that can be moved.
    pub places: Vec<&'g mut (dyn FnMut(u32) + 'g)>,
    failed: Option<usize>,
}

impl<'g> Rows<'g> {
    pub fn new(now: ReadFn) -> Rows<'g> {
        Rows { now, all: Vec::new(), places: Vec::new(), failed: None }
    }

    /// Index of the benchmark that failed.
    pub fn failed(&self) -> Option<usize> {
        self.failed
    }
}

impl Rig for Rows<'_> {
    fn rows(&self) -> usize {
        self.all.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        match &mut self.all[row] {
            &mut RowCode::Behind { row, before } => {
                self.run(before);
                self.run(row)
            }
            RowCode::Benchmark(..) if self.failed.is_some() => 0,
            RowCode::Benchmark(run, at, _) => run(self.now).unwrap_or_else(|| {
                self.failed = Some(*at);
                0
            }),
            RowCode::Chain(run) => run(self.now),
        }
    }

    fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn runs_before(&self, row: usize) -> u32 {
        match &self.all[row] {
            RowCode::Benchmark(_, _, before) => *before,
            RowCode::Chain(_) | RowCode::Behind { .. } => 1,
        }
    }

    fn place(&mut self, placement: u32) {
        self.places.iter_mut().for_each(|place| place(placement));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;

    #[test]
    fn after_a_failure_no_more_code_runs() {
        let (mut first, mut second) = (0, 0);
        let mut good = |_: ReadFn| {
            first += 1;
            Some(7)
        };
        let mut bad = |_: ReadFn| {
            second += 1;
            None
        };
        let mut rows = Rows::new(fake::read);
        rows.all = vec![RowCode::Benchmark(&mut good, 0, 1), RowCode::Benchmark(&mut bad, 1, 1)];
        assert_eq!((rows.run(0), rows.has_failed()), (7, false));
        assert_eq!((rows.run(1), rows.run(0), rows.run(1), rows.failed()), (0, 0, 0, Some(1)));
        assert_eq!((first, second), (1, 1));
    }

    #[test]
    fn a_row_behind_another_one_runs_it_first_and_returns_its_own_reading() {
        let ran = std::cell::RefCell::new(Vec::new());
        let row = |ticks: u64| {
            let ran = &ran;
            move |_: ReadFn| {
                ran.borrow_mut().push(ticks);
                Some(ticks)
            }
        };
        let (mut one, mut two) = (row(5), row(9));
        let mut rows = Rows::new(fake::read);
        rows.all = vec![
            RowCode::Benchmark(&mut one, 0, 1),
            RowCode::Benchmark(&mut two, 0, 1),
            RowCode::Behind { row: 1, before: 0 },
        ];
        assert_eq!((rows.run(2), rows.runs_before(2)), (9, 1));
        assert_eq!(*ran.borrow(), [5, 9]);
    }
}
