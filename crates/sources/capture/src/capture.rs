//! Converts a stream to observations with their findings.

mod findings;

use crate::calibrate::{Crystal, Doubt, Reference, calibration};
use crate::edge::{Edge, Method};
use crate::error::{Error, Result};
use crate::kinds::{PulseFinding, ReferenceFinding};
use crate::list::{Clock, Pulses, assign, trimmed};
use crate::observe::Collector;
use crate::pattern::{Decoder, Item, Orientation, Pulse};
use crate::read::{Format, Recording, Remark, Request};
pub use crate::read::{Input, Source, read_edges};
use crate::short::leave_out_short;
use crate::signal::{
    clear_width, distance_needed, neighbours_unknown, quantum_of_edges, reading_bound,
};
pub use findings::recording_findings;
pub(crate) use findings::unnamed;
use findings::{at, doubts, remarks, too_short};
use hairspring_core::judge::{Finding, Severity, carry};
use hairspring_core::math::hypot;
use hairspring_core::observations::{Observations, RECORDING, Rate};
use hairspring_core::quantum::Lattice;

/// Maximum number of pulses of a capture without the pattern, and of intervals considered as
/// references.
const MOST_PULSES: usize = 4_000_000;
/// Edges without a whole frame after which reading stops: those of a channel that is no pin with
/// the pattern, such as a clock.
const MOST_WITHOUT_FRAME: u64 = 20_000_000;
/// The same behind a whole frame: a pin may have other uses for a while.
const MOST_BEHIND_FRAME: u64 = 200_000_000;
/// Samples per second that a recorder may have.
const RATES: std::ops::RangeInclusive<f64> = 1e-3..=1e15;
/// Standard uncertainty of a crystal that is not calibrated: evenly distributed within 100 ppm.
const CRYSTAL_PPM: f64 = 57.7;

/// Why a reference in another recording is of no use.
const NO_RATE: &str = "states no sample rate, which --reference-file would correct";

/// Options of a capture.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The format; `None` detects it from the content.
    pub format: Option<Format>,
    /// Channel and method.
    pub request: Request,
    /// Direction of the leading edges; `None` takes that of the preamble or of the first edge.
    pub orientation: Option<Orientation>,
    /// A list of counts that repeats, for a pin without the pattern.
    pub ks: Option<Vec<f64>>,
    /// Whether incomplete rounds of the list at the ends of the recording are left out.
    pub trim: bool,
    /// Names of the components.
    pub components: Vec<String>,
    /// A known interval in the recording.
    pub reference: Option<Reference>,
    /// Standard uncertainty of the recorder's rate in parts per million, if known.
    pub rate_ppm: Option<f64>,
    /// Whether the times are exact, as those of a simulator that the file does not name.
    pub exact_clock: bool,
    /// The recorder's crystal, if another recording showed it.
    pub crystal: Option<Crystal>,
}

/// A capture that was read.
#[derive(Debug, Clone)]
pub struct Captured {
    /// The observations, in ticks of the recording with its rate. They carry the findings.
    pub table: Observations,
    /// Findings about the recording and the pulses.
    pub findings: Vec<Finding>,
    /// Properties of the recording.
    pub recording: Recording,
    /// Rounds in the table.
    pub rounds: u32,
    /// Direction of the leading edges.
    pub orientation: Orientation,
}

/// Converts a capture to observations, from its frames or from its pulses and a list of counts.
///
/// # Errors
/// A damaged recording, with the place; a recording without a frame; a pulse that does not fit the
/// list.
pub fn capture(input: Input, options: &Options) -> Result<Captured> {
    let mut gathered = Gathered::new(options);
    let recording = gathered.read(input, options)?;
    gathered.captured(recording, options)
}

