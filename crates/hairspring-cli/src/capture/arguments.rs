//! The command line of `capture`.

use crate::arguments::ReportArguments;
use clap::{Args, ValueEnum};
use hairspring_capture::arguments::{self, component};
use hairspring_program::values::seconds;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Reads sound (WAV, FLAC, AIFF, ...), VCD and FST (simulators, logic analysers), sigrok sessions \
(.sr), files of logic analysers and oscilloscopes, CSV of these, and lists of edges; gz, xz and \
zst of all.
The header pattern of spec/capture.md, or --k, says which pulse has which k.

Examples:
  hairspring capture pin.wav                        frames with the header pattern
  hairspring capture trace.vcd --channel PORTB[7]   a bit of a simulator's dump
  hairspring capture pin.wav --reference 1s         in the chip's time: the recording holds its 1 \
s frames
  hairspring capture pin.csv --k 1..20              a pin without the pattern: 1 to 20 copies, \
repeated
  hairspring capture pin.wav --edges                only the times of the edges
  hairspring capture clock.sr --pulses              periods, widths, duty cycle and jitter
  arecord -f S24_3LE -r 192000 -d 60 | hairspring capture -";

/// Formats of recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArgument {
    /// Value change dump
    Vcd,
    /// Compressed dump of a simulator
    Fst,
    /// Sound: WAV, RF64, W64, AIFF, AU, CAF, FLAC
    #[value(alias = "wav")]
    Sound,
    /// Archive: sigrok session (.sr), DSView (.dsl), Power Profiler (.ppk2)
    Sigrok,
    /// Binary of a logic analyser or an oscilloscope: Saleae, Tektronix, LeCroy, Keysight, Rigol,
    /// Siglent
    Instrument,
    /// Table of samples, changes or edges
    Csv,
}

/// How edges are found between samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EdgeMethod {
    /// Maximum of the slope behind a low pass
    BandLimited,
    /// Zero crossing of the second derivative, by a straight line
    Inflection,
    /// The same by a parabola through three points, as in the report
    ThreePoint,
}

/// The edge before the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Polarity {
    /// Low when idle
    Rising,
    /// High when idle
    Falling,
}

/// Where the counts come from.
#[derive(Debug, Clone, PartialEq)]
pub enum CountsArgument {
    /// The header pattern.
    Pattern,
    /// A list that repeats.
    List(Vec<f64>),
}

/// Solve a recording of a pin, made by a sound card, a simulator or a logic analyser
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CaptureArguments {
    /// The recording, or - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The channel, by its name or its number from 1; in a sound file also left or right
    /// [default: the only one, or the first of a sound file]
    #[arg(long, value_name = "NAME|N")]
    pub channel: Option<String>,
    /// The format [default: detected from its content]
    #[arg(long, value_enum)]
    pub format: Option<FormatArgument>,
    /// How edges are found between samples
    #[arg(long, value_enum, default_value = "band-limited")]
    pub method: EdgeMethod,
    /// The edge before the code [default: from the header pattern; without it, the first edge]
    #[arg(long, value_enum)]
    pub polarity: Option<Polarity>,
    /// Counts of the pulses: pattern, or a list that repeats, such as 1..20 or 1,10,55
    #[arg(long, value_name = "LIST|pattern", default_value = "pattern", value_parser = counts)]
    pub k: CountsArgument,
    /// Leave out incomplete rounds of the list --k at the beginning and the end of the recording
    #[arg(long)]
    pub trim: bool,
    /// Names of the components that the pattern counts
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = component)]
    pub components: Vec<String>,
    /// Length of the reference intervals in the recording: calibrates the recorder's rate
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub reference: Option<f64>,
    /// Standard uncertainty of the reference, in parts per million
    /// [default: 0, times are in the reference's time]
    #[arg(long, value_name = "PPM", requires = "reference", value_parser = ppm)]
    pub reference_ppm: Option<f64>,
    /// Another recording by the same recorder that holds the reference intervals
    #[arg(long, value_name = "FILE", requires = "reference")]
    pub reference_file: Option<PathBuf>,
    /// Standard uncertainty of the recorder's rate, in parts per million
    /// [default: 58, a crystal within 100 ppm; 0 for the VCD of a simulator]
    #[arg(long, value_name = "PPM", conflicts_with = "reference", value_parser = ppm)]
    pub rate_ppm: Option<f64>,
    /// The times are exact: a simulator wrote the file, and the file does not name it
    #[arg(long, conflicts_with_all = ["rate_ppm", "reference"])]
    pub exact_clock: bool,
    /// Print only the times of all edges in seconds, one per line
    #[arg(long, conflicts_with_all = ["json", "save", "k", "components"])]
    pub edges: bool,
    /// Print the widths, periods, duty cycle and jitter of the pulses of any pin, without a list of
    /// counts
    #[arg(long, conflicts_with_all = ["edges", "save", "k", "components", "trim", "keep_all"])]
    pub pulses: bool,
    /// Write the observations to a file, for `hairspring fit`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Use all rows, even those far off the line
    #[arg(long)]
    pub keep_all: bool,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// `pattern`, or counts and ranges of them, separated by commas.
fn counts(text: &str) -> Result<CountsArgument, String> {
    Ok(arguments::counts(text)?.map_or(CountsArgument::Pattern, CountsArgument::List))
}

fn ppm(text: &str) -> Result<f64, String> {
    let ppm = text
        .trim_end_matches("ppm")
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|ppm| (0.0..=1e5).contains(ppm));
    ppm.ok_or_else(|| "expected parts per million from 0 to 100000".into())
}
