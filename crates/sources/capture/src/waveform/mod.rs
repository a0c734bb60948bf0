//! Statistics of a pin without frames: widths, periods, duty cycle and jitter, over recordings of
//! any length.

pub mod counts;
pub mod document;
mod quantity;
mod summary;
mod text;

pub use summary::{Distribution, Summary};
pub use text::waveform as text;

use crate::capture::{
    Input, Options, known_rate, possible, quantum, read_edges, recording_findings, unnamed,
};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::read::Recording;
use crate::signal::quantum_of_edges;
use hairspring_core::Estimate;
use hairspring_core::judge::Finding;
use hairspring_core::observations::Rate;
use hairspring_core::quantum::Lattice;
use quantity::Quantity;

/// Bins of a distribution in a tick, for edges that are found between samples.
const BINS_OF_A_TICK: f64 = 1024.0;

/// The quantities of a waveform, in the order of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From one rising edge to the next.
    Period,
    /// From a rising edge to the falling one.
    High,
    /// From a falling edge to the rising one.
    Low,
    /// A period minus the one before.
    CycleToCycle,
    /// The share of a period at the high level.
    Duty,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] =
        [Kind::Period, Kind::High, Kind::Low, Kind::CycleToCycle, Kind::Duty];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Period => "period",
            Kind::High => "high",
            Kind::Low => "low",
            Kind::CycleToCycle => "cycle_to_cycle",
            Kind::Duty => "duty_cycle",
        }
    }
}

/// Collects the edges of a waveform.
#[derive(Debug, Clone)]
struct Collector {
    /// The last rising and the last falling edge.
    rising: Option<f64>,
    falling: Option<f64>,
    period: Option<f64>,
    quantities: [Quantity; 5],
    ends: Option<(f64, f64)>,
    lattice: Lattice,
}

impl Collector {
    fn new() -> Collector {
        let width = |kind: Kind| match kind {
            Kind::Duty => 1.0 / 65_536.0,
            _ => 1.0 / BINS_OF_A_TICK,
        };
        Collector {
            rising: None,
            falling: None,
            period: None,
            quantities: Kind::ALL.map(|kind| Quantity::new(width(kind))),
            ends: None,
            lattice: Lattice::default(),
        }
    }

    fn push(&mut self, edge: Edge) {
        let at = edge.at;
        self.ends = Some((self.ends.map_or(at, |(first, _)| first), at));
        self.lattice.push(at);
        if edge.rising { self.rise(at) } else { self.fall(at) }
    }

    fn rise(&mut self, at: f64) {
        let [period, _, low, cycle_to_cycle, duty] = &mut self.quantities;
        if let Some(falling) = self.falling {
            low.push(at - falling, at);
        }
        if let Some(rising) = self.rising {
            let length = at - rising;
            period.push(length, at);
            if let Some(before) = self.period.replace(length) {
                cycle_to_cycle.push(length - before, at);
            }
            if let Some(falling) = self.falling.filter(|falling| *falling >= rising && length > 0.0)
            {
                duty.push((falling - rising) / length, at);
            }
        }
        self.rising = Some(at);
    }

    fn fall(&mut self, at: f64) {
        if let Some(rising) = self.rising {
            self.quantities[1].push(at - rising, at);
        }
        self.falling = Some(at);
    }
}

/// A waveform that was read.
#[derive(Debug, Clone)]
pub struct Waveform {
    /// Properties of the recording.
    pub recording: Recording,
    /// Its rate.
    pub rate: Rate,
    /// What is known of each quantity, in the order of [`Kind::ALL`]; none without a value.
    pub summaries: Vec<Summary>,
    /// From the first edge to the last, in seconds.
    pub seconds: f64,
    /// Step of the edges' times, in seconds; 0 if they are known between samples.
    pub quantum_s: f64,
    /// Findings about the recording.
    pub findings: Vec<Finding>,
}

impl Waveform {
    /// Pulses per second: 1 over the mean period.
    pub fn frequency(&self) -> Option<Estimate> {
        let period = self.summaries.iter().find(|summary| summary.kind == Kind::Period)?.mean;
        let hz = |ns: f64| 1e9 / ns;
        let is_known = period.low > 0.0 && period.high.is_finite();
        is_known.then(|| Estimate {
            value: hz(period.value),
            low: hz(period.high),
            high: hz(period.low),
            level: period.level,
        })
    }
}

/// Reads the statistics of the pulses of a channel. Memory does not grow with the recording. Cost:
/// that of reading the edges.
///
/// # Errors
/// What is wrong with the recording, with the place; a recording without a rate or without a pulse.
pub fn waveform(input: Input, options: &Options, level: f64) -> Result<Waveform> {
    let mut collector = Collector::new();
    let recording = read_edges(input, options.format, &options.request, &mut |edge| {
        collector.push(edge);
    })?;
    let recording = possible(recording)?;
    let recording = Recording { exact: recording.exact || options.exact_clock, ..recording };
    let Some(rate) = known_rate(&recording, options, None)? else {
        return Err(Error::Unusable(
            "the recording states no sample rate, so its pulses have no time".into(),
        ));
    };
    let seconds = collector.ends.map_or(0.0, |(first, last)| (last - first) / rate.hz);
    let between = |signal| quantum_of_edges(signal, options.request.method);
    let step = quantum(&recording, &collector.lattice)
        .or(recording.signal.as_ref().map(between))
        .unwrap_or(0.0);
    let period = collector.quantities[0].moments.mean();
    let step_of = |kind: Kind| match kind {
        Kind::Duty if period > 0.0 => step / period,
        _ => step,
    };
    let summaries: Vec<Summary> = Kind::ALL
        .into_iter()
        .zip(&collector.quantities)
        .filter_map(|(kind, of)| Summary::new(kind, of, step_of(kind), &rate, level))
        .collect();
    if summaries.is_empty() {
        return Err(Error::Unusable(format!(
            "channel `{}` has {} edges, which are no whole pulse: is it the right one?",
            recording.channel, recording.edges
        )));
    }
    let mut findings = recording_findings(&recording);
    findings.extend(unnamed(&recording, options));
    Ok(Waveform { seconds, quantum_s: step / rate.hz, rate, summaries, findings, recording })
}