/// The crystal of a recorder by a recording of reference intervals alone.
///
/// # Errors
/// As for [`capture`], or a recording without reference intervals or without a stated rate.
pub fn calibrate(input: Input, options: &Options, reference: Reference) -> Result<Crystal> {
    let mut gathered = Gathered::new(options);
    let recording = gathered.read(input, options)?;
    let stated_hz = recording.hz.ok_or_else(|| Error::Unusable(format!("it {NO_RATE}")))?;
    let clock = Clock { hz: recording.hz, quantum: gathered.quantum(&recording) };
    let (rate, doubt) = gathered.rate(clock, reference)?;
    Ok(Crystal { doubt, ..Crystal::new(stated_hz, rate) })
}

/// The data gathered from the edges.
struct Gathered {
    decoder: Decoder,
    collector: Collector,
    by_list: bool,
    /// Pulses outside of frames, and all of them, for a list of counts.
    pulses: Vec<Pulse>,
    all_pulses: Pulses,
    outside: u64,
    /// Whether pulses outside of frames may be a reference.
    may_calibrate: bool,
    /// Leading edge of the last pulse outside of frames, and the distances of these.
    last: Option<f64>,
    distances: Vec<f64>,
    /// Why the recording is refused: a frame that does not match the others, or too many pulses.
    refused: Option<String>,
    edges: u64,
    /// Edges behind the last whole frame.
    since_frame: u64,
    /// Edges at the same time as the one before.
    at_once: u64,
    last_edge: Option<f64>,
    lattice: Lattice,
    /// What the last edge completed: empty, and kept for its memory.
    items: Vec<Item>,
}

impl Gathered {
    fn new(options: &Options) -> Gathered {
        Gathered {
            decoder: Decoder::new(options.orientation),
            collector: Collector::new(options.components.clone()),
            by_list: options.ks.is_some(),
            pulses: Vec::new(),
            all_pulses: Pulses::new(options.orientation),
            outside: 0,
            last: None,
            may_calibrate: options.reference.is_some(),
            distances: Vec::new(),
            refused: None,
            edges: 0,
            since_frame: 0,
            at_once: 0,
            last_edge: None,
            lattice: Lattice::default(),
            items: Vec::new(),
        }
    }

    /// Reads the recording, up to where it is known to be of no use.
    fn read(&mut self, input: Input, options: &Options) -> Result<Recording> {
        let stopped = &options.request.stopped;
        stopped.set(false);
        let recording = read_edges(input, options.format, &options.request, &mut |edge| {
            self.edge(edge);
            if self.refused.is_some() {
                stopped.set(true);
            }
        });
        match self.refused.take() {
            Some(reason) => Err(Error::Unusable(reason)),
            None => recording.and_then(possible).map(|recording| {
                self.end();
                Recording { exact: recording.exact || options.exact_clock, ..recording }
            }),
        }
    }

    fn edge(&mut self, edge: Edge) {
        self.edges += 1;
        if self.edges > MOST_WITHOUT_FRAME
            && !self.by_list
            && self.collector.frames == 0
            && self.collector.intervals.is_empty()
        {
            self.refused.get_or_insert_with(|| {
                format!(
                    "no whole frame of the header pattern in the first {MOST_WITHOUT_FRAME} edges, \
                     so the rest is not read: is it the right channel?"
                )
            });
        }
        self.since_frame += 1;
        if self.since_frame > MOST_BEHIND_FRAME && !self.by_list {
            self.refused.get_or_insert_with(|| {
                format!(
                    "no whole frame in the {MOST_BEHIND_FRAME} edges behind the last one, so the \
                     rest is not read: cut the recording behind its frames"
                )
            });
        }
        self.at_once += u64::from(self.last_edge == Some(edge.at));
        self.last_edge = Some(edge.at);
        self.lattice.push(edge.at);
        if self.by_list && self.all_pulses.pulses.len() < MOST_PULSES {
            self.all_pulses.push(edge);
        }
        let mut items = std::mem::take(&mut self.items);
        self.decoder.push(edge, &mut |item| items.push(item));
        if !items.is_empty() {
            items.drain(..).for_each(|item| self.take(item));
        }
        self.items = items;
    }

    fn end(&mut self) {
        let mut items = Vec::new();
        self.decoder.finish(&mut |item| items.push(item));
        items.into_iter().for_each(|item| self.take(item));
    }

