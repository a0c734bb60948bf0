//! Decodes edges to frames, one edge at a time, in memory that does not grow.

use super::payload::{Kind, parse, payload_bytes};
use super::{END_GAP, PREAMBLE, gap_units};
use crate::edge::Edge;
use std::collections::VecDeque;

/// Largest distance of a width or gap from its number of units.
const TOLERANCE: f64 = 0.3;
/// Largest distance of a dithered gap beyond its dither, in units.
const GAP_TOLERANCE: f64 = 0.2;
/// Largest dither of a gap, in units.
const DITHER: f64 = 0.5;
/// Least gap of a reference frame, in units.
const REFERENCE_GAP: f64 = 5.5;

/// Leading edge to trailing edge, in ticks of the recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pulse {
    /// The leading edge.
    pub leading: f64,
    /// The trailing edge.
    pub trailing: f64,
}

impl Pulse {
    /// The reading: trailing edge minus leading edge.
    pub fn width(&self) -> f64 {
        self.trailing - self.leading
    }
}

/// The direction of the pin's edge before the code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    /// Low when idle: the leading edge rises.
    Rising,
    /// High when idle: the leading edge falls.
    Falling,
}

/// A whole frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its first edge.
    pub start: f64,
    /// The unit, in ticks of the recording.
    pub unit: f64,
    /// Time by which the recording lengthens a pulse, from the preamble, in ticks.
    pub excess: f64,
    /// Its leading edges.
    pub orientation: Orientation,
    /// The counts of its pulses.
    pub kind: Kind,
    /// The pulses; as many as `kind` says.
    pub pulses: Vec<Pulse>,
}

/// Kinds of damage for which a frame is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// An extra or missing pulse or gap.
    Interval,
    /// The payload is invalid.
    Payload,
    /// The recording ended or another frame began before the frame was complete.
    Unfinished,
    /// Two edges of the same direction in a row.
    SameDirection,
}

/// A frame that is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where, in ticks of the recording.
    pub at: f64,
    /// The kind of damage.
    pub trouble: Trouble,
    /// What was found and what was expected.
    pub reason: String,
    /// Whether its header announces reference intervals.
    pub reference: bool,
}

/// Output of the decoder.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A frame.
    Frame(Frame),
    /// A frame that is left out.
    Problem(Problem),
    /// A pulse outside of all frames.
    Stray(Pulse),
}

/// Units of a preamble.
const PREAMBLE_UNITS: f64 =
    PREAMBLE[0] + PREAMBLE[1] + PREAMBLE[2] + PREAMBLE[3] + PREAMBLE[4] + PREAMBLE[5];

#[derive(Debug)]
struct Header {
    start: f64,
    unit: f64,
    excess: f64,
    orientation: Orientation,
}

#[derive(Debug)]
enum State {
    Hunting,
    Payload { header: Header, bits: u32, byte: u8, bytes: Vec<u8> },
    Pulses { header: Header, kind: Kind, pulses: Vec<Pulse> },
}

/// Finds frames in edges.
#[derive(Debug)]
pub struct Decoder {
    forced: Option<Orientation>,
    last: Last,
    state: State,
    /// Leading edge of the current pulse.
    leading: Option<f64>,
    /// Trailing edge of the pulse before.
    trailing: Option<f64>,
    orientation: Orientation,
    has_seen_pulses: bool,
    /// Pulses outside of frames that may still be a preamble.
    outside: VecDeque<Pulse>,
}

impl Decoder {
    /// A decoder; without an orientation it follows the first preamble, and before that the first
    /// edge.
    pub fn new(orientation: Option<Orientation>) -> Decoder {
        Decoder {
            forced: orientation,
            last: Last::default(),
            state: State::Hunting,
            leading: None,
            trailing: None,
            orientation: orientation.unwrap_or(Orientation::Rising),
            has_seen_pulses: false,
            outside: VecDeque::new(),
        }
    }

    /// The orientation, if it is known so far.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Takes an edge and passes the items that it completes to `sink`.
    pub fn push(&mut self, edge: Edge, sink: &mut dyn FnMut(Item)) {
        if !self.has_seen_pulses {
            self.has_seen_pulses = true;
            self.orientation = self.forced.unwrap_or(if edge.rising {
                Orientation::Rising
            } else {
                Orientation::Falling
            });
        }
        if self.last.number > 0 && self.last.rising == edge.rising {
            self.give_up(
                edge.at,
                Trouble::SameDirection,
                "two edges in the same direction: the edge between them is missing".into(),
                sink,
            );
            self.last.number = 0;
            (self.leading, self.trailing) = (None, None);
        }
        self.last.push(edge);
        let leading = edge.rising == (self.orientation == Orientation::Rising);
        self.step(edge.at, leading, sink);
        if let Some(header) = self.preamble() {
            self.begin(header, sink);
        }
    }

