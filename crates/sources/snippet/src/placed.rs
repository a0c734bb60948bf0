//! The rows of a session in one placement after the other. Each is a fresh process, whose code, stack and memory have other
//! addresses, because a time can depend on them by more than its rounds show.

use crate::child::{Child, HostProgram, Printed, check_memory};
use crate::error::{Error, Result};
use crate::protocol::{Ended, Load, Ready};
use crate::request::Request;
use hairspring_measure::Table;
use hairspring_measure::batches::Batches;
use hairspring_measure::limits::Batch;
use std::time::{Duration, Instant};

/// Largest share of the budget for starting a placement; slow set-up code runs in one placement only.
const MOST_OF_BUDGET_PER_START: u32 = 16;

/// The rows in their present placement.
pub struct Placed<'a> {
    host: &'a HostProgram,
    load: Load,
    timeout: Duration,
    most_for_start: Duration,
    child: Child,
    /// Time that the present placement took to start.
    starting: Duration,
    ready: Ready,
    /// What ended before.
    before: Option<(Ended, Option<Printed>)>,
}

impl<'a> Placed<'a> {
    /// Starts the first placement.
    ///
    /// # Errors
    /// As [`Child::start`].
    pub fn start(host: &'a HostProgram, load: Load, request: &Request) -> Result<Placed<'a>> {
        let begin = Instant::now();
        let (child, ready) = Child::start(host, load.clone(), request.timeout)?;
        Ok(Placed {
            host,
            load,
            timeout: request.timeout,
            most_for_start: request.budget / MOST_OF_BUDGET_PER_START,
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

    /// Ends the last placement: circumstances of the whole run, and the output of the code, if any.
    ///
    /// # Errors
    /// As [`Child::end`]; the code used up its memory.
    pub fn end(mut self) -> Result<(Ready, Ended, Option<Printed>)> {
        self.end_child()?;
        let (ended, printed) = self.before.ok_or_else(|| Error::Child("no placement has ended".into()))?;
        Ok((self.ready, ended, printed))
    }

    fn end_child(&mut self) -> Result<()> {
        let ended = self.child.end()?;
        check_memory(&ended)?;
        let printed = self.child.printed(&ended);
        self.before = Some(match self.before.take() {
            Some((before, output)) => (before.joined(ended), output.or(printed)),
            None => (ended, printed),
        });
        Ok(())
    }
}

impl Batches for Placed<'_> {
    type Error = Error;

    fn run(&mut self, batch: Batch, elapsed: &dyn Fn() -> Duration, table: &mut Table) -> Result<()> {
        self.child.run(batch, elapsed, table)
    }

    fn can_move(&self) -> bool {
        self.starting <= self.most_for_start
    }

    fn move_rows(&mut self) -> Result<()> {
        self.end_child()?;
        let begin = Instant::now();
        self.load.placement += 1;
        (self.child, _) = Child::start(self.host, self.load.clone(), self.timeout)?;
        self.starting = begin.elapsed();
        Ok(())
    }
}
