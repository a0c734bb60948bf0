//! Plots of a recording for a page: its first edges, and the signal around one of them.

use super::CaptureArguments;
use super::input;
use hairspring_capture::edge::Edge;
use hairspring_capture::read::Recording;
use hairspring_capture::{Options, read_edges};
use hairspring_page::svg::{Plot, edges, signal};
use hairspring_view::clean::{clean, cut};
use hairspring_view::format::time_unit;
use std::path::Path;

/// Edges that are drawn.
const MOST_EDGES: usize = 200;

/// The plots. Those that cannot be made are left out, as the report is complete without them: the
/// edges of a recording that came by a pipe are gone.
pub fn plots(arguments: &CaptureArguments, options: &Options, recording: &Recording) -> Vec<Plot> {
    edge_plot(arguments, options, recording).into_iter().chain(signal_plot(recording)).collect()
}

/// The level of the pin up to its first edges, which are read again.
fn edge_plot(
    arguments: &CaptureArguments,
    options: &Options,
    recording: &Recording,
) -> Option<Plot> {
    let path = Some(&arguments.file).filter(|path| path.as_path() != Path::new("-"))?;
    let mut first: Vec<(f64, bool)> = Vec::new();
    let mut sink = |edge: Edge| {
        if first.len() < MOST_EDGES {
            first.push((edge.at, edge.rising));
        }
    };
    read_edges(input(path).ok()?, options.format, &options.request, &mut sink).ok()?;
    let (begin, end) = (first.first()?.0, first.last()?.0);
    let (factor, unit) = in_time((end - begin).abs(), recording.hz);
    let shown: Vec<(f64, bool)> =
        first.iter().map(|(at, rising)| ((at - begin) * factor, *rising)).collect();
    let pin =
        arguments.channel.as_deref().map_or_else(|| "the pin".into(), |pin| cut(&clean(pin), 40));
    edges("edges", &pin, &shown, unit)
}

fn signal_plot(recording: &Recording) -> Option<Plot> {
    let window = recording.signal.as_ref()?.window.as_ref()?;
    let samples: Vec<f64> = window.samples.iter().map(|sample| f64::from(*sample)).collect();
    let (factor, unit) = in_time(samples.len() as f64 * window.every, recording.hz);
    let edge = (window.edge.at - window.first) / window.every;
    signal("signal", &samples, Some(edge), window.every * factor, unit)
}

/// Factor and unit for a time in ticks of a recording.
fn in_time(ticks: f64, hz: Option<f64>) -> (f64, &'static str) {
    let Some(ns) = hz.map(|hz| 1e9 / hz).filter(|ns| ns.is_finite()) else { return (1.0, "ticks") };
    let (factor, unit) = time_unit(ticks * ns);
    (ns * factor, unit)
}
