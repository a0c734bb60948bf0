//! Tables 1 and 2 of the report by Moreno and Fischmeister, from the recordings of a cycle-exact
//! simulator, printed beside the published figures. `hairspring-avr-rig FOLDER [SEED]`;
//! `rigs/avr-simavr/tables` fills the folder, the seed is that of the noise.
//! `hairspring-avr-rig --wav EDGES FILE [SEED]` writes the recording of the simulated sound card.
//!
//! Edges, frames and calibration are found by `hairspring-capture`; all estimates are the engine's.

mod front_end;
mod print;
mod published;
mod recording;
mod steps;
mod table1;
mod table2;
mod wav;

use front_end::FrontEnd;
use hairspring_capture::edge::Method;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use table1::Recordings;

/// Any error, to be printed.
type AnyError = Box<dyn std::error::Error>;

/// A requirement with its figures.
pub struct Check {
    words: String,
    holds: bool,
}

impl Check {
    fn new(words: String, holds: bool) -> Check {
        Check { words, holds }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["--wav", edges, file] => wav::write(Path::new(edges), Path::new(file), 1).map(|()| true),
        ["--wav", edges, file, seed] => match seed.parse() {
            Ok(seed) => wav::write(Path::new(edges), Path::new(file), seed).map(|()| true),
            Err(_) => return usage(),
        },
        [folder] => run(Path::new(folder), 1),
        [folder, seed] => match seed.parse() {
            Ok(seed) => run(Path::new(folder), seed),
            Err(_) => return usage(),
        },
        _ => return usage(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hairspring-avr-rig: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: hairspring-avr-rig FOLDER [SEED]\n       hairspring-avr-rig --wav EDGES FILE \
         [SEED]\nSEED is a whole number from 0, that of the noise; 1 by default"
    );
    ExitCode::from(2)
}

/// Prints everything; returns whether all checks hold.
fn run(folder: &Path, seed: u64) -> Result<bool, AnyError> {
    let front_end = FrontEnd::default();
    let recordings = read(folder, "line.edges")?;
    let by_out = read(folder, "line-out.edges")?;
    let mut checks = table1::exact_checks(&recordings, 2.0)?;
    checks.extend(table1::exact_checks(&by_out, 1.0)?);
    let heard = recordings.heard(&front_end, &[Method::BandLimited, Method::ThreePoint], seed)?;
    let band_limited = table1::results(&heard[0], front_end.sample_hz)?;
    let three_point = table1::results(&heard[1], front_end.sample_hz)?;
    println!("{}", print::table1(&band_limited, &three_point));
    println!("{}", print::figure7(&band_limited));
    checks.extend(table1::checks(&band_limited));
    checks.extend(table1::difference_checks(&three_point));
    let (rate, _) = recording::calibrated(recording::frames(&heard[0].line)?, front_end.sample_hz)?;
    let coder = table2::Coder {
        transitions: recording::transitions(&folder.join("coder.edges"))?,
        steps: steps::read(&folder.join("coder.steps"))?,
    };
    let [blocks, edges] = coder.solved(&front_end, rate.hz, seed)?;
    let lines = steps::read_lines(&folder.join("coder.lines"))?;
    let places = steps::block_lines(&coder.steps.graph().0, &lines);
    println!("{}", print::table2(&blocks, &edges, &places, band_limited.overhead));
    checks.extend(blocks.checks("blocks"));
    checks.extend(edges.checks("edges"));
    checks.extend(published(folder, &front_end, rate.hz, seed, band_limited.overhead)?);
    for check in &checks {
        println!("{}: {}", if check.holds { "ok" } else { "FAILED" }, check.words);
    }
    Ok(checks.iter().all(|check| check.holds))
}

/// Prints Table 2 for the reference coder; returns its requirements.
fn published(
    folder: &Path,
    front_end: &FrontEnd,
    hz: f64,
    seed: u64,
    overhead: f64,
) -> Result<Vec<Check>, AnyError> {
    let coder = table2::Coder {
        transitions: recording::transitions(&folder.join("published.edges"))?,
        steps: steps::read(&folder.join("published.steps"))?,
    };
    let [blocks, _] = coder.solved(front_end, hz, seed)?;
    let lines = steps::read_lines(&folder.join("published.lines"))?;
    let (text, cells) = published::table(
        &blocks,
        &coder.steps.graph().0,
        &lines,
        &folder.join("published.names"),
        overhead - print::TOGGLE,
    )?;
    println!("{text}");
    Ok(blocks.checks("reference coder").into_iter().chain(cells).collect())
}

fn read(folder: &Path, line: &str) -> Result<Recordings<Vec<front_end::Transition>>, AnyError> {
    Ok(Recordings {
        line: recording::transitions(&folder.join(line))?,
        direct: recording::transitions(&folder.join("direct.edges"))?,
        differential: recording::transitions(&folder.join("differential.edges"))?,
    })
}

/// An error with the name of the file that it is about.
fn named(path: &Path, reason: &dyn Display) -> AnyError {
    format!("{}: {reason}", path.display()).into()
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}