    /// Passes the remaining items at the end of the recording to `sink`.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Item)) {
        self.outside.drain(..).for_each(|pulse| sink(Item::Stray(pulse)));
        if self.last.number > 0 {
            let (at, reason) = (self.last.newest(), self.unfinished("the recording ends"));
            self.give_up(at, Trouble::Unfinished, reason, sink);
        }
    }

    fn begin(&mut self, header: Header, sink: &mut dyn FnMut(Item)) {
        let reason = self.unfinished("the next frame begins");
        self.give_up(header.start, Trouble::Unfinished, reason, sink);
        self.orientation = header.orientation;
        self.outside.clear();
        (self.leading, self.trailing) = (Some(self.last.newest()), None);
        self.state = State::Payload { header, bits: 0, byte: 0, bytes: Vec::new() };
    }

    fn unfinished(&self, event: &str) -> String {
        match &self.state {
            State::Pulses { kind, pulses, .. } if pulses.len() == kind.pulses() => {
                format!("{event} before the end pulse")
            }
            State::Pulses { kind, pulses, .. } => {
                format!("{event} after pulse {} of {}", pulses.len(), kind.pulses())
            }
            _ => format!("{event} within the payload"),
        }
    }

    /// Leaves out the current frame, if there is one.
    fn give_up(&mut self, at: f64, trouble: Trouble, reason: String, sink: &mut dyn FnMut(Item)) {
        if !matches!(self.state, State::Hunting) {
            let reference = matches!(self.state, State::Pulses { kind: Kind::Reference(_), .. });
            sink(Item::Problem(Problem { at, trouble, reason, reference }));
        }
        self.state = State::Hunting;
    }

    /// The header, if the last edges are a preamble and the first bit's leading edge.
    fn preamble(&self) -> Option<Header> {
        if self.last.number < Last::WHOLE {
            return None;
        }
        let at = self.last.in_order();
        if !may_be_preamble(&at) {
            return None;
        }
        // A preamble has an even number of intervals: its first edge goes as the last one.
        let orientation = if self.last.rising { Orientation::Rising } else { Orientation::Falling };
        if self.forced.is_some_and(|forced| forced != orientation) {
            return None;
        }
        let between = |n: usize| at[n + 1] - at[n];
        let unit = (at[6] - at[0]) / PREAMBLE_UNITS;
        let excess = (between(0) + between(2) + between(4) - 8.0 * unit) / 3.0;
        let fits = |(n, units): (usize, &f64)| {
            let own = if n % 2 == 0 { between(n) - excess } else { between(n) + excess };
            (own / unit - units).abs() <= TOLERANCE
        };
        let whole =
            unit > 0.0 && excess.abs() <= 0.4 * unit && PREAMBLE.iter().enumerate().all(fits);
        whole.then(|| Header { start: at[0], unit, excess, orientation })
    }

    fn step(&mut self, at: f64, leading: bool, sink: &mut dyn FnMut(Item)) {
        if leading {
            self.leading = Some(at);
            if let Some(gap) = self.trailing.map(|trailing| at - trailing) {
                self.gap(at, gap, sink);
            }
            return;
        }
        self.trailing = Some(at);
        if let Some(start) = self.leading {
            self.pulse(Pulse { leading: start, trailing: at }, sink);
        }
    }

    /// A gap has ended.
    fn gap(&mut self, at: f64, gap: f64, sink: &mut dyn FnMut(Item)) {
        let wrong = match &self.state {
            State::Hunting => None,
            State::Payload { header, .. } => {
                let units = (gap + header.excess) / header.unit;
                ((units - 1.0).abs() > TOLERANCE).then(|| {
                    format!("a gap of {units:.2} units in the payload, where every gap has 1")
                })
            }
            State::Pulses { header, kind, pulses } => {
                let units = (gap + header.excess) / header.unit;
                let (low, high) = gap_range(kind, pulses.len());
                (units < low || units > high)
                    .then(|| wrong_gap(units, low, high, pulses.len(), kind.pulses()))
            }
        };
        if let Some(reason) = wrong {
            self.give_up(at, Trouble::Interval, reason, sink);
        }
    }

    /// A pulse has ended.
    fn pulse(&mut self, pulse: Pulse, sink: &mut dyn FnMut(Item)) {
        match &mut self.state {
            State::Hunting => self.stray(pulse, sink),
            State::Pulses { kind, pulses, .. } if pulses.len() < kind.pulses() => {
                pulses.push(pulse);
            }
            _ => self.part_of_frame(&pulse, sink),
        }
    }

    /// A bit or the end pulse.
    fn part_of_frame(&mut self, pulse: &Pulse, sink: &mut dyn FnMut(Item)) {
        match std::mem::replace(&mut self.state, State::Hunting) {
            State::Hunting => (),
            State::Payload { header, bits, byte, bytes } => match bit(&header, pulse) {
                Ok(bit) => self.bit(header, bits, byte << 1 | bit, bytes, pulse.trailing, sink),
                Err(reason) => sink(Item::Problem(Problem {
                    at: pulse.leading,
                    trouble: Trouble::Interval,
                    reason,
                    reference: false,
                })),
            },
            State::Pulses { header, kind, pulses } => sink(ended(header, kind, pulses, pulse)),
        }
    }

    fn stray(&mut self, pulse: Pulse, sink: &mut dyn FnMut(Item)) {
        self.outside.push_back(pulse);
        if self.outside.len() > PREAMBLE.len() / 2 {
            self.outside.pop_front().into_iter().for_each(|pulse| sink(Item::Stray(pulse)));
        }
    }

    fn bit(
        &mut self,
        header: Header,
        bits: u32,
        byte: u8,
        mut bytes: Vec<u8>,
        at: f64,
        sink: &mut dyn FnMut(Item),
    ) {
        let bits = bits + 1;
        if bits % 8 != 0 {
            self.state = State::Payload { header, bits, byte, bytes };
            return;
        }
        bytes.push(byte);
        let kind = payload_bytes(&bytes).and_then(|needed| {
            if needed == Some(bytes.len()) { parse(&bytes).map(Some) } else { Ok(None) }
        });
        match kind {
            Ok(None) => self.state = State::Payload { header, bits, byte: 0, bytes },
            Ok(Some(kind)) => self.state = State::Pulses { header, kind, pulses: Vec::new() },
            Err(reason) => sink(Item::Problem(Problem {
                at,
                trouble: Trouble::Payload,
                reason,
                reference: false,
            })),
        }
    }
}

