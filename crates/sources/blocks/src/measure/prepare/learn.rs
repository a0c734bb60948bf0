//! What is known of the function: its code and its graph, from the first process and from the
//! branches that calls take.

use super::{MOST_ROWS, Session};
use crate::binary::{Flow, Lines, cut};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::measure::until::{place_and_arrivals, resolve};
use crate::measure::{code_of_file, instructions};
use crate::trace::{Followed, Journey};
use std::collections::BTreeSet;

impl Session<'_> {
    /// Takes the function and its file from the first process.
    ///
    /// # Errors
    /// Places that do not exist.
    pub fn learn(&mut self, journey: &Journey) -> Result<()> {
        if self.target.is_none() {
            self.code = code_of_file(&journey.target);
            self.graph = cut(&self.code, journey.target.function.entry, &self.observed);
            let lines = Lines::open(&journey.image);
            let mut annotated = self.graph.clone();
            lines.annotate(&mut annotated, |at| {
                instructions(&self.code, self.graph.blocks[at].start, self.graph.blocks[at].end)
            });
            self.ends = match self.chosen.clone() {
                Some(chosen) => chosen,
                None => resolve(&self.request.until, &annotated)?,
            };
            self.from =
                self.request.from.as_ref().map(|place| from(place, &annotated)).transpose()?;
            self.limit_parts()?;
            self.target = Some(journey.target.clone());
            self.image = Some(journey.image.clone());
        }
        Ok(())
    }

    /// Checks that the parts of all calls are not too many: each waits in a process of its own.
    fn limit_parts(&self) -> Result<()> {
        let (Some((_, arrivals)), Some(place), None) =
            (&self.from, &self.request.from, self.request.parts)
        else {
            return Ok(());
        };
        let (each, calls, inputs) =
            (arrivals.len(), self.request.calls as usize, self.request.inputs.len());
        let parts = each.saturating_mul(calls).saturating_mul(inputs);
        if each == 1 || parts <= MOST_ROWS {
            return Ok(());
        }
        Err(Error::BadRequest(format!(
            "--from {place}: {parts} parts (arrivals x calls x inputs: {each} x {calls} x \
             {inputs}), and {MOST_ROWS} is the limit: give fewer arrivals, calls (--calls) or \
             inputs"
        )))
    }

    /// Adds observed targets of branches that the disassembly cannot follow.
    pub(super) fn observe(&mut self, followed: &Followed, bias: u64) {
        let before = self.observed.len();
        let entry = self.target.as_ref().map_or(0, |target| target.function.entry);
        for (site, to) in followed.branches.keys() {
            let (site, to) = (site.wrapping_sub(bias), to.wrapping_sub(bias));
            let is_known = self.code.decode(site).is_some_and(|instruction| {
                match self.code.flow(&instruction, entry) {
                    Flow::Conditional(taken) => to == taken || to == instruction.next_ip(),
                    _ => false,
                }
            });
            if !is_known || self.graph.block_at(site).is_none() {
                self.observed.insert((site, to));
            }
        }
        if self.observed.len() > before {
            self.graph = cut(&self.code, entry, &self.observed);
            self.arrivals = None;
        }
    }
}

/// The place where rows begin; the entry of the function is no such place.
fn from(place: &str, graph: &Graph) -> Result<(u64, BTreeSet<u64>)> {
    let (address, numbers) = place_and_arrivals("--from", place, graph)?;
    match graph.blocks.get(graph.entry) {
        Some(block) if block.start == address => Err(Error::BadRequest(format!(
            "--from {place}: whole calls begin there; leave the option out, or give a block inside \
             of the function"
        ))),
        _ => Ok((address, numbers)),
    }
}