    fn take(&mut self, item: Item) {
        match item {
            Item::Frame(frame) => {
                self.since_frame = 0;
                if let Err(reason) = self.collector.frame(&frame) {
                    self.refused.get_or_insert(reason);
                }
            }
            Item::Problem(problem) => self.collector.problem(problem),
            Item::Stray(pulse) => self.stray(pulse),
        }
    }

    fn stray(&mut self, pulse: Pulse) {
        self.outside += 1;
        if self.may_calibrate && self.distances.len() < MOST_PULSES {
            self.distances.extend(self.last.map(|last| pulse.leading - last));
        }
        self.last = Some(pulse.leading);
        if self.by_list {
            if self.pulses.len() == MOST_PULSES {
                self.refused.get_or_insert(format!(
                    "more than {MOST_PULSES} pulses without the header pattern"
                ));
            } else {
                self.pulses.push(pulse);
            }
        }
    }

    /// Intervals of reference frames; if there are none, intervals of other pulses that are about
    /// as long.
    fn intervals(&self, hz: Option<f64>, reference: Reference) -> Vec<f64> {
        if !self.collector.intervals.is_empty() {
            return self.collector.intervals.clone();
        }
        let expected = hz.unwrap_or(1.0) * reference.seconds;
        self.distances
            .iter()
            .copied()
            .filter(|distance| (distance / expected - 1.0).abs() < 0.01)
            .collect()
    }

    fn quantum(&self, recording: &Recording) -> Option<f64> {
        quantum(recording, &self.lattice)
    }

    /// The rate by the reference intervals.
    fn rate(
        &self,
        Clock { hz, quantum }: Clock,
        reference: Reference,
    ) -> Result<(Rate, Option<Finding>)> {
        let intervals = self.intervals(hz, reference);
        if let (true, Some(damaged)) =
            (intervals.is_empty(), self.collector.damaged_reference.as_ref())
        {
            return Err(Error::Unusable(format!(
                "--reference: the frame of the reference is damaged, {}: {}; send several such \
                 frames, or record it again",
                at(damaged.at, hz),
                damaged.reason
            )));
        }
        let (rate, doubt) = calibration(&intervals, hz, reference, quantum)?;
        let kind = |doubt| match doubt {
            Doubt::Dropped { intervals: dropped, ticks } => ReferenceFinding::SamplesDropped {
                intervals: dropped,
                of: intervals.len(),
                samples: ticks / quantum.unwrap_or(1.0),
            },
            Doubt::Far { off_ppm } => ReferenceFinding::ReferenceFar { off_ppm },
            Doubt::Unchecked { off_ppm } => {
                ReferenceFinding::ReferenceUnchecked { intervals: intervals.len(), off_ppm }
            }
        };
        Ok((rate, doubt.map(|doubt| Finding::new(Severity::Warning, kind(doubt)))))
    }

