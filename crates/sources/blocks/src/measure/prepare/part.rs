//! Parts of a call: it begins inside of the function, is followed for some branches, and some of
//! its beginnings are rows.

use super::{Prepared, Ready, Row, Session, Traces, contents, repeated, same_path};
use crate::error::{Error, Result};
use crate::trace::{Begin, Call, Partial, Process, Snapshot, Started, Stub, put_back};

/// Branches of a part of a call that are followed: many trips of an interpreter's loop. What
/// differs where parts begin and end is then little beside them.
const MOST_BRANCHES: u64 = 2_000;
/// Maximum number of rows of all parts of all calls, so that a round does not take long, and of one
/// part at the least.
const MOST_ROWS_OF_PARTS: usize = 800;
const LEAST_ROWS_OF_PART: usize = 4;
/// Arrivals at a place from which a part is long.
const MANY_ARRIVALS: u64 = 8;

impl Session<'_> {
    /// Follows the first branches of a call that begins inside of the function, and makes some of
    /// its beginnings repeatable. `None` if none of them tells anything new.
    ///
    /// # Errors
    /// A call that cannot be repeated, or none of whose beginnings can be ended.
    pub fn prepare_part(
        &mut self,
        at: usize,
        started: Started,
        stub: Stub,
        number: usize,
    ) -> Result<Option<Prepared>> {
        let mut ready = Ready { started, stub };
        self.program.deadline(&ready.started.process);
        let followed = self
            .follow(&mut ready, Some(MOST_BRANCHES))
            .map_err(|e| self.program.explain("follow the call", e))?;
        let enough = self.enough_alike;
        let (again, rows) = self
            .part(&mut ready, &followed, number)
            .map_err(|e| self.program.explain("repeat the call", e))?;
        match rows.is_empty() {
            true if self.enough_alike > enough => Ok(None),
            true => {
                Err(Error::system("take a part of the call", "no jump can be put where it ends"))
            }
            false => {
                Ok(Some(self.prepared(at, ready, &followed, again, Some(MOST_BRANCHES), rows)))
            }
        }
    }

    /// Beginnings of a part of a call, after a check that repeats take the same path and leave the
    /// same memory; and the part as it is followed again.
    fn part(
        &mut self,
        ready: &mut Ready,
        traces: &Traces,
        number: usize,
    ) -> Result<(Call, Vec<Row>)> {
        let Traces { followed, undo, snapshot, .. } = traces;
        let (first, later): (Vec<&Partial>, Vec<&Partial>) =
            followed.partials.iter().partition(|partial| partial.passes == 1);
        let chosen = some_of(first, self.most_rows_of_part(), number);
        let nothing =
            || Error::system("take a part of the call", "it ends before it comes to another block");
        let can_count = |partial: &&Partial| {
            ready.stub.clone().count_at(partial.until, &ready.started.target.code).is_ok()
        };
        let later: Vec<&Partial> = self
            .at_one_place(later, ready.started.target.bias)
            .into_iter()
            .filter(can_count)
            .collect();
        // A jump where it ends must not lie over code that the part runs. A loop of one block comes
        // to no other one.
        let can_end = |partial: &&&Partial| self.can_end(&ready.started, partial);
        let longest = *chosen
            .iter()
            .rfind(can_end)
            .or_else(|| later.iter().rfind(can_end))
            .ok_or_else(nothing)?;
        let (begin, target) = (ready.started.begin, ready.started.target.clone());
        let Ready { started: Started { process, .. }, stub } = ready;
        if longest.passes > 1 {
            stub.count_at(longest.until, &target.code)?;
        }
        let call = stub.prepare(process, begin.at, undo)?;
        let mut sources =
            stub.watch(process, &call.up_to(longest.until, longest.passes), begin.at)?;
        let differs = differs_where_it_ends(process, stub, snapshot, begin, longest)?;
        sources.extend(followed.sources.iter().cloned());
        let again = repeated(
            &self.program,
            &mut *process,
            &mut *stub,
            (&target, begin),
            &call,
            Some(MOST_BRANCHES),
            !sources.is_empty(),
        )?;
        same_path(followed.path, again.path)?;
        self.after_repeats(process, stub, undo, snapshot, differs, sources)?;
        let rows = self.rows_of_part(ready, snapshot, &call, chosen.into_iter().chain(later))?;
        Ok((call, rows))
    }

    /// Most rows of one part, with all parts of all calls in mind.
    fn most_rows_of_part(&self) -> usize {
        let request = self.request;
        let parts =
            request.parts.unwrap_or(1) as usize * request.inputs.len() * request.calls as usize;
        (MOST_ROWS_OF_PARTS / parts.max(1)).max(LEAST_ROWS_OF_PART)
    }

    /// Beginnings of a part as rows, and some of them with each arrival counted twice.
    fn rows_of_part<'p>(
        &mut self,
        ready: &mut Ready,
        snapshot: &Snapshot,
        call: &Call,
        beginnings: impl Iterator<Item = &'p Partial>,
    ) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for partial in beginnings {
            self.program.deadline(&ready.started.process);
            rows.extend(self.partial(ready, snapshot, call, partial)?);
        }
        rows.extend(self.counted_twice(&rows));
        Ok(rows)
    }

    /// The later arrivals at the first place that the part comes to often, or at the last place of
    /// all.
    fn at_one_place<'b>(&self, later: Vec<&'b Partial>, bias: u64) -> Vec<&'b Partial> {
        let at = |place: u64| {
            later.iter().copied().filter(move |partial| partial.until.wrapping_sub(bias) == place)
        };
        let is_often = |place: &&u64| at(**place).any(|partial| partial.passes >= MANY_ARRIVALS);
        let place = self.counted_at.iter().find(is_often).or(self.counted_at.last());
        place.map_or_else(Vec::new, |place| at(*place).collect())
    }
}

/// No more than a number of things, evenly over all and the last one in any case; other ones for
/// each `number`.
fn some_of<T>(items: Vec<T>, most_items: usize, number: usize) -> Vec<T> {
    let (step, last) =
        (items.len().div_ceil(most_items.max(1)).max(1), items.len().saturating_sub(1));
    items
        .into_iter()
        .enumerate()
        .filter(|(at, _)| (at + number) % step == 0 || *at == last)
        .map(|(_, one)| one)
        .collect()
}

/// Whether a repeat leaves other memory where it ends early: what is as before where following
/// ended, after whole trips of a loop, may differ there.
fn differs_where_it_ends(
    process: &mut Process,
    stub: &mut Stub,
    snapshot: &Snapshot,
    begin: Begin,
    end: &Partial,
) -> Result<bool> {
    let early = snapshot.undo(process, &stub.areas())?;
    let first = contents(process, &early.memory);
    let shorter = stub.prepare(process, begin.at, &early)?.up_to(end.until, end.passes);
    stub.run(process, &shorter, 1, 1)?;
    let differs = contents(process, &early.memory) != first;
    put_back(process, stub.code(), &early)?;
    Ok(differs)
}

#[cfg(test)]
mod tests {
    use super::some_of;

    #[test]
    fn some_are_taken_evenly_and_the_last_one_always() {
        let numbers: Vec<u32> = (0..10).collect();
        assert_eq!(some_of(numbers.clone(), 20, 3), numbers);
        assert_eq!(some_of(numbers.clone(), 3, 0), [0, 4, 8, 9]);
        // Another part takes other ones.
        assert_eq!(some_of(numbers, 3, 1), [3, 7, 9]);
        assert!(some_of(Vec::<u32>::new(), 3, 1).is_empty());
    }
}
