//! The channel of a sound file that is the pin, and how far the other channels swing.

use super::rails::Rails;
use crate::edge::{Detector, Edge};
use crate::error::{Error, Result};
use crate::read::{Format, Recording, Remark, Request, choose};
use std::cell::Cell;
use std::rc::Rc;

/// Maximum number of channels whose swings are compared, and the samples in which they are.
const MOST_LOOKED_AT: usize = 16;
const LOOKED_AT: usize = 1 << 21;

/// Passes the samples of one channel to the detector.
pub(super) struct Pin {
    names: Vec<String>,
    channel: usize,
    /// Whether nobody chose the channel though there are others.
    assumed: bool,
    hz: f64,
    detector: Detector,
    values: Vec<f32>,
    swings: Swings,
    /// Extremes of floats, whose full scale is not 1 where they are volts.
    rails: Option<Rails>,
    stopped: Rc<Cell<bool>>,
}

impl Pin {
    /// The requested channel; `floor` is the smallest difference of two samples that can be an
    /// edge.
    pub(super) fn new(request: &Request, channels: u32, hz: f64, floor: f64) -> Result<Pin> {
        request.stated.set(Some(hz));
        let names: Vec<String> = (1..=channels).map(|n| n.to_string()).collect();
        let wanted_channel = match request.channel.as_deref() {
            None | Some("left") => "1",
            Some("right") => "2",
            Some(wanted) => wanted,
        };
        let channel = choose(&names, Some(wanted_channel))?;
        let assumed = request.channel.is_none() && names.len() > 1;
        Ok(Pin {
            swings: Swings::new(if assumed { names.len() } else { 0 }),
            names,
            channel,
            assumed,
            hz,
            detector: Detector::new(request.method, floor),
            values: Vec::new(),
            rails: None,
            stopped: request.stopped.clone(),
        })
    }

    /// The same for samples that are floats.
    pub(super) fn of_floats(self, are_floats: bool) -> Pin {
        Pin { rails: are_floats.then(Rails::default), ..self }
    }

    /// Takes samples; `of` appends those of a channel to a list.
    pub(super) fn push(
        &mut self,
        of: impl Fn(usize, &mut Vec<f32>),
        sink: &mut dyn FnMut(Edge),
    ) -> Result<()> {
        self.swings.look(&of, &mut self.values);
        self.values.clear();
        of(self.channel, &mut self.values);
        if let Some(rails) = &mut self.rails {
            rails.push(&self.values);
        }
        self.detector.push(&self.values, sink).map_err(|error| self.swings.with_others(error))?;
        // The rest of the file is of no use to whoever takes the edges.
        if self.stopped.get() {
            Err(Error::Unusable("the rest is not read".into()))
        } else {
            Ok(())
        }
    }

    /// What was read.
    pub(super) fn finish(
        mut self,
        mut remarks: Vec<Remark>,
        sink: &mut dyn FnMut(Edge),
    ) -> Result<Recording> {
        self.detector
            .finish(sink)
            .map_err(|error| self.swings.with_others(with_remarks(error, &remarks)))?;
        let mut signal = self.detector.signal();
        if let Some(rails) = self.rails.filter(Rails::is_beyond) {
            (signal.clipped, signal.first_clipped) = rails.clipped();
            signal.cut_steps = 0;
        }
        if self.assumed {
            remarks.push(Remark::OtherChannels { taken: "1".into(), all: self.names.clone() });
        }
        Ok(Recording {
            format: Some(Format::Sound),
            channel: self.names[self.channel].clone(),
            hz: Some(self.hz),
            rate_ppm: None,
            granularity: None,
            exact: false,
            unnamed: false,
            edges: signal.edges,
            signal: Some(signal),
            remarks,
        })
    }
}

/// Adds to an error that the file is cut or has wrong sizes, which may be the reason.
fn with_remarks(error: Error, remarks: &[Remark]) -> Error {
    let also = remarks.iter().find_map(|remark| match remark {
        Remark::Truncated { place, reason } => Some(format!("the file is cut, {place}: {reason}")),
        Remark::WrongSizes { stated, actual } if *stated > 0 => {
            Some(format!("its header states {stated} bytes of samples, but there are {actual}"))
        }
        _ => None,
    });
    also.map_or(error.clone(), |also| Error::Unusable(format!("{error}; {also}")))
}

/// Range of each channel in the first samples if no channel was requested: the pin may be on
/// another one than the first.
#[derive(Debug)]
struct Swings {
    channels: Vec<(f32, f32)>,
    samples_left: usize,
}

impl Swings {
    fn new(channels: usize) -> Swings {
        let compared = if channels <= MOST_LOOKED_AT { channels } else { 0 };
        Swings {
            channels: vec![(f32::INFINITY, f32::NEG_INFINITY); compared],
            samples_left: LOOKED_AT,
        }
    }

    fn look(&mut self, of: impl Fn(usize, &mut Vec<f32>), values: &mut Vec<f32>) {
        if self.samples_left == 0 || self.channels.is_empty() {
            return;
        }
        for (at, range) in self.channels.iter_mut().enumerate() {
            values.clear();
            of(at, values);
            *range = values
                .iter()
                .fold(*range, |range, value| (range.0.min(*value), range.1.max(*value)));
        }
        self.samples_left = self.samples_left.saturating_sub(values.len());
    }

    /// Adds the channels and their swings to an error.
    fn with_others(&self, error: Error) -> Error {
        if self.channels.is_empty() {
            return error;
        }
        let swing = |(at, range): (usize, &(f32, f32))| {
            format!("channel {} {:.4}", at + 1, (range.1 - range.0).max(0.0))
        };
        let all_swings: Vec<String> = self.channels.iter().enumerate().map(swing).collect();
        Error::Unusable(format!(
            "{error}; channel 1 of {} was read because no --channel was given; swing as a \
             fraction of full scale: {}",
            all_swings.len(),
            all_swings.join(", ")
        ))
    }
}
