//! Figures of captures for the benchmark `capture`: one JSON object on standard output, or a
//! recording.
//!
//!     capture-figures accuracy       the three estimators on known edges, with and without noise
//!     capture-figures coverage N     share of N simulated captures whose interval holds the truth
//!     capture-figures wav SECONDS    a sound of 192 kHz and 24 bits with frames, to standard out
//!     capture-figures vcd FRAMES     a value change dump with frames, to standard out
//!     capture-figures speed FILE CHANNEL N
//!                                    that file read N times by Hairspring and by wellen in turn
//!     capture-figures hairspring | frames | wellen FILE CHANNEL
//!                                    that file read once: edges, rounds, changes

mod accuracy;
mod coverage;
mod recordings;
mod speed;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["accuracy"] => print(Ok(accuracy::figures())),
        ["coverage", captures] => captures
            .parse()
            .map_err(text)
            .and_then(|captures| print(Ok(coverage::figures(captures)))),
        ["wav", seconds] => seconds.parse().map_err(text).and_then(recordings::wav),
        ["vcd", frames] => frames.parse().map_err(text).and_then(recordings::vcd),
        ["speed", file, channel, times] => {
            let times = times.parse().map_err(text);
            times.and_then(|times| print(speed::figures(file, channel, times)))
        }
        ["hairspring", file, channel] => print(speed::hairspring(file, channel)),
        ["frames", file, channel] => print(speed::frames(file, channel)),
        ["wellen", file, channel] => print(speed::wellen(file, channel)),
        _ => Err("see the head of src/main.rs".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("capture-figures: {reason}");
            ExitCode::from(1)
        }
    }
}

fn print(figures: Result<impl std::fmt::Display, String>) -> Result<(), String> {
    figures.map(|figures| println!("{figures}"))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
