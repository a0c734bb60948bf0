//! Figures of captures for the benchmark `capture`: one JSON object on standard output, or a
//! recording.
//!
//!     capture-figures accuracy       the three estimators on known edges, with and without noise
//!     capture-figures coverage N     share of N simulated captures whose interval holds the truth
//!     capture-figures wav SECONDS    a sound of 192 kHz and 24 bits with frames, to standard out
//!     capture-figures vcd FRAMES     a value change dump with frames, to standard out
//!     capture-figures speed FILE N   that file read N times by Hairspring and by wellen in turn

mod accuracy;
mod coverage;
mod recordings;
mod speed;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["accuracy"] => print(&accuracy::figures()),
        ["coverage", captures] => {
            captures.parse().map_err(text).and_then(|captures| print(&coverage::figures(captures)))
        }
        ["wav", seconds] => seconds.parse().map_err(text).and_then(recordings::wav),
        ["vcd", frames] => frames.parse().map_err(text).and_then(recordings::vcd),
        ["speed", file, times] => {
            times.parse().map_err(text).and_then(|times| print(&speed::figures(file, times)?))
        }
        _ => Err("accuracy, coverage N, wav SECONDS, vcd FRAMES, speed FILE N".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("capture-figures: {reason}");
            ExitCode::from(1)
        }
    }
}

fn print(figures: &serde_json::Value) -> Result<(), String> {
    println!("{figures}");
    Ok(())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
