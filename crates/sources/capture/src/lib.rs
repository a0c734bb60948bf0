//! Recordings of a pin as observations (Moreno and Fischmeister, sections 5 and 6;
//! `spec/capture.md`).
//!
//! A microcontroller toggles a pin around k copies of a piece of code; a sound card, a logic
//! analyser or a simulator records the pin. The data flow:
//!
//! [`edge`]: samples -> edges, [`pattern`]: edges -> frames, [`observe`]: frames -> the engine's
//! observations.
//!
//! Everything is a stream. Errors give the place in the recording ([`error`]), and no pulse gets a
//! k that the pattern does not prove.
//!
//! ```
//! use hairspring_capture::edge::{Detector, Method};
//! use hairspring_capture::observe::Collector;
//! use hairspring_capture::pattern::{Decoder, Item, Kind, Orientation};
//! use hairspring_capture::simulate::{Converter, Pin};
//!
//! // A pin around k = 1 to 3 copies of 100 samples, with 8.5 samples of overhead, by way of a
//! // sound card.
//! let mut pin = Pin::new(20.0, Orientation::Rising);
//! pin.frame(&Kind::progression(1, 1, 3), &[108.5, 208.5, 308.5], &mut || 0.4);
//! let samples = Converter::new(0.5).sample(&pin.edges, 6000, &mut || 0.0);
//!
//! let (mut detector, mut decoder) = (Detector::new(Method::BandLimited, 1e-4),
//!     Decoder::new(None));
//! let mut frames = Vec::new();
//! let mut decode = |edge| decoder.push(edge,
//!     &mut |item| if let Item::Frame(frame) = item { frames.push(frame) });
//! detector.push(&samples, &mut decode).unwrap();
//! detector.finish(&mut decode).unwrap();
//!
//! let mut collector = Collector::new(Vec::new());
//! collector.frame(&frames[0]).unwrap();
//! let (table, _) = collector.finish().unwrap();
//! assert!((table.readings()[2].ticks - 308.5).abs() < 0.02);
//! ```

pub mod arguments;
pub mod calibrate;
mod capture;
pub mod edge;
pub mod error;
mod kinds;
mod list;
pub mod observe;
mod overhead;
pub mod pattern;
pub mod phase;
pub mod read;
mod short;
mod signal;
pub mod simulate;
pub mod text;
pub mod waveform;

pub use capture::{
    Captured, Input, Options, Source, calibrate as calibrated_crystal, capture, read_edges,
    recording_findings,
};
pub use kinds::{
    FileFinding, NeighbourFinding, OverloadFinding, PulseFinding, ReferenceFinding, SignalFinding,
};
pub use list::assign;
pub use observe::OVERHEAD;
pub use overhead::{doubt_bend, doubt_counts};
