//! `hairspring capture`: a recording of a pin becomes observations, and they are solved like any
//! others.

mod arguments;
mod edges;
mod plots;
mod progress;

use crate::compare::named;
use crate::saved::{Output, Taken};
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use arguments::{CaptureArguments, CountsArgument, EdgeMethod, FormatArgument, Polarity};
use edges::EdgeList;
use hairspring_capture::calibrate::Reference;
use hairspring_capture::edge::Method;
use hairspring_capture::pattern::Orientation;
use hairspring_capture::read::{Format, Recording, Request};
use hairspring_capture::text::signal;
use hairspring_capture::waveform::{self, document as pulses_document, waveform};
use hairspring_capture::{
    Captured, Input, Options as CaptureOptions, calibrated_crystal, capture, doubt_bend,
    doubt_counts, read_edges, recording_findings,
};
use hairspring_core::estimate::Options;
use hairspring_core::judge::{Question, Remedies};
use hairspring_core::observations::write_csv;
use hairspring_page::Extras;
use hairspring_program::circumstances::identity;
use hairspring_result::{Environment, Measurement, ResultDocument, json};
use hairspring_view::{Style, text};
use progress::Watched;
use std::io::IsTerminal;
use std::path::Path;

/// The verb.
pub const VERB: Verb = Verb::of::<CaptureArguments>().with_remedies(REMEDIES);

impl Runs for CaptureArguments {
    const NAME: &'static str = "capture";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        ("rounds_trimmed", "nothing to do: --trim asks for it"),
        ("rows_left_out", "look at these rows in the --json document; --keep-all uses all of them"),
        (
            "clock_too_coarse",
            "nothing to do if the interval is narrow enough; otherwise record at a higher rate, \
             or send frames with larger counts",
        ),
        (
            "disturbed",
            "look at these pulses with --save: they are far from the others of their k, by an \
             interrupt on the chip, a glitch or dropped samples; nothing to do if they are few",
        ),
        ("below_resolution", "send frames with larger counts, or more of them"),
        ("wide_interval", "record more frames, or send frames with larger counts"),
        ("wide_interval", "record more frames, or send frames with larger counts"),
        ("not_checked", "send several frames with more different counts"),
        (
            "frames_left_out",
            "look at the signal there (--edges lists the edges); none of the pulses of these \
             frames is used",
        ),
        (
            "pulses_doubted",
            "look at them with --save (flag x): a glitch was taken for a pulse, or the chip \
             handled an interrupt",
        ),
        (
            "pulses_outside",
            "nothing to do if the pin has other uses between the frames; otherwise look for \
             glitches with --edges",
        ),
        ("channel_assumed", "choose another channel with --channel"),
        (
            "overhead_below_zero",
            "compare --k, or the counts in the firmware's headers, with what the first pulse \
             holds; if they are right, one of the two edges is recorded late (a slow pull-up)",
        ),
    ],
    more_rows: "send frames with more different counts (spec/capture.md)",
};

/// Runs the verb.
fn run(arguments: &CaptureArguments) -> Result<Outcome, AnyError> {
    let path = &arguments.file;
    if arguments.trim && arguments.k == CountsArgument::Pattern {
        return Err(crate::misuse::Misuse(
            "--trim is about the list of --k, as in --k 1..20 --trim: frames with the pattern need \
             none".into(),
        )
        .into());
    }
    // Before anything is read: a path that cannot be written fails at once.
    let save = arguments
        .save
        .as_deref()
        .map(|path| Output::open("--save", path, &mut recordings(arguments)))
        .transpose()?;
    let mut options = options(arguments);
    if let (Some(file), Some(reference)) = (&arguments.reference_file, options.reference) {
        options.crystal = Some(
            calibrated_crystal(input(file)?, &options, reference).map_err(|e| named(file, &e))?,
        );
    }
    if arguments.edges {
        return list_edges(arguments, &options);
    }
    if arguments.pulses {
        return pulses(arguments, &options);
    }
    let captured = capture(input(path)?, &options).map_err(|e| named(path, &e))?;
    if let Some(file) = save {
        file.fill(|out| Ok(write_csv(&captured.table, out)?))?;
    }
    let document = document(arguments, &captured).map_err(|e| named(path, &e))?;
    let text = || {
        let style = output::style();
        text::report(&document, &style) + &picture(&captured.recording, &style)
    };
    let extras = || Extras {
        table: Some(&captured.table),
        plots: plots::plots(arguments, &options, &captured.recording),
        ..Extras::default()
    };
    let print = &arguments.report.print;
    print.print_with(|| json::print(&document), || Ok(text()), extras)?;
    Ok(Outcome::Done)
}

/// The files that are read, which must not be written.
fn recordings(arguments: &CaptureArguments) -> Taken {
    let mut taken = Taken::default();
    taken.add("the recording", &arguments.file);
    arguments
        .reference_file
        .iter()
        .for_each(|path| taken.add("the recording of --reference-file", path));
    taken
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
            FormatArgument::Fst => Format::Fst,
            FormatArgument::Sound => Format::Sound,
            FormatArgument::Sigrok => Format::Sigrok,
            FormatArgument::Instrument => Format::Instrument,
            FormatArgument::Csv => Format::Csv,
        }),
        request: Request { channel: arguments.channel.clone(), method, ..Request::default() },
        orientation: arguments.polarity.map(|polarity| match polarity {
            Polarity::Rising => Orientation::Rising,
            Polarity::Falling => Orientation::Falling,
        }),
        ks: match &arguments.k {
            CountsArgument::Pattern => None,
            CountsArgument::List(list) => Some(list.clone()),
        },
        trim: arguments.trim,
        components: arguments.components.clone(),
        reference: arguments.reference.map(|seconds| Reference { seconds, uncertainty_ppm }),
        rate_ppm: arguments.rate_ppm,
        exact_clock: arguments.exact_clock,
        crystal: None,
    }
}

