//! Checks that calls take the path that was counted: they are followed again after the rounds, and
//! what they read that differs from time to time is named.

use super::prepare::{Prepared, Session};
use super::{CountRow, instructions};
use crate::error::{Error, Result};
use crate::graph::{Graph, block_name};
use crate::trace::{Process, Snapshot, Stub, Undo, put_back};
use hairspring_core::judge::words::shortened;
use hairspring_core::judge::{Description, Finding, Kind, Severity};
use hairspring_core::numbers;
use iced_x86::Mnemonic;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Doubts about the counts of calls.
#[derive(Debug, Clone, PartialEq)]
enum PathFinding {
    /// Repeats of some calls took other paths, so these were left out.
    PathsDiffer { inputs: Vec<String> },
    /// Calls read what differs from time to time.
    ReadsOutside { sources: Vec<String>, again: usize, calls: usize },
}

impl Kind for PathFinding {
    fn describe(self) -> Description {
        match self {
            PathFinding::PathsDiffer { inputs } => Description {
                code: "paths_differ",
                message: format!(
                    "{} through the function differs from one repeat to the next: {}",
                    match inputs.len() {
                        1 => "1 input was left out because its path".to_owned(),
                        many => format!("{many} inputs were left out because their path"),
                    },
                    shortened(&inputs)
                ),
                numbers: numbers! { inputs },
                remedy: "the path depends on the time, on random numbers or on another process: \
                         time a function that is given such values, or inputs that do not use them",
            },
            PathFinding::ReadsOutside { sources, again, calls } => Description {
                code: "reads_outside",
                message: format!(
                    "calls read what differs from time to time ({}); each was followed twice, the \
                     second time with a clock that hardly moves, and {again} of {calls} again \
                     after the rounds, on the same path",
                    shortened(&sources)
                ),
                numbers: numbers! { sources, again, calls },
                remedy: "the counts hold as long as the path does not depend on it: look at the \
                         branches behind it, and if they do, time a function that is given such \
                         values",
            },
        }
    }
}

/// Instructions whose result differs from time to time.
fn varies(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{Cpuid, Rdpid, Rdpmc, Rdrand, Rdseed, Rdtsc, Rdtscp};
    matches!(mnemonic, Cpuid | Rdpid | Rdpmc | Rdrand | Rdseed | Rdtsc | Rdtscp)
}

impl Session<'_> {
    /// Follows calls again as far as the time reaches, in random order, but those first and several
    /// times whose repeats left different registers. Those whose path differs now are lost.
    pub fn follow_again(&mut self, prepared: &mut [Prepared], lost: &mut BTreeMap<usize, String>) {
        const LEAST_TIME: Duration = Duration::from_millis(500);
        const SUSPECTED_RUNS: u32 = 8;
        let Some(target) = self.target.clone() else { return };
        let (limit, begin) = (LEAST_TIME.max(self.request.budget / 4), Instant::now());
        let mut order: Vec<usize> =
            (0..prepared.len()).filter(|at| !lost.contains_key(at)).collect();
        order.shuffle(&mut Pcg64Mcg::seed_from_u64(2));
        order.sort_by_key(|at| !prepared[*at].varies);
        for at in order {
            let times = if prepared[at].varies { SUSPECTED_RUNS } else { 1 };
            if begin.elapsed() + prepared[at].took * times > limit {
                continue;
            }
            self.traced.again += 1;
            if let Err(error) =
                (0..times).try_for_each(|_| prepared[at].follow_again(&self.program, &target))
            {
                let error = self.program.explain("follow the call again", error);
                if matches!(error, Error::PathDiffers(_)) {
                    self.differ.insert(prepared[at].input);
                }
                lost.insert(at, error.to_string());
            }
        }
        let varies = self.sources.is_empty()
            && prepared.iter().enumerate().any(|(at, one)| one.varies && !lost.contains_key(&at));
        self.sources.extend(
            varies.then(|| "something that changes the registers that repeats leave".to_owned()),
        );
        self.program.watchdog.watch(None);
    }

    /// Puts back what repeats wrote, checks that it is in the same places if it differs, and keeps
    /// what they read from outside.
    pub fn after_repeats(
        &mut self,
        process: &mut Process,
        stub: &Stub,
        undo: &Undo,
        snapshot: &Snapshot,
        differs: bool,
        mut sources: BTreeSet<String>,
    ) -> Result<()> {
        self.program.deadline(process);
        put_back(process, stub.code(), undo)?;
        if differs {
            same_places(snapshot, process, stub)?;
        }
        sources.extend(
            (differs && sources.is_empty())
                .then(|| "something that changes what it leaves in memory".to_owned()),
        );
        self.reads_outside = !sources.is_empty();
        self.sources.extend(sources);
        Ok(())
    }

    /// The doubts about the counts of the calls that are left.
    pub fn doubts(&self, graph: &Graph, rows: &[CountRow]) -> Vec<Finding> {
        let name = |at: &usize| format!("{} ({})", at + 1, self.request.inputs[*at].text);
        let inputs: Vec<String> = self.differ.iter().map(name).collect();
        let left_out = (!inputs.is_empty())
            .then(|| Finding::new(Severity::Warning, PathFinding::PathsDiffer { inputs }));
        let sources = self.outside(graph, rows);
        let calls = rows.iter().filter(|row| row.is_whole()).count();
        let kind = PathFinding::ReadsOutside {
            sources: sources.clone(),
            again: self.traced.again.min(calls),
            calls,
        };
        let reads = (!sources.is_empty()).then(|| Finding::new(Severity::Note, kind));
        left_out.into_iter().chain(reads).collect()
    }

    /// What the calls read that differs from time to time: by the function's own instructions, and
    /// what was seen in others.
    fn outside(&self, graph: &Graph, rows: &[CountRow]) -> Vec<String> {
        let ran = |at: &usize| rows.iter().any(|row| row.counts.blocks[*at] > 0);
        let named = |at: usize| {
            let addresses = instructions(&self.code, graph.blocks[at].start, graph.blocks[at].end);
            let outside_instructions = addresses
                .into_iter()
                .filter_map(|address| self.code.decode(address))
                .filter(|one| varies(one.mnemonic()));
            outside_instructions
                .map(|one| {
                    format!(
                        "{} in {}",
                        format!("{:?}", one.mnemonic()).to_lowercase(),
                        block_name(at)
                    )
                })
                .collect::<Vec<_>>()
        };
        let mut own_sources: Vec<String> =
            (0..graph.blocks.len()).filter(ran).flat_map(named).collect();
        own_sources.dedup();
        let in_own = own_sources.iter().any(|source| source.starts_with("rdtsc"));
        let other_sources =
            self.sources.iter().filter(|source| !(in_own && source.contains("rdtsc")));
        own_sources.extend(other_sources.cloned());
        own_sources
    }
}

/// Checks that what was written is put back: what is written may differ from one repeat to the
/// next, where it is written may not.
fn same_places(snapshot: &Snapshot, process: &Process, stub: &Stub) -> Result<()> {
    if snapshot.undo(process, &stub.areas())? == Undo::default() {
        return Ok(());
    }
    let reason = "a repeated call writes to other memory than the first one: it depends on \
                  something outside its memory (the time, random numbers), or it runs code that \
                  it generates; time a later call (--calls), or a function that is given such \
                  values";
    Err(Error::system("repeat the call", reason))
}
