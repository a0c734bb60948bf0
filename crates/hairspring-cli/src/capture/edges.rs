//! `--edges`: prints the times of all edges while the recording is read.

use hairspring_capture::Input;
use hairspring_capture::edge::Edge;
use hairspring_program::output::print_while_read;
use std::cell::Cell;
use std::fmt::Write;
use std::io::{Read, Result as IoResult, Seek, SeekFrom};
use std::rc::Rc;

/// Most edges that are kept while the sample rate is unknown. A table of volts, or a file without a
/// timescale, gives its rate only at the end.
const MOST_WAITING: usize = 8_000_000;
/// Size of a write, in bytes.
const BLOCK: usize = 1 << 16;

/// Writes edges as lines of seconds.
pub struct EdgeList {
    /// The recorder's rate as a share of the stated one.
    crystal: f64,
    stated: Rc<Cell<Option<f64>>>,
    /// Edges in ticks that wait for the rate.
    waiting: Vec<f64>,
    /// Edges that were dropped because too many wait.
    dropped: u64,
    lines: String,
    /// Whether standard output has no reader any more.
    closed: Rc<Cell<bool>>,
    failed: Option<String>,
}

impl EdgeList {
    /// A list at the rate that the reader states times the ratio of the recorder's crystal.
    pub fn new(crystal: f64, stated: Rc<Cell<Option<f64>>>) -> EdgeList {
        EdgeList {
            crystal,
            stated,
            waiting: Vec::new(),
            dropped: 0,
            lines: String::new(),
            closed: Rc::default(),
            failed: None,
        }
    }

    /// The recording, which ends when standard output has no reader any more.
    pub fn while_read(&self, input: Input) -> Input {
        let closed = self.closed.clone();
        match input {
            Input::File(file) => Input::File(Box::new(WhileRead { stream: file, closed })),
            Input::Pipe(pipe) => Input::Pipe(Box::new(WhileRead { stream: pipe, closed })),
        }
    }

    /// Takes an edge.
    pub fn take(&mut self, edge: Edge) {
        match self.stated.get() {
            Some(hz) => self.line(edge.at / (hz * self.crystal)),
            None if self.waiting.len() < MOST_WAITING => self.waiting.push(edge.at),
            None => self.dropped += 1,
        }
    }

    /// Writes the edges that waited for the rate; without a rate they are discarded. Returns
    /// whether standard output still has a reader.
    pub fn finish(&mut self, hz: Option<f64>) -> Result<bool, String> {
        if let Some(hz) = hz {
            std::mem::take(&mut self.waiting)
                .into_iter()
                .for_each(|at| self.line(at / (hz * self.crystal)));
        }
        self.flush();
        if let Some(reason) = self.failed.take() {
            return Err(reason);
        }
        if self.dropped > 0 && !self.closed.get() {
            let dropped = self.dropped;
            return Err(format!(
                "{dropped} edges after the first {MOST_WAITING} are not listed, because the \
                 recording gives its rate only at the end: split it"
            ));
        }
        Ok(!self.closed.get())
    }

    fn line(&mut self, seconds: f64) {
        // Writing to a string does not fail.
        let _ = writeln!(self.lines, "{seconds:.12}");
        if self.lines.len() >= BLOCK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.closed.get() && !self.lines.is_empty() {
            let read = print_while_read(&self.lines).unwrap_or_else(|reason| {
                self.failed = Some(reason);
                false
            });
            self.closed.set(!read);
        }
        self.lines.clear();
    }
}

/// A stream that ends as soon as the output is closed.
struct WhileRead<S> {
    stream: S,
    closed: Rc<Cell<bool>>,
}

impl<S: Read> Read for WhileRead<S> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        if self.closed.get() { Ok(0) } else { self.stream.read(buffer) }
    }
}

impl<S: Seek> Seek for WhileRead<S> {
    fn seek(&mut self, place: SeekFrom) -> IoResult<u64> {
        self.stream.seek(place)
    }
}