fn document(
    arguments: &CaptureArguments,
    captured: &Captured,
) -> Result<ResultDocument, hairspring_core::Error> {
    let table = &captured.table;
    let options = Options {
        level: arguments.report.confidence_level,
        leave_rows_out: !arguments.keep_all,
        ..Options::default()
    };
    let mut assessment = REMEDIES.assess(table, &Question { options, ..Question::default() })?;
    doubt_counts(table, &mut assessment);
    REMEDIES.apply(assessment.series.iter_mut().flat_map(|series| &mut series.findings));
    // Its remedy is another one than that of the same finding as a note.
    doubt_bend(&mut assessment);
    Ok(ResultDocument::new(&Measurement {
        command: "capture".into(),
        environment: Environment {
            identity: Some(identity()),
            ..Environment::unknown("a recording has no reference chain")
        }
        .with_origin(&table.origin),
        ns_per_unit: table.origin.ns_per_unit(),
        assessment,
        subjects: Vec::new(),
        methods: Vec::new(),
        run: None,
    }))
}

/// Prints the times of all edges in seconds while the recording is read.
fn list_edges(arguments: &CaptureArguments, options: &CaptureOptions) -> Result<Outcome, AnyError> {
    let path = &arguments.file;
    let mut list = EdgeList::new(
        options.crystal.as_ref().map_or(1.0, |crystal| crystal.ratio),
        options.request.stated.clone(),
    );
    let input = list.while_read(input(path)?);
    let recording =
        read_edges(input, options.format, &options.request, &mut |edge| list.take(edge));
    // Edges that were found before an error are written too.
    let read = list
        .finish(recording.as_ref().ok().map(|recording| recording.hz.unwrap_or(1.0)))
        .map_err(|e| named(path, &e))?;
    if read {
        warn(path, &recording.map_err(|e| named(path, &e))?);
    }
    Ok(Outcome::Done)
}

/// Prints the statistics of the pulses of a pin.
fn pulses(arguments: &CaptureArguments, options: &CaptureOptions) -> Result<Outcome, AnyError> {
    let path = &arguments.file;
    if options.reference.is_some() && options.crystal.is_none() {
        let needs = "--pulses takes the rate of --reference from a recording of its own: give it \
                     as --reference-file";
        return Err(crate::misuse::Misuse(needs.into()).into());
    }
    let mut found = waveform(input(path)?, options, arguments.report.confidence_level)
        .map_err(|e| named(path, &e))?;
    REMEDIES.apply(&mut found.findings);
    let document = || {
        let circumstances = Environment {
            identity: Some(identity()),
            ..Environment::unknown("a recording has no reference chain")
        };
        json::print(&pulses_document::pulses(&found, circumstances))
    };
    let text = || {
        let style = output::style();
        waveform::text(&found, &style) + &picture(&found.recording, &style)
    };
    let extras = || Extras {
        plots: plots::plots(arguments, options, &found.recording),
        ..Extras::default()
    };
    arguments.report.print.print_with(document, || Ok(text()), extras)?;
    Ok(Outcome::Done)
}

/// Says on standard error what was found about a recording whose edges are on standard output.
fn warn(path: &Path, recording: &Recording) {
    let mut findings = recording_findings(recording);
    REMEDIES.apply(&mut findings);
    if !findings.is_empty() {
        let style = Style { color: false, ..output::style() };
        eprintln!("hairspring: {}:\n", named(path, &"the edges are listed, but"));
        eprint!("{}", text::findings_alone(&findings, &style));
    }
}

/// The signal around the first edge, where it was sampled.
fn picture(recording: &Recording, style: &Style) -> String {
    let Some(window) = recording.signal.as_ref().and_then(|signal| signal.window.as_ref()) else {
        return String::new();
    };
    let edge = (window.edge.at - window.first) / window.every;
    signal(&window.samples, edge, recording.hz.map(|hz| hz / window.every), style)
}

/// The recording as a stream; a terminal is refused.
fn input(path: &Path) -> Result<Input, AnyError> {
    if path == Path::new("-") {
        if std::io::stdin().is_terminal() {
            return Err(crate::misuse::Misuse(
                "standard input is a terminal: redirect a recording to it".into(),
            )
            .into());
        }
        return Ok(Input::Pipe(Box::new(Watched::new(std::io::stdin().lock(), None))));
    }
    let file = std::fs::File::open(path).map_err(|e| named(path, &e))?;
    let kind = file.metadata().map_err(|e| named(path, &e))?;
    if kind.is_dir() {
        return Err(named(path, &"is a directory").into());
    }
    let size = kind.is_file().then_some(kind.len());
    let file = Watched::new(file, size);
    Ok(if size.is_some() { Input::File(Box::new(file)) } else { Input::Pipe(Box::new(file)) })
}
