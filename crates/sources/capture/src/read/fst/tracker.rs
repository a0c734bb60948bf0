//! The level of the channel over the whole dump.

use super::file::{File, Part};
use crate::edge::Edge;
use crate::error::Result;
use crate::read::dump::Levels;

/// Most blackouts.
const MOST_BLACKOUTS: u64 = 1 << 20;

/// A time from which on the dump was off or on, behind the changes at this time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Blackout {
    time: u64,
    is_on: bool,
}

/// The level, with its value while the dump was off.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    pub levels: Levels,
    /// What comes next of them is last.
    blackouts: Vec<Blackout>,
    is_off: bool,
    /// The last value, whether the dump was on or off.
    value: u8,
    /// The value at the beginning, if no change at the same time replaces it.
    initial: Option<(u64, u8)>,
    /// The time of the last change, and whether there was a value.
    last: u64,
    is_begun: bool,
}

impl Tracker {
    /// Reads when the dump was off.
    pub fn read(file: &mut File, blackouts: Option<Part>) -> Result<Tracker> {
        let mut tracker = Tracker { value: b'x', ..Tracker::default() };
        let Some(part) = blackouts else { return Ok(tracker) };
        let mut bytes = file.plain(part)?;
        bytes.skip(8)?;
        let number = bytes.varint()?;
        if number > MOST_BLACKOUTS {
            return Err(
                bytes.wrong(format!("{number} blackouts, expected at most {MOST_BLACKOUTS}"))
            );
        }
        let mut time = 0u64;
        for _ in 0..number {
            let is_on = bytes.byte()? != 0;
            let later = time.checked_add(bytes.varint()?);
            time = later.ok_or_else(|| bytes.wrong("a time beyond 2^64"))?;
            tracker.blackouts.push(Blackout { time, is_on });
        }
        tracker.blackouts.reverse();
        Ok(tracker)
    }

    /// Takes the value at the beginning of the dump.
    pub fn begin(&mut self, time: u64, value: u8) {
        (self.initial, self.is_begun) = (Some((time, value)), true);
    }

    /// Whether there was no value yet, neither at the beginning nor by a change.
    pub fn is_new(&self) -> bool {
        !self.is_begun
    }

    /// The time of the last change.
    pub fn time(&self) -> u64 {
        self.last
    }

    /// Takes a change.
    #[inline]
    pub fn change(&mut self, time: u64, value: u8, sink: &mut dyn FnMut(Edge)) {
        if let Some((begin, first)) = self.initial.take().filter(|(begin, _)| *begin < time) {
            self.set(begin, first, sink);
        }
        (self.last, self.is_begun) = (time, true);
        self.set(time, value, sink);
    }

    fn set(&mut self, time: u64, value: u8, sink: &mut dyn FnMut(Edge)) {
        self.pass_blackouts(time, sink);
        self.value = value;
        if !self.is_off {
            self.levels.time = time;
            self.levels.set(value, sink);
        }
    }

    /// Passes the blackouts before a time.
    #[inline]
    fn pass_blackouts(&mut self, time: u64, sink: &mut dyn FnMut(Edge)) {
        while let Some(next) = self.blackouts.last().copied().filter(|next| next.time < time) {
            self.blackouts.pop();
            self.is_off = !next.is_on;
            self.levels.time = next.time;
            self.levels.set(if next.is_on { self.value } else { b'x' }, sink);
        }
    }

    /// Ends the dump.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Edge)) {
        if let Some((begin, first)) = self.initial.take() {
            self.set(begin, first, sink);
        }
        self.pass_blackouts(u64::MAX, sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(blackouts: &[(u64, bool)], changes: &[(u64, u8)]) -> (Vec<(f64, bool)>, u64) {
        let blackouts =
            blackouts.iter().rev().map(|&(time, is_on)| Blackout { time, is_on }).collect();
        let mut tracker = Tracker { value: b'x', blackouts, ..Tracker::default() };
        let mut edges = Vec::new();
        let mut sink = |edge: Edge| edges.push((edge.at, edge.rising));
        changes.iter().for_each(|(time, value)| tracker.change(*time, *value, &mut sink));
        tracker.finish(&mut sink);
        (edges, tracker.levels.changes.undefined.0)
    }

    #[test]
    fn no_edge_lies_next_to_a_blackout() {
        let changes = [(0, b'0'), (10, b'1'), (20, b'0'), (30, b'1'), (40, b'0')];
        let all_edges = [(10.0, true), (20.0, false), (30.0, true), (40.0, false)];
        assert_eq!(edges(&[], &changes), (all_edges.to_vec(), 0));
        // Off from 15 to 25: the edge at 20 is lost, and the level at 25 is that of 20.
        let some = vec![all_edges[0], all_edges[2], all_edges[3]];
        assert_eq!(edges(&[(15, false), (25, true)], &changes), (some, 1));
        // A change at the time of the end is the level there, no edge.
        let fewer = vec![all_edges[0], all_edges[3]];
        assert_eq!(edges(&[(15, false), (30, true)], &changes), (fewer, 1));
        // Off to the end, from behind the edge at 20 on.
        assert_eq!(edges(&[(20, false)], &changes), (all_edges[..2].to_vec(), 1));
    }

    #[test]
    fn first_values_are_no_edges() {
        let mut tracker = Tracker::default();
        let mut times = Vec::new();
        tracker.begin(5, b'0');
        tracker.change(5, b'1', &mut |edge| times.push(edge.at));
        assert!(times.is_empty());
        let mut tracker = Tracker::default();
        tracker.begin(5, b'0');
        tracker.change(6, b'1', &mut |edge| times.push(edge.at));
        assert_eq!(times, [6.0]);
    }
}
