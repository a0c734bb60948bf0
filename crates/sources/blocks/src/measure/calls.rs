//! Which calls of a run are taken, and where in them the rows begin.

use super::is_general;
use super::parts::{Window, plan};
use super::prepare::{Prepared, Session};
use crate::error::{Error, Result};
use crate::graph::{Graph, block_name};
use crate::inputs::Input;
use crate::result::{Choice, Request, Skipped};
use crate::trace::{Journey, Started, Stub};
use hairspring_core::judge::words::shortened;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A call of a run that is taken.
#[derive(Clone, Copy)]
struct WantedCall {
    /// The input, by its index.
    at: usize,
    /// The number of the call.
    call: u64,
}

/// Where the parts of a call begin, in a process.
struct PartBegins {
    /// The address at which they begin.
    place: u64,
    /// That of the rarer block which tells when to look for them.
    rarer: u64,
    /// Arrivals at the rarer block so far.
    arrivals: u64,
}

impl Session<'_> {
    /// Runs the program with an input once, and prepares its calls: each in a copy of the process,
    /// the last one in the process itself.
    ///
    /// # Errors
    /// A program that does not get to the first call, or an error that concerns all inputs.
    pub fn prepare_calls(
        &mut self,
        at: usize,
        input: &Input,
        all_prepared: &mut Vec<Prepared>,
    ) -> Result<()> {
        let journey = Journey::begin(&mut self.program, input);
        let mut journey = journey.map_err(|e| self.program.explain("start the program", e))?;
        let (from, entry, size) =
            (journey.from, journey.target.entry(), journey.target.code.size());
        let mappings = std::mem::take(&mut journey.mappings);
        let stub = Stub::install(journey.process(), &mappings, from, entry, size, self.spread)?;
        self.learn(&journey)?;
        let wanted_numbers = self.wanted_calls(at, input)?;
        let (first, last) = (wanted_numbers[0], wanted_numbers[wanted_numbers.len() - 1]);
        for call in 1..=last {
            match journey
                .next_call(&self.program)
                .map_err(|e| self.program.explain("reach the call", e))
            {
                Err(error) if call > first => {
                    self.stop_before(WantedCall { at, call }, input, &wanted_numbers, &error);
                    return Ok(());
                }
                reached => reached?,
            }
            if wanted_numbers.binary_search(&call).is_err() {
                continue;
            }
            match self.from.clone() {
                from if self.request.parts.is_some() => {
                    let from = from.map(|(place, _)| place);
                    self.add_sampled(
                        WantedCall { at, call },
                        &mut journey,
                        from,
                        wanted_numbers.len() as u64,
                        &stub,
                        all_prepared,
                    )?;
                }
                Some((place, arrivals)) => self.add_parts(
                    WantedCall { at, call },
                    &mut journey,
                    place,
                    &arrivals,
                    &stub,
                    all_prepared,
                )?,
                None if call == last => {
                    return self.add(at, call, journey.end()?, stub, all_prepared);
                }
                None => self.add(at, call, journey.copy()?, stub.clone(), all_prepared)?,
            }
            if journey.failed {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Notes why no further call of an input is taken: it may make fewer than requested.
    fn stop_before(
        &mut self,
        WantedCall { at, call }: WantedCall,
        input: &Input,
        wanted_numbers: &[u64],
        error: &Error,
    ) {
        if !matches!(error, Error::Ended { .. }) {
            return self.skip(at, Some(call), error);
        }
        let taken_calls = wanted_numbers.partition_point(|one| *one < call);
        self.remarks.fewer.push(format!(
            "input {} ({}): {taken_calls} of {}",
            at + 1,
            input.text,
            wanted_numbers.len()
        ));
    }

    /// Prepares the parts of a call that begin at a place inside of it, each in a copy of the
    /// process.
    fn add_parts(
        &mut self,
        WantedCall { at, call }: WantedCall,
        journey: &mut Journey,
        place: u64,
        wanted_arrivals: &BTreeSet<u64>,
        stub: &Stub,
        all_prepared: &mut Vec<Prepared>,
    ) -> Result<()> {
        let name = asked_for(&self.graph, place, self.request.from.as_deref());
        let place = place.wrapping_add(journey.target.bias);
        for arrival in 1..=wanted_arrivals.last().copied().unwrap_or(0) {
            match journey
                .next_arrival(&self.program, place, &name)
                .map_err(|e| self.program.explain("reach the place", e))
            {
                Ok(()) if wanted_arrivals.contains(&arrival) => {
                    self.add(at, call, journey.copy()?, stub.clone(), all_prepared)?
                }
                Ok(()) => {}
                // A call may get there less often than requested.
                Err(Error::Ended { .. })
                    if wanted_arrivals.first().is_some_and(|first| *first < arrival) =>
                {
                    break;
                }
                Err(error) => {
                    self.skip(at, (self.request.calls > 1).then_some(call), &error);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Prepares a call as a whole, and then parts of it that begin evenly over it, each in a copy
    /// of the process.
    fn add_sampled(
        &mut self,
        WantedCall { at, call }: WantedCall,
        journey: &mut Journey,
        from: Option<u64>,
        calls: u64,
        stub: &Stub,
        all_prepared: &mut Vec<Prepared>,
    ) -> Result<()> {
        let whole = match self.prepare(at, journey.copy()?, stub.clone()) {
            Err(error) if is_general(&error) => return Err(error),
            Err(error) => {
                self.skip(at, (calls > 1).then_some(call), &error);
                return Ok(());
            }
            Ok(whole) => whole,
        };
        let ran = self
            .count_of(&whole)
            .ok_or_else(|| Error::system("count the blocks", "a branch led out of the graph"))?;
        let block = from.and_then(|place| self.graph.block_at(place));
        let plan = match plan(
            &self.graph,
            &ran.blocks,
            block,
            self.request.parts.unwrap_or(1).div_ceil(calls),
        ) {
            Ok(plan) => plan,
            Err(error) => {
                self.skip(at, (calls > 1).then_some(call), &error);
                return Ok(());
            }
        };
        let address =
            |block: usize| self.graph.blocks[block].start.wrapping_add(journey.target.bias);
        let (place, rarer) = (address(plan.block), address(plan.rarer));
        // A part that does not come to the first one often is ended where it begins.
        self.counted_at =
            [plan.counted, plan.block].map(|block| self.graph.blocks[block].start).to_vec();
        self.begun_at.insert(self.graph.blocks[plan.block].start);
        let begins = PartBegins { place, rarer, arrivals: 0 };
        let before = all_prepared.len();
        let why = self.add_windows(at, journey, begins, plan.windows, stub, all_prepared)?;
        // Without parts, the whole call says nothing of what the parts take.
        match all_prepared.len() > before {
            true => self.whole_calls.push(whole),
            false => self.skip(
                at,
                (calls > 1).then_some(call),
                &why.unwrap_or_else(|| self.remarks.no_part()),
            ),
        }
        Ok(())
    }

    /// Prepares the parts of a call, up to the first that cannot be; returns why that one cannot.
    fn add_windows(
        &mut self,
        at: usize,
        journey: &mut Journey,
        mut begins: PartBegins,
        windows: Vec<Window>,
        stub: &Stub,
        all_prepared: &mut Vec<Prepared>,
    ) -> Result<Option<Error>> {
        self.window.1 = windows.len();
        for window in windows {
            self.window.0 += 1;
            match self.add_window(at, journey, &mut begins, window, stub, all_prepared) {
                Err(error) if is_general(&error) => return Err(error),
                // The call ends or calls itself before: what was taken is enough, or nothing was.
                Err(error) => return Ok(Some(error)),
                Ok(()) => {}
            }
        }
        Ok(None)
    }

    /// Prepares parts that begin one after the other.
    fn add_window(
        &mut self,
        at: usize,
        journey: &mut Journey,
        begins: &mut PartBegins,
        window: Window,
        stub: &Stub,
        all_prepared: &mut Vec<Prepared>,
    ) -> Result<()> {
        let name =
            |address: u64| asked_for(&self.graph, address.wrapping_sub(journey.target.bias), None);
        let (name_of_place, name_of_rarer) = (name(begins.place), name(begins.rarer));
        while begins.arrivals < window.after {
            journey.next_arrival(&self.program, begins.rarer, &name_of_rarer)?;
            begins.arrivals += 1;
        }
        for number in 0..window.skip + window.parts {
            journey.next_arrival(&self.program, begins.place, &name_of_place)?;
            begins.arrivals += u64::from(begins.place == begins.rarer);
            if number >= window.skip {
                let part = self.prepare_part(at, journey.copy()?, stub.clone(), all_prepared.len());
                // A part that is as others, or cannot be repeated, is one less.
                match part {
                    Ok(None) => {}
                    Ok(Some(part)) => match self.room_for(&part, all_prepared) {
                        Ok(()) => all_prepared.push(part),
                        Err(error) => self.remarks.parts.push(error.to_string()),
                    },
                    Err(error) if is_general(&error) => return Err(error),
                    Err(error) => self.remarks.parts.push(error.to_string()),
                }
            }
        }
        Ok(())
    }

    /// The numbers of the calls to take: the first ones after those that are skipped, or some of
    /// the whole run, which is then made once more to count them.
    fn wanted_calls(&mut self, at: usize, input: &Input) -> Result<Vec<u64>> {
        let Request { calls, skip, choice, .. } = *self.request;
        if calls + skip > 1 || choice != Choice::First {
            self.tell_calls_from_trips()?;
        }
        Ok(match choice {
            Choice::First => (skip + 1..=skip + calls).collect(),
            Choice::Sample => {
                evenly(calls, skip, (self.counted_calls(at, input)?.len() as u64).max(skip + 1))
            }
            Choice::Longest => {
                let lasted = self.counted_calls(at, input)?;
                let numbers = longest(calls, skip, &lasted);
                self.remarks.longest.extend(of_longest(
                    &format!("input {} ({})", at + 1, input.text),
                    &numbers,
                    &lasted,
                ));
                numbers
            }
        })
    }

    /// An error if the function begins with the head of a loop: the program is at its entry at each
    /// trip.
    fn tell_calls_from_trips(&self) -> Result<()> {
        let entry = Some(self.graph.entry);
        match self.graph.edges.iter().any(|edge| edge.to == entry) {
            true => Err(Error::BadRequest(
                "a loop of the function leads back to its first instruction, so its calls are \
                 indistinguishable from the trips of the loop. Leave out --calls, --skip, --sample \
                 and --longest: the first call of each run is then taken"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// The CPU time from each call of a run to the next one, or to its end. Wall time would tell
    /// how long the program waited for the CPU.
    fn counted_calls(&mut self, at: usize, input: &Input) -> Result<Vec<Duration>> {
        let timeout = self.request.timeout;
        let mut journey = Journey::begin(&mut self.program, input)
            .map_err(|e| self.program.explain("start the program", e))?;
        let (mut reached, begin, time_of_others) =
            (Vec::new(), Instant::now(), cpu_time_of_ended());
        let stopped = loop {
            if begin.elapsed() > timeout {
                break Some(format!(
                    "not finished after {} s (raise --timeout)",
                    timeout.as_secs_f64()
                ));
            }
            match journey
                .next_call(&self.program)
                .map_err(|e| self.program.explain("reach the call", e))
            {
                Ok(()) => reached.push(journey.process().cpu_time()),
                Err(error) if reached.is_empty() => return Err(error),
                Err(Error::Ended { .. }) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let remark = |reason| {
            format!("input {} ({}): {} calls, then {reason}", at + 1, input.text, reached.len())
        };
        let has_ended = stopped.is_none();
        self.remarks.counting.extend(stopped.map(remark));
        let end = if has_ended {
            cpu_time_of_ended().saturating_sub(time_of_others)
        } else {
            journey.process().cpu_time()
        };
        let next = reached.iter().skip(1).copied().chain([end]);
        Ok(reached.iter().zip(next).map(|(from, to)| to.saturating_sub(*from)).collect())
    }

    /// Prepares a call. One that cannot be repeated is left out.
    fn add(
        &mut self,
        at: usize,
        call: u64,
        started: Started,
        stub: Stub,
        all_prepared: &mut Vec<Prepared>,
    ) -> Result<()> {
        match self.prepare(at, started, stub) {
            Ok(prepared) => match self.room_for(&prepared, all_prepared) {
                Ok(()) => all_prepared.push(prepared),
                Err(error) => self.skip(at, (self.request.calls > 1).then_some(call), &error),
            },
            Err(error) if is_general(&error) => return Err(error),
            Err(error) => self.skip(at, (self.request.calls > 1).then_some(call), &error),
        }
        Ok(())
    }

    /// Checks that the memory of all calls that wait to be timed is within the limit.
    fn room_for(&mut self, prepared: &Prepared, all_prepared: &[Prepared]) -> Result<()> {
        let own_bytes = prepared.process.holds();
        if self.held + own_bytes > self.request.memory {
            // Copies share what they do not write, and hold less when one of them is gone.
            self.held = all_prepared.iter().map(|one| one.process.holds()).sum();
        }
        if self.held + own_bytes > self.request.memory {
            let mib = |bytes: u64| bytes.div_ceil(1 << 20);
            let reason = format!(
                "it holds {} MiB beside the {} MiB of the {} calls before it, and {} MiB is the \
                 limit: raise it (--memory), or take several calls of one run (--calls), which \
                 share memory",
                mib(own_bytes),
                mib(self.held),
                all_prepared.len(),
                mib(self.request.memory)
            );
            return Err(Error::system("keep the call for the rounds", reason));
        }
        self.held += own_bytes;
        Ok(())
    }

    /// Records an input, or a call of it, that is left out.
    pub fn skip(&mut self, at: usize, call: Option<u64>, error: &Error) {
        self.differ.extend(matches!(error, Error::PathDiffers(_)).then_some(at));
        let reason = call.map_or_else(|| error.to_string(), |call| format!("call {call}: {error}"));
        self.skipped.push(Skipped {
            input: at + 1,
            text: self.request.inputs[at].text.clone(),
            reason,
        });
    }
}

/// What errors call a place of the function: its block as the report names it, with the words by
/// which it was asked for, if it was.
fn asked_for(graph: &Graph, place: u64, from: Option<&str>) -> String {
    let name = graph.block_at(place).map_or_else(|| format!("{place:#x}"), block_name);
    match from {
        Some(from) if from != name => format!("{name} (--from {from})"),
        _ => name,
    }
}

/// What is worth a message about runs that were not as requested.
#[derive(Debug, Default)]
pub struct Remarks {
    /// Inputs that made fewer calls than requested.
    fewer: Vec<String>,
    /// Which calls were the longest of each input.
    longest: Vec<String>,
    /// Inputs whose calls were not counted to the end.
    counting: Vec<String>,
    /// Why parts of calls were not taken.
    parts: Vec<String>,
}

impl Remarks {
    /// Why there is no part of a call.
    fn no_part(&self) -> Error {
        let last = self.parts.last().map_or("none was reached", String::as_str);
        let reason = format!(
            "there is none ({last}): leave --parts out, or give another block where they begin \
             (--from)"
        );
        Error::system("take parts of the call", reason)
    }

    /// The messages: the first input of each kind, and how many others there are.
    pub fn notes(&self) -> Vec<String> {
        let note = |event: &str, all_inputs: &[String]| {
            let (first, other_inputs) = all_inputs.split_first()?;
            let text_of_others = if other_inputs.is_empty() {
                String::new()
            } else {
                format!("; likewise {} more", other_inputs.len())
            };
            Some(format!("{event}: {first}{text_of_others}"))
        };
        let fewer = note(
            "a run ended after fewer calls than requested (--calls), and all that it made were \
             taken",
            &self.fewer,
        );
        let counting = note(
            "the calls are from a part of the run, because counting them stopped",
            &self.counting,
        );
        let parts = note("a part of a call was left out", &self.parts);
        let longest = note("the longest calls", &self.longest);
        fewer.into_iter().chain(longest).chain(counting).chain(parts).collect()
    }
}

/// CPU time of all processes that were started here and have ended.
fn cpu_time_of_ended() -> Duration {
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map(|usage| {
            Duration::from_micros(
                (usage.user_time() + usage.system_time()).num_microseconds().unsigned_abs(),
            )
        })
        .unwrap_or_default()
}

/// Numbers of the calls that lasted longest, in their order. With none beyond those that are
/// skipped, the first one that there is not.
fn longest(calls: u64, skip: u64, lasted: &[Duration]) -> Vec<u64> {
    let mut all_calls: Vec<(u64, Duration)> =
        (1..).zip(lasted.iter().copied()).skip(skip as usize).collect();
    all_calls.sort_by_key(|(_, lasted)| std::cmp::Reverse(*lasted));
    let mut numbers: Vec<u64> =
        all_calls.into_iter().take(calls as usize).map(|(number, _)| number).collect();
    numbers.sort_unstable();
    if numbers.is_empty() { vec![skip + 1] } else { numbers }
}

/// Which calls lasted longest, and for how long together; `None` if there are none of these
/// numbers.
fn of_longest(input: &str, numbers: &[u64], lasted: &[Duration]) -> Option<String> {
    let time: Duration =
        numbers.iter().map(|number| lasted.get(*number as usize - 1)).sum::<Option<Duration>>()?;
    let all_numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    Some(format!(
        "{input}: {} (of {} calls; {:.3} s of CPU time to the next one)",
        shortened(&all_numbers),
        lasted.len(),
        time.as_secs_f64()
    ))
}

/// Numbers of calls, evenly over those from `skip` to `seen_calls`: the middle of each part.
fn evenly(calls: u64, skip: u64, seen_calls: u64) -> Vec<u64> {
    let calls_to_choose = seen_calls - skip;
    let parts = calls.min(calls_to_choose);
    (0..parts).map(|part| skip + 1 + (2 * part + 1) * calls_to_choose / (2 * parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_name_the_first_input_and_count_the_others() {
        assert!(Remarks::default().notes().is_empty());
        let fewer = vec!["input 1 (a): 2 of 5".to_owned(), "input 2 (b): 1 of 5".to_owned()];
        let notes = Remarks { fewer, ..Remarks::default() }.notes();
        assert!(
            notes.len() == 1 && notes[0].ends_with("input 1 (a): 2 of 5; likewise 1 more"),
            "{notes:?}"
        );
    }

    #[test]
    fn a_place_is_called_as_it_was_asked_for() {
        let graph = crate::graph::tests::graph(3, &[(0, Some(1)), (1, Some(2)), (2, None)]);
        let at = graph.blocks[1].start;
        let names = [Some("B2@3"), Some("a.c:7@1-4"), Some("B2"), None]
            .map(|from| asked_for(&graph, at, from));
        assert_eq!(names, ["B2 (--from B2@3)", "B2 (--from a.c:7@1-4)", "B2", "B2"]);
        assert_eq!(asked_for(&graph, u64::MAX, None), format!("{:#x}", u64::MAX));
    }

    #[test]
    fn the_longest_calls_are_taken_in_their_order() {
        let lasted: Vec<Duration> = [9, 1, 7, 8, 2].map(Duration::from_millis).to_vec();
        assert_eq!(longest(2, 0, &lasted), [1, 4]);
        assert_eq!(longest(2, 1, &lasted), [3, 4]);
        assert_eq!(longest(9, 3, &lasted), [4, 5]);
        assert_eq!(longest(1, 5, &lasted), [6]);
        assert_eq!(
            of_longest("x", &[1, 4], &lasted).unwrap(),
            "x: 1; 4 (of 5 calls; 0.017 s of CPU time to the next one)"
        );
        assert!(of_longest("x", &[6], &lasted).is_none());
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
