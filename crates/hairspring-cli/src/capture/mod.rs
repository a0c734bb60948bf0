//! `hairspring capture`: a recording of a pin becomes observations, and they are solved like any others.

mod arguments;

pub use arguments::CaptureArguments;

use crate::{AnyError, Outcome, output};
use arguments::{Counts, EdgeMethod, FormatArgument, Polarity};
use hairspring_capture::calibrate::Reference;
use hairspring_capture::edge::Method;
use hairspring_capture::pattern::Orientation;
use hairspring_capture::read::{Format, Recording, Request};
use hairspring_capture::{Captured, Input, Options as CaptureOptions, calibrated_rate, capture, read_edges};
use hairspring_engine::estimate::Options;
use hairspring_engine::judge::{Question, Setting, assess};
use hairspring_engine::observations::write_csv;
use hairspring_report::{Document, Environment, Subject, json, text};
use std::fmt::{Display, Write};
use std::io::IsTerminal;
use std::path::Path;

/// Most edges that are listed: their rate is known when all of them have been read.
const MOST_EDGES: usize = 8_000_000;

/// Runs the verb.
pub fn run(arguments: &CaptureArguments) -> Result<Outcome, AnyError> {
    let path = &arguments.file;
    let mut options = options(arguments);
    if let (Some(file), Some(reference)) = (&arguments.reference_file, options.reference) {
        options.rate = Some(calibrated_rate(input(file)?, &options, reference).map_err(|e| named(file, &e))?);
    }
    if arguments.edges {
        return list_edges(arguments, &options);
    }
    let save = arguments.save.as_ref().map(|path| std::fs::File::create(path).map_err(|e| named(path, &e))).transpose()?;
    let captured = capture(input(path)?, &options).map_err(|e| named(path, &e))?;
    if let (Some(file), Some(path)) = (save, &arguments.save) {
        write_csv(&captured.table, std::io::BufWriter::new(file)).map_err(|e| named(path, &e))?;
    }
    let document = document(arguments, &captured).map_err(|e| named(path, &e))?;
    if arguments.report.json {
        output::print(&json::print(&json::result(&document)))?;
    } else {
        let style = output::style();
        output::print(&(text::report(&document, &style) + &picture(&captured.recording, &style)))?;
    }
    Ok(Outcome::Done)
}

fn options(arguments: &CaptureArguments) -> CaptureOptions {
    let method = match arguments.method {
        EdgeMethod::BandLimited => Method::BandLimited,
        EdgeMethod::Inflection => Method::Inflection,
        EdgeMethod::ThreePoint => Method::ThreePoint,
    };
    let uncertainty_ppm = arguments.reference_ppm.unwrap_or(0.0);
    CaptureOptions {
        format: arguments.format.map(|format| match format {
            FormatArgument::Vcd => Format::Vcd,
            FormatArgument::Wav => Format::Wav,
            FormatArgument::Sigrok => Format::Sigrok,
            FormatArgument::Csv => Format::Csv,
        }),
        request: Request { channel: arguments.channel.clone(), method },
        orientation: arguments.polarity.map(|polarity| match polarity {
            Polarity::Rising => Orientation::Rising,
            Polarity::Falling => Orientation::Falling,
        }),
        ks: match &arguments.k {
            Counts::Pattern => None,
            Counts::List(list) => Some(list.clone()),
        },
        components: arguments.components.clone(),
        reference: arguments.reference.map(|time| Reference { seconds: time.as_secs_f64(), uncertainty_ppm }),
        rate_ppm: arguments.rate_ppm,
        rate: None,
    }
}

fn document(arguments: &CaptureArguments, captured: &Captured) -> Result<Document, hairspring_engine::Error> {
    let table = &captured.table;
    let options = Options { level: arguments.report.confidence_level, leave_rows_out: !arguments.keep_all, ..Options::default() };
    let assessment = assess(table, &Question { options, setting: Setting::Table, ..Question::default() })?;
    let name = assessment.series.first().map(|series| series.name.clone()).unwrap_or_default();
    Ok(Document {
        command: "capture".into(),
        environment: Environment::unknown("a recording has no reference chain").with_origin(&table.origin),
        ns_per_unit: table.origin.ns_per_unit(),
        assessment,
        subjects: vec![Subject { name, findings: captured.findings.clone(), ..Subject::default() }],
        methods: Vec::new(),
        run: None,
    })
}

/// The times of all edges in seconds.
fn list_edges(arguments: &CaptureArguments, options: &CaptureOptions) -> Result<Outcome, AnyError> {
    let path = &arguments.file;
    let mut edges = Vec::new();
    let mut beyond = 0u64;
    let mut keep = |edge: hairspring_capture::edge::Edge| {
        if edges.len() < MOST_EDGES { edges.push(edge.at) } else { beyond += 1 }
    };
    let recording = read_edges(input(path)?, options.format, &options.request, &mut keep).map_err(|e| named(path, &e))?;
    let hz = options.rate.as_ref().map(|rate| rate.hz).or(recording.hz).unwrap_or(1.0);
    for part in edges.chunks(1 << 14) {
        let mut lines = String::new();
        for at in part {
            writeln!(lines, "{:.12}", at / hz)?;
        }
        if !hairspring_program::output::print_while_read(&lines)? {
            return Ok(Outcome::Done);
        }
    }
    if beyond > 0 {
        return Err(named(path, &format!("{beyond} edges beyond the first {MOST_EDGES} are not listed: cut the recording")).into());
    }
    Ok(Outcome::Done)
}

/// The signal around the first edge, where it was sampled.
fn picture(recording: &Recording, style: &text::Style) -> String {
    let Some(window) = recording.signal.as_ref().and_then(|signal| signal.window.as_ref()) else { return String::new() };
    text::signal(&window.samples, window.edge.at - window.first as f64, recording.hz, style)
}

/// The recording as a stream. Nothing comes from a terminal.
fn input(path: &Path) -> Result<Input, AnyError> {
    if path == Path::new("-") {
        if std::io::stdin().is_terminal() {
            return Err(crate::misuse::Misuse("standard input is a terminal: redirect a recording to it".into()).into());
        }
        return Ok(Input::Pipe(Box::new(std::io::stdin().lock())));
    }
    let file = std::fs::File::open(path).map_err(|e| named(path, &e))?;
    let kind = file.metadata().map_err(|e| named(path, &e))?;
    if kind.is_dir() {
        return Err(named(path, &"is a directory").into());
    }
    Ok(if kind.is_file() { Input::File(Box::new(file)) } else { Input::Pipe(Box::new(file)) })
}

/// An error with the name of the file that it is about.
fn named(path: &Path, reason: &dyn Display) -> String {
    if path == Path::new("-") { format!("standard input: {reason}") } else { format!("{}: {reason}", path.display()) }
}
