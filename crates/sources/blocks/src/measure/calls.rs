//! Which calls of a run are taken, and where in them the rows begin.

use super::is_general;
use super::parts::{Window, plan};
use super::prepare::{Prepared, Session};
use crate::error::{Error, Result};
use crate::inputs::Input;
use crate::result::{Request, Skipped};
use crate::trace::{Journey, Started, Stub};
use std::collections::BTreeSet;
use std::time::Instant;

impl Session<'_> {
    /// Runs the program with an input once, and prepares its calls: each in a copy of the process, the last one in the process itself.
    ///
    /// # Errors
    /// A program that does not get to the first call, or an error that concerns all inputs.
    pub fn prepare_calls(&mut self, at: usize, input: &Input, all: &mut Vec<Prepared>) -> Result<()> {
        let journey = Journey::begin(&mut self.program, input);
        let mut journey = journey.map_err(|e| self.program.explain("start the program", e))?;
        let (from, near) = (journey.from, (journey.target.entry(), journey.target.code.size()));
        let mappings = std::mem::take(&mut journey.mappings);
        let stub = Stub::install(journey.process(), &mappings, from, near, self.spread)?;
        self.learn(&journey)?;
        let wanted = self.wanted_calls(at, input)?;
        let (first, last) = (wanted[0], wanted[wanted.len() - 1]);
        for call in 1..=last {
            match journey.next_call(&self.program).map_err(|e| self.program.explain("reach the call", e)) {
                // An input may make fewer calls than requested.
                Err(Error::Ended { .. }) if call > first => {
                    self.remarks.fewer.push(format!("input {} ({}): {} of {}", at + 1, input.text, call - first, wanted.len()));
                    return Ok(());
                }
                Err(error) if call > first => {
                    self.skip(at, Some(call), &error);
                    return Ok(());
                }
                reached => reached?,
            }
            if wanted.binary_search(&call).is_err() {
                continue;
            }
            match self.from.clone() {
                from if self.request.parts.is_some() => {
                    let from = from.map(|(place, _)| place);
                    self.add_sampled((at, call), &mut journey, (from, wanted.len() as u64), &stub, all)?;
                }
                Some((place, arrivals)) => self.add_parts((at, call), &mut journey, (place, &arrivals), &stub, all)?,
                None if call == last => return self.add(at, call, journey.end()?, stub, all),
                None => self.add(at, call, journey.copy()?, stub.clone(), all)?,
            }
            if journey.failed {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Prepares the parts of a call that begin at a place inside of it, each in a copy of the process.
    fn add_parts(
        &mut self,
        (at, call): (usize, u64),
        journey: &mut Journey,
        (place, wanted): (u64, &BTreeSet<u64>),
        stub: &Stub,
        all: &mut Vec<Prepared>,
    ) -> Result<()> {
        let place = place.wrapping_add(journey.target.bias);
        for arrival in 1..=wanted.last().copied().unwrap_or(0) {
            match journey.next_arrival(&self.program, place).map_err(|e| self.program.explain("reach the place", e)) {
                Ok(()) if wanted.contains(&arrival) => self.add(at, call, journey.copy()?, stub.clone(), all)?,
                Ok(()) => {}
                // A call may get there less often than requested.
                Err(Error::Ended { .. }) if wanted.first().is_some_and(|first| *first < arrival) => break,
                Err(error) => {
                    self.skip(at, (self.request.calls > 1).then_some(call), &error);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Prepares a call as a whole, and then parts of it that begin evenly over it, each in a copy of the process.
    fn add_sampled(
        &mut self,
        (at, call): (usize, u64),
        journey: &mut Journey,
        (from, calls): (Option<u64>, u64),
        stub: &Stub,
        all: &mut Vec<Prepared>,
    ) -> Result<()> {
        let whole = match self.prepare(at, journey.copy()?, stub.clone()) {
            Err(error) if is_general(&error) => return Err(error),
            Err(error) => {
                self.skip(at, (calls > 1).then_some(call), &error);
                return Ok(());
            }
            Ok(whole) => whole,
        };
        let ran = self.count_of(&whole).ok_or_else(|| Error::system("count the blocks", "a branch led out of the graph"))?;
        self.whole_calls.push(whole);
        let block = from.and_then(|place| self.graph.block_at(place));
        let plan = match plan(&self.graph, &ran.blocks, block, self.request.parts.unwrap_or(1).div_ceil(calls)) {
            Ok(plan) => plan,
            Err(error) => {
                self.skip(at, (calls > 1).then_some(call), &error);
                return Ok(());
            }
        };
        let address = |block: usize| self.graph.blocks[block].start.wrapping_add(journey.target.bias);
        let (place, rarer) = (address(plan.block), address(plan.rarer));
        self.counted_at = plan.counted.map(|block| self.graph.blocks[block].start);
        self.begun_at.insert(self.graph.blocks[plan.block].start);
        let mut arrivals = 0;
        for window in plan.windows {
            match self.add_window((at, &mut arrivals), journey, (place, rarer), window, (stub, all)) {
                Err(error) if is_general(&error) => return Err(error),
                // The call ends or calls itself before: what was taken is enough, or nothing was.
                Err(error) if all.is_empty() => {
                    self.skip(at, (calls > 1).then_some(call), &error);
                    return Ok(());
                }
                Err(_) => break,
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Prepares parts that begin one after the other.
    fn add_window(
        &mut self,
        (at, arrivals): (usize, &mut u64),
        journey: &mut Journey,
        (place, rarer): (u64, u64),
        window: Window,
        (stub, all): (&Stub, &mut Vec<Prepared>),
    ) -> Result<()> {
        while *arrivals < window.after {
            journey.next_arrival(&self.program, rarer)?;
            *arrivals += 1;
        }
        for number in 0..window.skip + window.parts {
            journey.next_arrival(&self.program, place)?;
            *arrivals += u64::from(place == rarer);
            if number >= window.skip {
                let part = self.prepare_part(at, journey.copy()?, stub.clone(), all.len());
                // A part that is as others, or cannot be repeated, is one less.
                match part {
                    Ok(part) => match self.room_for(&part, all) {
                        Ok(()) => all.push(part),
                        Err(error) => self.remarks.parts.push(error.to_string()),
                    },
                    Err(error) if is_general(&error) => return Err(error),
                    Err(error) => self.remarks.parts.push(error.to_string()),
                }
            }
        }
        Ok(())
    }

    /// The numbers of the calls to take: the first ones after those that are skipped, or a sample over the whole run, which is then made once
    /// more to count them.
    fn wanted_calls(&mut self, at: usize, input: &Input) -> Result<Vec<u64>> {
        let Request { calls, skip, timeout, .. } = *self.request;
        if !self.request.sample {
            return Ok((skip + 1..=skip + calls).collect());
        }
        let mut journey = Journey::begin(&mut self.program, input).map_err(|e| self.program.explain("start the program", e))?;
        let (mut seen, begin) = (0, Instant::now());
        let stopped = loop {
            if begin.elapsed() > timeout {
                break Some(format!("not finished after {} s (--timeout)", timeout.as_secs_f64()));
            }
            match journey.next_call(&self.program).map_err(|e| self.program.explain("reach the call", e)) {
                Ok(()) => seen += 1,
                Err(error) if seen == 0 => return Err(error),
                Err(Error::Ended { .. }) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let remark = |reason| format!("input {} ({}): {seen} calls, then {reason}", at + 1, input.text);
        self.remarks.counting.extend(stopped.map(remark));
        Ok(evenly(calls, skip, seen.max(skip + 1)))
    }

    /// Prepares a call. One that cannot be repeated is left out.
    fn add(&mut self, at: usize, call: u64, started: Started, stub: Stub, all: &mut Vec<Prepared>) -> Result<()> {
        match self.prepare(at, started, stub) {
            Ok(prepared) => match self.room_for(&prepared, all) {
                Ok(()) => all.push(prepared),
                Err(error) => self.skip(at, (self.request.calls > 1).then_some(call), &error),
            },
            Err(error) if is_general(&error) => return Err(error),
            Err(error) => self.skip(at, (self.request.calls > 1).then_some(call), &error),
        }
        Ok(())
    }

    /// Checks that the memory of all calls that wait to be timed is within the limit.
    fn room_for(&mut self, prepared: &Prepared, all: &[Prepared]) -> Result<()> {
        let own = prepared.process.holds();
        if self.held + own > self.request.memory {
            // Copies share what they do not write, and hold less when one of them is gone.
            self.held = all.iter().map(|one| one.process.holds()).sum();
        }
        if self.held + own > self.request.memory {
            let mib = |bytes: u64| bytes.div_ceil(1 << 20);
            let reason = format!(
                "it holds {} MiB beside the {} MiB of the {} calls before it, and {} MiB is the limit: raise it (--memory), or take several calls of one run (--calls), which share memory",
                mib(own),
                mib(self.held),
                all.len(),
                mib(self.request.memory)
            );
            return Err(Error::system("keep the call for the rounds", reason));
        }
        self.held += own;
        Ok(())
    }

    /// Records an input, or a call of it, that is left out.
    pub fn skip(&mut self, at: usize, call: Option<u64>, error: &Error) {
        self.differ.extend(matches!(error, Error::PathDiffers(_)).then_some(at));
        let reason = call.map_or_else(|| error.to_string(), |call| format!("call {call}: {error}"));
        self.skipped.push(Skipped { input: at + 1, text: self.request.inputs[at].text.clone(), reason });
    }
}

/// What is worth a message about runs that were not as requested.
#[derive(Debug, Default)]
pub struct Remarks {
    /// Inputs that made fewer calls than requested.
    fewer: Vec<String>,
    /// Inputs whose calls were not counted to the end.
    counting: Vec<String>,
    /// Why parts of calls were not taken.
    parts: Vec<String>,
}

impl Remarks {
    /// The messages: the first input of each kind, and how many others there are.
    pub fn notes(&self) -> Vec<String> {
        let note = |what: &str, all: &[String]| {
            let (first, others) = all.split_first()?;
            let others = if others.is_empty() { String::new() } else { format!("; likewise {} more", others.len()) };
            Some(format!("{what}: {first}{others}"))
        };
        let fewer = note("a run ended after fewer calls than requested (--calls), and all that it made were taken", &self.fewer);
        let counting = note("the sample is over a part of the run, because counting its calls stopped (raise --timeout)", &self.counting);
        let parts = note("a part of a call was left out", &self.parts);
        fewer.into_iter().chain(counting).chain(parts).collect()
    }
}

/// Numbers of calls, evenly over those from `skip` to `seen`: the middle of each part.
fn evenly(calls: u64, skip: u64, seen: u64) -> Vec<u64> {
    let all = seen - skip;
    let parts = calls.min(all);
    (0..parts).map(|part| skip + 1 + (2 * part + 1) * all / (2 * parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_name_the_first_input_and_count_the_others() {
        assert!(Remarks::default().notes().is_empty());
        let fewer = vec!["input 1 (a): 2 of 5".to_owned(), "input 2 (b): 1 of 5".to_owned()];
        let notes = Remarks { fewer, ..Remarks::default() }.notes();
        assert!(notes.len() == 1 && notes[0].ends_with("input 1 (a): 2 of 5; likewise 1 more"), "{notes:?}");
    }

    #[test]
    fn a_sample_is_even_and_has_no_more_calls_than_there_are() {
        assert_eq!(evenly(4, 0, 20), [3, 8, 13, 18]);
        assert_eq!(evenly(4, 10, 20), [12, 14, 17, 19]);
        assert_eq!(evenly(9, 0, 3), [1, 2, 3]);
        assert_eq!(evenly(1, 5, 6), [6]);
        assert!((1..50).all(|seen| evenly(7, 0, seen).windows(2).all(|pair| pair[0] < pair[1])
            && evenly(7, 0, seen).iter().all(|at| (1..=seen).contains(at))));
    }
}
