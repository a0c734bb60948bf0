//! `--edges`: the times of all edges, as they come.

use hairspring_capture::Input;
use hairspring_capture::edge::Edge;
use hairspring_program::output::print_while_read;
use std::cell::Cell;
use std::fmt::Write;
use std::io::{Read, Result as IoResult, Seek, SeekFrom};
use std::rc::Rc;

/// Most edges that wait for a rate that only the end of the recording tells: a table of volts, or a file without a timescale.
const MOST_WAITING: usize = 8_000_000;
/// Bytes of lines that are written together.
const BLOCK: usize = 1 << 16;

/// Writes edges as lines of seconds.
pub struct EdgeList {
    /// A rate that is known whatever the recording states.
    known: Option<f64>,
    stated: Rc<Cell<Option<f64>>>,
    /// Edges in ticks that wait for their rate, and how many have no place among them.
    waiting: Vec<f64>,
    beyond: u64,
    lines: String,
    /// Whether nobody reads the lines any more.
    closed: Rc<Cell<bool>>,
    failed: Option<String>,
}

impl EdgeList {
    /// A list with the calibrated rate, if there is one, or the one that the reader states.
    pub fn new(known: Option<f64>, stated: Rc<Cell<Option<f64>>>) -> EdgeList {
        EdgeList { known, stated, waiting: Vec::new(), beyond: 0, lines: String::new(), closed: Rc::default(), failed: None }
    }

    /// The recording, which ends where nobody reads the list any more.
    pub fn while_read(&self, input: Input) -> Input {
        let closed = self.closed.clone();
        match input {
            Input::File(file) => Input::File(Box::new(WhileRead { stream: file, closed })),
            Input::Pipe(pipe) => Input::Pipe(Box::new(WhileRead { stream: pipe, closed })),
        }
    }

    /// Takes an edge.
    pub fn take(&mut self, edge: Edge) {
        match self.known.or(self.stated.get()) {
            Some(hz) => self.line(edge.at / hz),
            None if self.waiting.len() < MOST_WAITING => self.waiting.push(edge.at),
            None => self.beyond += 1,
        }
    }

    /// Writes the rest, where the recording could be read: what waits for a rate that is not there is nothing. Whether there was
    /// still a reader.
    pub fn finish(&mut self, hz: Option<f64>) -> Result<bool, String> {
        if let Some(hz) = self.known.or(hz) {
            std::mem::take(&mut self.waiting).into_iter().for_each(|at| self.line(at / hz));
        }
        self.flush();
        if let Some(reason) = self.failed.take() {
            return Err(reason);
        }
        if self.beyond > 0 && !self.closed.get() {
            let beyond = self.beyond;
            return Err(format!(
                "{beyond} edges beyond the first {MOST_WAITING} are not listed, for only the end of the recording tells its rate: cut it"
            ));
        }
        Ok(!self.closed.get())
    }

    fn line(&mut self, seconds: f64) {
        // Writing to a text does not fail.
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

/// A stream that ends early.
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
