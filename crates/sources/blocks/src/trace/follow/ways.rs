//! The fixed paths from the target of a branch to the next branch, and the ends of partial runs on
//! them.

use super::{Follower, Way, failed};
use crate::binary::Flow;
use crate::error::Result;
use crate::trace::Partial;
use std::collections::BTreeSet;

impl Follower<'_> {
    /// The next site from an address on, and whether it is a cut; counts arrivals at the ends of
    /// partial runs.
    pub(super) fn way(&mut self, address: u64) -> Result<(Option<u64>, bool)> {
        if !self.ways.contains_key(&address) {
            let way = self.look_ahead(address)?;
            self.cuts.extend(way.site.filter(|_| way.is_cut));
            self.ways.insert(address, way);
        }
        let Some(way) = self.ways.get_mut(&address) else {
            return Err(failed("a path through the function was lost"));
        };
        let (site, is_cut, ends) = (way.site, way.is_cut, std::mem::take(&mut way.ends));
        if !ends.is_empty() {
            let ends_left = ends.into_iter().filter(|until| self.reach(*until, address)).collect();
            self.ways.entry(address).and_modify(|way| way.ends = ends_left);
        }
        Ok((site, is_cut))
    }

    /// Control reaches the end of a partial run on the way from an address; returns whether later
    /// arrivals matter.
    fn reach(&mut self, until: u64, from: u64) -> bool {
        let Some(wanted_arrivals) = self.ends.get(&until) else { return false };
        let is_beginning = until == self.begin.at;
        if !self.has_begun && is_beginning {
            return true;
        }
        let seen_arrivals = self.arrivals.entry(until).or_insert(0);
        *seen_arrivals += 1;
        let seen_arrivals = *seen_arrivals;
        if wanted_arrivals.contains(&seen_arrivals) && self.frames.len() == 1 {
            let branches = self.all_counts().into_iter().collect();
            let passes = seen_arrivals + u64::from(is_beginning);
            self.found.partials.push(Partial {
                until,
                passes,
                branches,
                entries: self.found.entries,
                from,
            });
        }
        wanted_arrivals.last().is_some_and(|last| *last > seen_arrivals)
    }

    fn look_ahead(&self, address: u64) -> Result<Way> {
        let (mut at, mut ends, mut seen_addresses, mut behind_call, mut calls) =
            (address, Vec::new(), BTreeSet::new(), false, false);
        loop {
            if self.is_watched(at) && at != address {
                return Ok(Way { site: Some(at), ends, is_cut: false });
            }
            if self.ends.contains_key(&at) {
                if calls {
                    return Ok(Way { site: Some(at), ends, is_cut: true });
                }
                ends.push(at);
            }
            let instruction = match self.decode(at) {
                Ok(instruction) => instruction,
                Err(_) if behind_call => return Ok(Way { site: None, ends, is_cut: false }),
                Err(error) => return Err(error),
            };
            let kind = self.target.code.flow(&instruction, self.target.entry());
            behind_call = matches!(kind, Flow::Call);
            calls |= behind_call;
            match kind {
                Flow::Next | Flow::Call => at = instruction.next_ip(),
                Flow::Jump(to) if self.target.code.contains(to) && seen_addresses.insert(to) => {
                    at = to
                }
                _ => return Ok(Way { site: Some(at), ends, is_cut: false }),
            }
        }
    }

    /// Whether control may enter the function at an address from outside.
    pub(super) fn is_watched(&self, at: u64) -> bool {
        at == self.target.entry() || self.handlers.contains(&at)
    }
}
