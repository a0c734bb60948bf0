//! Options that several verbs have.

use crate::AnyError;
use crate::html::PageArguments;
use crate::misuse::Misuse;
use crate::plot::PlotArguments;
use clap::Args;
use hairspring_host::clock::{Clock, find, seated_clock};
use hairspring_host::thread::PreparedThread;
use hairspring_instruments::verify::fine_enough;
use hairspring_measure::cpu::prepare_thread_where_quiet;
use hairspring_page::Extras;
use hairspring_program::values::{frequency, level};
use hairspring_program::{Seating, output, seating};
use hairspring_result::throughput::{self, Work};
use hairspring_result::{ResultDocument, complexity};
use hairspring_view::{markdown, text};

// How a result is shown, for every verb that has one. A doc comment here would become the help of
// the verbs.
#[derive(Debug, Clone, Default, Args)]
pub struct PrintArguments {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Print Markdown for a comment on a pull request instead of text
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    #[command(flatten)]
    pub page: PageArguments,
    #[command(flatten)]
    pub plots: PlotArguments,
}

impl PrintArguments {
    /// Prints a result: its document or its text, whichever is asked for, and writes its page. The
    /// one place where verbs with a document print it.
    ///
    /// # Errors
    /// Standard output or the page cannot be written.
    pub fn print(
        &self,
        document: impl Fn() -> String,
        text: impl FnOnce() -> Result<String, AnyError>,
    ) -> Result<(), AnyError> {
        self.print_with(document, text, Extras::default)
    }

    /// The same with what the page has beyond the document.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub fn print_with<'e>(
        &self,
        document: impl Fn() -> String,
        text: impl FnOnce() -> Result<String, AnyError>,
        extras: impl FnOnce() -> Extras<'e>,
    ) -> Result<(), AnyError> {
        output::print(&match (self.json, self.markdown) {
            (true, _) => document(),
            (_, true) => markdown::of_json(&document())?,
            _ => text()?,
        })?;
        if !self.draws() {
            return Ok(());
        }
        let (document, extras) = (document(), extras());
        self.page.write(|| hairspring_page::page(&document, &extras))?;
        self.plots.write(|| hairspring_page::plots(&document, &extras))
    }

    /// Whether a page or a plot was asked for, which draw the observations.
    pub fn draws(&self) -> bool {
        self.page.html.is_some() || !self.plots.plot.is_empty()
    }

    /// Whether the result is printed for people.
    pub fn is_text(&self) -> bool {
        !self.json && !self.markdown
    }
}

// Options of every verb that reports. A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Args)]
pub struct ReportArguments {
    #[command(flatten)]
    pub print: PrintArguments,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "95%", value_parser = level,
        allow_hyphen_values = true)]
    pub confidence_level: f64,
}

// Where chains are measured, for the verbs that look at the machine.
#[derive(Debug, Clone, Args)]
pub struct PlaceArguments {
    /// The clock
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one, or a quieter one)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
}

impl PlaceArguments {
    /// Binds this thread to the CPU, and gives the clock.
    pub fn prepare_thread(&self) -> Result<(Clock, PreparedThread), AnyError> {
        let clock = self.clock.as_deref().map_or_else(|| Ok(seated_clock()), find)?;
        fine_enough(&clock).map_err(Misuse)?;
        Ok((clock, prepare_thread_where_quiet(self.cpu, clock)?))
    }
}

// The clock at which times are also given, for every verb that reports times of the user's code.
#[derive(Debug, Clone, Args)]
pub struct StatedClockArguments {
    /// Also give the core cycles in nanoseconds at this core clock, such as 3.5GHz: unlike the
    /// measured nanoseconds they do not change with the clock of the day
    #[arg(long, value_name = "FREQUENCY", value_parser = frequency, allow_hyphen_values = true)]
    pub at_clock: Option<f64>,
}

impl StatedClockArguments {
    /// The document with the times at this clock, if one was stated.
    pub fn state(&self, document: ResultDocument) -> ResultDocument {
        match self.at_clock {
            Some(hz) => document.at_clock(hz),
            None => document,
        }
    }
}

// What the stages of the estimator did, for every verb that solves a table.
#[derive(Debug, Clone, Copy, Args)]
pub struct ExplainArguments {
    /// Also print the stages of the analysis: the question of each, the readings that it left out,
    /// and by how much it moved the time and widened the interval (the --json document always has
    /// the stages)
    #[arg(long)]
    pub explain: bool,
}

impl ExplainArguments {
    /// The stages as text, if they were asked for.
    pub fn text(&self, document: &ResultDocument) -> String {
        if self.explain { text::explain(document, &output::style()) } else { String::new() }
    }
}

// How times grow with an argument, for every verb with results of several benchmarks.
#[derive(Debug, Clone, Copy, Args)]
pub struct ComplexityArguments {
    /// Also print how the times grow with an argument that has four values or more: O(1) to O(n^3),
    /// as lines with their intervals, and which orders the times do not exclude
    #[arg(long)]
    pub complexity: bool,
}

impl ComplexityArguments {
    /// The document with the growth of its times, if that was asked for.
    pub fn add(self, document: &mut ResultDocument) {
        if self.complexity {
            document.complexity = complexity::of(document);
        }
    }

    /// The growth as text, if it was asked for.
    pub fn text(self, document: &ResultDocument) -> String {
        if !self.complexity {
            return String::new();
        }
        text::complexity(&document.complexity, &output::style())
    }
}

// Work in a second, for every verb with times of executions.
#[derive(Debug, Clone, Args)]
pub struct ThroughputArguments {
    /// Also give work in a second, from the work of one execution: an amount and a unit, such as
    /// '64 B'. Arguments of benchmarks count by their names: 'size B', '2*n^3 FLOP'
    #[arg(long, value_name = "WORK", value_parser = Work::parse)]
    pub throughput: Option<Work>,
}

impl ThroughputArguments {
    /// The document with its throughput, if its work was stated.
    pub fn add(&self, document: &mut ResultDocument) {
        if let Some(work) = &self.throughput {
            document.throughput = throughput::of(document, work);
        }
    }

    /// The throughput as text, if the work was stated.
    pub fn text(&self, document: &ResultDocument) -> String {
        if document.throughput.is_empty() {
            return String::new();
        }
        text::throughput(&document.throughput, &output::style())
    }
}

// How the timed thread runs, for every verb that measures the user's code.
#[derive(Debug, Clone, Args)]
pub struct SeatingArguments {
    /// Do not bind or raise any thread, because the code starts threads. Without this option
    /// Hairspring detects threads and restarts without binding
    #[arg(long, conflicts_with = "cpu")]
    pub threads: bool,
    /// Do not bind the timed thread to a CPU
    #[arg(long, conflicts_with = "cpu")]
    pub no_pin: bool,
}

impl SeatingArguments {
    /// How the timed thread is to run.
    pub fn value(&self) -> Seating {
        seating(self.threads, self.no_pin)
    }

    /// The options as they were given.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        [(self.threads, "--threads"), (self.no_pin, "--no-pin")]
            .into_iter()
            .filter_map(|(given, word)| given.then_some(word))
    }
}
