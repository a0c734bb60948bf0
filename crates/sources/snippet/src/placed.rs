//! The rows of a session in one placement after the other. Each is a fresh process, whose code,
//! stack and memory have other addresses, because a time can depend on them by more than its rounds
//! show.

use crate::child::{Child, HostProgram, Printed, check_memory};
use crate::error::{Error, Result};
use crate::protocol::{Ended, Load, Ready};
use crate::request::Request;
use hairspring_measure::Table;
use hairspring_measure::batches::Batches;
use hairspring_measure::limits::Batch;
use hairspring_measure::seating::{Seated, Stopped};
use std::time::{Duration, Instant};

/// Largest share of the budget for starting a placement; slow set-up code runs in one placement
/// only.
const MOST_OF_BUDGET_PER_START: u32 = 16;
/// The same until each layout of the code has had two placements, without which their times cannot
/// be told apart.
const MOST_OF_BUDGET_PER_LAYOUT: u32 = 4;

/// The rows in their present placement.
pub struct Placed<'a> {
    host: &'a HostProgram,
    load: Load,
    timeout: Duration,
    budget: Duration,
    /// Shortest time for the rounds of a placement.
    shortest: Duration,
    child: Child,
    /// Time that the present placement took to start.
    starting: Duration,
    ready: Ready,
    /// What ended before.
    before: Option<(Ended, Option<Printed>)>,
}

impl<'a> Placed<'a> {
    /// Starts the first placement. A round of all rows takes about `round`: a reply may be late by
    /// two of them, for the warm-up and the readings, before the code counts as hanging.
    ///
    /// # Errors
    /// As [`Child::start`]; code that turns out to run other threads.
    pub fn start(
        host: &'a HostProgram,
        load: Load,
        request: &Request,
        round: Duration,
    ) -> std::result::Result<Placed<'a>, Stopped<Error>> {
        let (begin, timeout) =
            (Instant::now(), request.timeout.saturating_add(round.saturating_mul(2)));
        let (child, ready) = Child::start(host, load.clone(), timeout).map_err(Stopped::Failed)?;
        unchanged(&child)?;
        let shortest =
            hairspring_measure::limits::placement_of(round, load.runs_before, request.budget);
        Ok(Placed {
            host,
            load,
            timeout,
            budget: request.budget,
            shortest,
            child,
            starting: begin.elapsed(),
            ready,
            before: None,
        })
    }

    /// Circumstances at the start of the first placement.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// The process of the present placement.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Where the timed thread is, and what is known of other threads.
    pub fn seated(&self) -> Seated {
        self.child.seated()
    }

    /// Ends the last placement: circumstances of the whole run, and the output of the code, if any.
    ///
    /// # Errors
    /// As [`Child::end`]; the code used up its memory.
    pub fn end(mut self) -> Result<(Ready, Ended, Option<Printed>)> {
        self.end_child()?;
        let (ended_process, printed) =
            self.before.ok_or_else(|| Error::Child("no placement has ended".into()))?;
        Ok((self.ready, ended_process, printed))
    }

    fn end_child(&mut self) -> Result<()> {
        let ended_process = self.child.end()?;
        check_memory(&ended_process)?;
        let printed = self.child.printed(&ended_process);
        self.before = Some(match self.before.take() {
            Some((before, output)) => (before.joined(ended_process), output.or(printed)),
            None => (ended_process, printed),
        });
        Ok(())
    }
}

/// An error if the code turned out to run other threads.
fn unchanged(child: &Child) -> std::result::Result<(), Stopped<Error>> {
    child.changed().map_or(Ok(()), |threads| Err(Stopped::Changed(threads)))
}

impl Batches for Placed<'_> {
    type Error = Stopped<Error>;

    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> std::result::Result<(), Self::Error> {
        self.child.run(batch, elapsed, table).map_err(Stopped::Failed)?;
        unchanged(&self.child)
    }

    fn can_move(&self) -> bool {
        let (placements, layouts) = (self.load.placement as usize + 1, self.load.libraries.len());
        let lacks_layouts = layouts > 1 && placements < 2 * layouts;
        self.starting
            <= self.budget
                / if lacks_layouts { MOST_OF_BUDGET_PER_LAYOUT } else { MOST_OF_BUDGET_PER_START }
    }

    fn shortest_placement(&self) -> Duration {
        self.shortest
    }

    fn move_rows(&mut self) -> std::result::Result<(), Self::Error> {
        self.end_child().map_err(Stopped::Failed)?;
        let begin = Instant::now();
        self.load.placement += 1;
        (self.child, _) =
            Child::start(self.host, self.load.clone(), self.timeout).map_err(Stopped::Failed)?;
        self.starting = begin.elapsed();
        unchanged(&self.child)
    }
}
