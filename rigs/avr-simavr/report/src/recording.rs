//! The output of the simulator, and its recording through the front end.

use crate::front_end::{FrontEnd, Transition};
use crate::{AnyError, named};
use hairspring_capture::calibrate::{Reference, rate};
use hairspring_capture::edge::{Detector, Edge, Method};
use hairspring_capture::pattern::{Decoder, Frame, Item, Kind, Pulse};
use hairspring_core::observations::Rate;
use std::path::Path;

/// Clock of the simulated chip, in Hz; a tick of its time is a microsecond.
pub const CHIP_HZ: f64 = 1e6;
/// Smallest difference of two samples that can be an edge.
const FLOOR: f64 = 1e-4;

/// The simulator's list of edges: `cycle level` on each line.
pub fn transitions(path: &Path) -> Result<Vec<Transition>, AnyError> {
    let text = std::fs::read_to_string(path).map_err(|e| named(path, &e))?;
    let parse = |line: &str| {
        let (cycle, level) = line.split_once(' ')?;
        Some(Transition { cycle: cycle.parse().ok()?, rising: level == "1" })
    };
    let lines = text.lines().enumerate();
    lines
        .map(|(at, line)| {
            parse(line).ok_or_else(|| named(path, &format!("line {}: `{line}` is no edge", at + 1)))
        })
        .collect()
}

/// The edges themselves, in cycles.
pub fn exact(transitions: &[Transition]) -> Vec<Edge> {
    transitions.iter().map(|edge| Edge { at: edge.cycle as f64, rising: edge.rising }).collect()
}

/// The edges that each method finds in a recording, in samples.
pub fn heard(
    transitions: &[Transition],
    front_end: &FrontEnd,
    methods: &[Method],
    seed: u64,
) -> Result<Vec<Vec<Edge>>, AnyError> {
    let mut detectors: Vec<(Detector, Vec<Edge>)> =
        methods.iter().map(|method| (Detector::new(*method, FLOOR), Vec::new())).collect();
    let mut failed = None;
    front_end.record(transitions, CHIP_HZ, seed, &mut |samples| {
        for (detector, edges) in &mut detectors {
            failed = failed.take().or(detector.push(samples, &mut |edge| edges.push(edge)).err());
        }
    });
    for (detector, edges) in &mut detectors {
        failed = failed.take().or(detector.finish(&mut |edge| edges.push(edge)).err());
    }
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(detectors.into_iter().map(|(_, edges)| edges).collect()),
    }
}

/// The frames of the pattern.
///
/// # Errors
/// If a frame was left out: everything that the firmware sends must be decoded.
pub fn frames(edges: &[Edge]) -> Result<Vec<Frame>, AnyError> {
    let (mut decoder, mut frames, mut problem) = (Decoder::new(None), Vec::new(), None);
    let mut take = |item| match item {
        Item::Frame(frame) => frames.push(frame),
        Item::Problem(found) => problem = problem.take().or(Some(found)),
        _ => {}
    };
    edges.iter().for_each(|edge| decoder.push(*edge, &mut take));
    decoder.finish(&mut take);
    match problem {
        Some(found) => {
            Err(format!("a frame is left out at {:.1}: {}", found.at, found.reason).into())
        }
        None => Ok(frames),
    }
}

/// Pulses without a header: a leading and a trailing edge in turn.
pub fn pulses(edges: &[Edge]) -> Result<Vec<Pulse>, AnyError> {
    let in_turn =
        edges.chunks_exact(2).all(|pair| pair[0].rising && !pair[1].rising) && edges.len() % 2 == 0;
    if !in_turn {
        return Err("the edges do not rise and fall in turn".into());
    }
    Ok(edges
        .chunks_exact(2)
        .map(|pair| Pulse { leading: pair[0].at, trailing: pair[1].at })
        .collect())
}

/// The recorder's rate by the reference frames, which are taken out: intervals of 1 s of the chip's
/// timer.
pub fn calibrated(frames: Vec<Frame>, stated_hz: f64) -> Result<(Rate, Vec<Frame>), AnyError> {
    let (references, rest): (Vec<Frame>, Vec<Frame>) =
        frames.into_iter().partition(|frame| matches!(frame.kind, Kind::Reference(_)));
    let between = |frame: &Frame| {
        frame.pulses.windows(2).map(|pair| pair[1].leading - pair[0].leading).collect::<Vec<f64>>()
    };
    let intervals: Vec<f64> = references.iter().flat_map(between).collect();
    Ok((
        rate(&intervals, Some(stated_hz), Reference { seconds: 1.0, uncertainty_ppm: 0.0 }, None)?,
        rest,
    ))
}