    fn captured(mut self, recording: Recording, options: &Options) -> Result<Captured> {
        if let Some(reason) = self.refused {
            return Err(Error::Unusable(reason));
        }
        let by_reference = options.reference.filter(|_| options.crystal.is_none());
        let clock = Clock { hz: recording.hz, quantum: self.quantum(&recording) };
        let (calibrated, doubt) =
            by_reference.map(|reference| self.rate(clock, reference)).transpose()?.unzip();
        let rate = known_rate(&recording, options, calibrated)?;
        let of_reference = doubt
            .flatten()
            .or_else(|| options.crystal.as_ref().and_then(|crystal| crystal.doubt.clone()));
        let hz = rate.as_ref().map(|rate| rate.hz).or(recording.hz);
        if self.edges == 0 {
            return Err(Error::Unusable(self.no_frame(&recording, options, hz)));
        }
        let trimmed_off = self.assign_list(options, Clock { hz, ..clock })?;
        if self.collector.frames == 0 {
            return Err(Error::Unusable(self.no_frame(&recording, options, hz)));
        }
        self.collector.all_names_used().map_err(Error::Unusable)?;
        let orientation = self.decoder.orientation();
        let outside = if self.by_list { 0 } else { self.outside };
        let mut findings = remarks(&recording, hz);
        findings.extend(of_reference);
        findings.extend(unnamed(&recording, options));
        findings.extend(doubts(&self.collector, outside, options.request.method, &recording, hz));
        findings.extend(trimmed_off);
        let rounds = self.collector.frames;
        let may_be_locked = self.collector.phases().coverage().may_be_locked();
        let Some((mut table, doubted)) = self.collector.finish() else {
            return Err(Error::Unusable("no frame".into()));
        };
        if doubted > 0 {
            findings.push(Finding::new(
                Severity::Warning,
                PulseFinding::PulsesDoubted { pulses: doubted, of: table.readings().len() },
            ));
        }
        let averaged = recording.signal.as_ref().map_or(1, |signal| signal.averaged.max(1)) as f64;
        if let Some(signal) = &recording.signal {
            let needed = distance_needed(signal, options.request.method)
                .max(clear_width(signal, &table) / averaged);
            let short;
            (table, short) = leave_out_short(table, needed * averaged);
            findings.extend(short.map(|short| too_short(short, needed, averaged)));
            table.origin.reading_bound = reading_bound(signal, &table, may_be_locked);
            findings.extend(neighbours_unknown(signal, &table));
        }
        table.origin.clock = Some(clock_name(&recording, options.request.method));
        let between = |signal| quantum_of_edges(signal, options.request.method);
        table.origin.granularity = clock.quantum.or(recording.signal.as_ref().map(between));
        table.origin.rate = rate;
        carry(&findings, &mut table.origin);
        Ok(Captured { table, findings, recording, rounds, orientation })
    }

    /// Assigns the pulses to the list of counts, if there is one. Returns a finding if incomplete
    /// rounds are left out.
    fn assign_list(&mut self, options: &Options, clock: Clock) -> Result<Option<Finding>> {
        let Some(ks) = &options.ks else { return Ok(None) };
        if self.collector.frames > 0 {
            return Err(Error::Unusable(
                "the recording has the header pattern, which gives the counts of each pulse: leave \
                 --k out".into(),
            ));
        }
        let counts: Vec<Vec<f64>> = ks.iter().map(|k| vec![*k]).collect();
        // A preamble that pulses make by chance is no frame.
        let is_by_chance = self.collector.left_out > 0 && self.collector.intervals.is_empty();
        let pulses_of_list =
            if is_by_chance { &self.all_pulses.pulses[..] } else { &self.pulses[..] };
        let (pulses, before, after) =
            if options.trim { trimmed(pulses_of_list, ks, clock)? } else { (pulses_of_list, 0, 0) };
        let rounds = assign(pulses, ks, clock)?;
        if is_by_chance {
            self.collector.forget_problems();
        }
        for round in rounds {
            self.collector.round(&counts, &round).map_err(Error::Unusable)?;
        }
        let is_trimmed = before + after > 0;
        Ok(is_trimmed
            .then(|| Finding::new(Severity::Note, PulseFinding::RoundsTrimmed { before, after })))
    }

    fn no_frame(&self, recording: &Recording, options: &Options, hz: Option<f64>) -> String {
        let seen_edges = match self.edges {
            0 if is_undefined(recording) => {
                format!(
                    "the level of channel `{}` is undefined (x, z) where it would change",
                    recording.channel
                )
            }
            0 => format!("channel `{}` never changes its level", recording.channel),
            edges => format!(
                "no whole frame of the header pattern in {edges} edges of channel `{}`",
                recording.channel
            ),
        };
        let first = self.collector.problems.first().map(|problem| {
            format!("; the first frame, {}: {}", at(problem.at, hz), problem.reason)
        });
        if self.at_once > 0 {
            let coarse =
                "the unit of the file's times is too coarse for this pin; record with a finer one";
            return format!(
                "{seen_edges}, {} of them at the same time as the one before: {coarse}",
                self.at_once
            );
        }
        let advice = match options.orientation {
            Some(_) => "; without --polarity the header tells the idle level",
            None if self.edges > 0 => {
                "; a pin without it needs --k, as --k 1..20; --edges lists what was found"
            }
            None => ": is it the right one?",
        };
        format!("{seen_edges}{}{advice}", first.unwrap_or_default())
    }
}