/// The last edges.
#[derive(Debug, Default)]
struct Last {
    /// Their times: a ring, of which the oldest one follows the newest.
    at: [f64; Last::RING],
    /// Place of the newest.
    place: usize,
    number: usize,
    /// The direction of the newest; they go in turn.
    rising: bool,
}

impl Last {
    /// Edges of a preamble and the first bit's leading edge.
    const WHOLE: usize = PREAMBLE.len() + 1;
    const RING: usize = 8;

    #[inline]
    fn push(&mut self, edge: Edge) {
        self.place = (self.place + 1) % Last::RING;
        self.at[self.place] = edge.at;
        self.number = (self.number + 1).min(Last::WHOLE);
        self.rising = edge.rising;
    }

    fn newest(&self) -> f64 {
        self.at[self.place % Last::RING]
    }

    /// The times of the whole number of edges, the oldest one first.
    #[inline]
    fn in_order(&self) -> [f64; Last::WHOLE] {
        std::array::from_fn(|n| self.at[(self.place + 2 + n) % Last::RING])
    }
}

/// Whether edges may be a preamble: in one, pulses 1 and 2, and gaps 2 and 3, differ by 3 and by 2
/// units, whatever the excess is. This is quick, and nearly all other edges fail.
#[inline]
fn may_be_preamble(at: &[f64; Last::WHOLE]) -> bool {
    /// Two tolerances and the rounding of the sums.
    const FARTHEST: f64 = 2.0 * TOLERANCE + 0.1;
    let between = |n: usize| at[n + 1] - at[n];
    let unit = (at[6] - at[0]) / PREAMBLE_UNITS;
    let off = |more: f64, units: f64| (more - units * unit).abs();
    let (pulses, gaps) = (off(between(0) - between(2), 3.0), off(between(3) - between(5), 2.0));
    pulses.max(gaps) <= FARTHEST * unit
}

fn bit(header: &Header, pulse: &Pulse) -> Result<u8, String> {
    let units = (pulse.width() - header.excess) / header.unit;
    match units {
        _ if (units - 1.0).abs() <= TOLERANCE => Ok(0),
        _ if (units - 2.0).abs() <= TOLERANCE => Ok(1),
        _ => Err(format!(
            "a pulse of {units:.2} units in the payload, where a 0 has 1 and a 1 has 2"
        )),
    }
}

/// The frame, if its last pulse is an end pulse; else a pulse is extra or missing.
fn ended(header: Header, kind: Kind, pulses: Vec<Pulse>, end: &Pulse) -> Item {
    let units = (end.width() - header.excess) / header.unit;
    if (units - 1.0).abs() > TOLERANCE {
        let reason = format!(
            "the end pulse has {units:.2} units and should have 1: a pulse is missing or extra"
        );
        let reference = matches!(kind, Kind::Reference(_));
        return Item::Problem(Problem {
            at: end.leading,
            trouble: Trouble::Interval,
            reason,
            reference,
        });
    }
    let Header { start, unit, excess, orientation } = header;
    Item::Frame(Frame { start, unit, excess, orientation, kind, pulses })
}

/// The range of units of the gap before a pulse; `next` equal to the number of pulses means the end
/// pulse.
fn gap_range(kind: &Kind, next: usize) -> (f64, f64) {
    let units = match kind {
        Kind::Reference(_) => return (REFERENCE_GAP, f64::INFINITY),
        Kind::Counts(counts) if next >= counts.len() => END_GAP,
        Kind::Counts(_) => gap_units(next),
    };
    (units - GAP_TOLERANCE, units + DITHER + GAP_TOLERANCE)
}

fn wrong_gap(units: f64, low: f64, high: f64, next: usize, pulses: usize) -> String {
    let before = if next < pulses {
        format!("pulse {} of {pulses}", next + 1)
    } else {
        "the end".to_owned()
    };
    let why = if units < low { "a glitch" } else { "a pulse is missing" };
    format!(
        "the gap before {before} has {units:.2} units and should have {low:.1} to {high:.1}: {why}"
    )
}