/// The step of the edges' times; `None` if they are found between samples.
pub(crate) fn quantum(recording: &Recording, lattice: &Lattice) -> Option<f64> {
    let sampled = || recording.hz.filter(|_| !recording.exact).and_then(|hz| lattice.period(hz));
    recording.granularity.map(|stated| sampled().map_or(stated, |period| period.max(stated)))
}

/// Refuses a recording at a rate that no recorder has.
pub(crate) fn possible(recording: Recording) -> Result<Recording> {
    match recording.hz.filter(|hz| !RATES.contains(hz)) {
        Some(hz) => Err(Error::Unusable(format!(
            "the rate is {hz:e} Hz by the file, expected {:e} to {:e} Hz",
            RATES.start(),
            RATES.end()
        ))),
        None => Ok(recording),
    }
}

/// Whether the channel has undefined levels.
fn is_undefined(recording: &Recording) -> bool {
    recording.remarks.iter().any(|remark| matches!(remark, Remark::Undefined { .. }))
}

/// The channel and the source of the quantum: for a sampled signal it is the bias of the method.
fn clock_name(recording: &Recording, method: Method) -> String {
    let number = recording.channel.bytes().all(|byte| byte.is_ascii_digit());
    let channel =
        if number { format!("channel {}", recording.channel) } else { recording.channel.clone() };
    match recording.granularity {
        Some(_) => format!("{RECORDING}{channel}"),
        None => {
            format!("{RECORDING}{channel}, the quantum being the bias of {} edges", method.name())
        }
    }
}

/// The rate: calibrated, or from the file.
pub(crate) fn known_rate(
    recording: &Recording,
    options: &Options,
    calibrated: Option<Rate>,
) -> Result<Option<Rate>> {
    if let Some(crystal) = &options.crystal {
        let hz = recording.hz.ok_or_else(|| Error::Unusable(format!("the recording {NO_RATE}")))?;
        return Ok(Some(with_digits(crystal.rate(hz), recording)));
    }
    if calibrated.is_some() {
        return Ok(calibrated);
    }
    let is_dump = matches!(recording.format, Some(Format::Vcd | Format::Fst));
    let stated = if recording.format == Some(Format::Csv) {
        "by the times in the file"
    } else {
        "stated by the file"
    };
    let rate = recording.hz.map(|hz| match options.rate_ppm {
        Some(ppm) => Rate {
            hz,
            uncertainty_ppm: ppm,
            provenance: format!("{stated}, its uncertainty by --rate-ppm"),
        },
        None if options.exact_clock => Rate {
            hz,
            uncertainty_ppm: 0.0,
            provenance: format!("{stated}, exact by --exact-clock"),
        },
        None if recording.exact => Rate {
            hz,
            uncertainty_ppm: 0.0,
            provenance: "stated by the file of a simulator, exact".into(),
        },
        None if is_dump => Rate {
            hz,
            uncertainty_ppm: CRYSTAL_PPM,
            provenance: format!(
                "{stated}, taken as a crystal within 100 ppm because no simulator is named \
                 (--exact-clock)"
            ),
        },
        None => Rate {
            hz,
            uncertainty_ppm: CRYSTAL_PPM,
            provenance: format!("{stated}, a crystal within 100 ppm (--reference)"),
        },
    });
    Ok(rate.map(|rate| with_digits(rate, recording)))
}

/// A rate with what the digits of the file's times leave open.
fn with_digits(rate: Rate, recording: &Recording) -> Rate {
    match recording.rate_ppm.filter(|ppm| *ppm > 0.1) {
        Some(ppm) => Rate {
            uncertainty_ppm: hypot(rate.uncertainty_ppm, ppm),
            provenance: format!("{}, digits of the times {ppm:.0} ppm", rate.provenance),
            ..rate
        },
        None => rate,
    }
}
