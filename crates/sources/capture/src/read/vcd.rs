//! Value change dumps (IEEE 1364), which simulators and logic analysers write.
//!
//! Written by hand because the crate `vcd` limits neither names nor comments, refuses unknown
//! commands, and does not report a truncated last word; `wellen` keeps all changes in memory and
//! needs a seekable file.

use super::{Format, Recording, Remark, Request, choose};
use crate::edge::Edge;
use crate::error::{Error, Place, Result, shown};
use std::io::Read;

/// Bytes that are read at a time; no word of a file may be longer.
const BLOCK: usize = 1 << 20;
/// Longest header.
const MOST_HEADER: u64 = 64 << 20;
/// Most variables.
const MOST_VARIABLES: usize = 1 << 20;
/// Bytes without a change of the channel after which reading stops.
const MOST_SILENCE: u64 = 1 << 30;
/// Larger times are not exact in a double.
const MOST_TIME: u64 = 1 << 53;

/// A bit of a variable.
#[derive(Debug, Clone)]
struct Variable {
    id: Vec<u8>,
    name: String,
    width: u32,
    /// Number of the lowest bit.
    lowest: u32,
}

/// The part of the file that is being read.
#[derive(Debug)]
enum Mode {
    /// Declarations: the words of the command so far.
    Header(Vec<String>),
    /// Changes.
    Body,
    /// A comment among the changes, up to `$end`.
    Comment,
    /// A vector's value; the next word names the variable.
    Value(Vec<u8>),
}

struct Parser<'a> {
    request: &'a Request,
    mode: Mode,
    scope: Vec<String>,
    variables: Vec<Variable>,
    seconds: Option<f64>,
    /// Whether a simulator wrote the file.
    simulated: bool,
    /// The channel and the bit of it, counted from the lowest.
    id: Vec<u8>,
    bit: usize,
    name: String,
    time: u64,
    /// The level, if defined.
    level: Option<bool>,
    edges: u64,
    undefined: (u64, f64),
    place: u64,
}

/// Reads a value change dump; edges come in the order of their times.
///
/// # Errors
/// Not a value change dump, a missing or constant channel, or a time that goes backwards; with the
/// place.
///
/// ```
/// use hairspring_capture::read::{Request, read_vcd};
/// let text = "$timescale 10 ns $end $var wire 1 ! PB7 $end $enddefinitions $end\n#0\nx!\n#5\n0!\n\
///             #100\n1!\n#200\n0!\n";
/// let mut edges = Vec::new();
/// let recording = read_vcd(text.as_bytes(), &Request::default(),
///     &mut |edge| edges.push(edge.at)).unwrap();
/// assert_eq!((edges, recording.hz), (vec![100.0, 200.0], Some(1e8)));
/// ```
pub fn read_vcd(
    mut stream: impl Read,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut parser = Parser::new(request);
    let mut block = vec![0u8; 2 * BLOCK];
    let mut held = 0;
    loop {
        let read = match stream.read(&mut block[held..held + BLOCK]) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::stream(&error)),
        };
        if read == 0 {
            break;
        }
        let end = held + read;
        // Complete words are processed, the rest is kept.
        let whole =
            block[held..end].iter().rposition(|byte| *byte <= b' ').map_or(0, |at| held + at + 1);
        parser.words(&block[..whole], sink)?;
        block.copy_within(whole..end, 0);
        held = end - whole;
        if held > BLOCK - 1 {
            return Err(parser.wrong(format!(
                "a word of more than {BLOCK} bytes: this is not a value change dump"
            )));
        }
    }
    // A last word without a line end may be truncated, such as #12 of #1234.
    let whole = block[..held] == *b"$end";
    parser.words(if whole { &block[..held] } else { &[] }, sink)?;
    parser.finish(held > 0 && !whole)
}

impl Parser<'_> {
    fn new(request: &Request) -> Parser<'_> {
        Parser {
            request,
            mode: Mode::Header(Vec::new()),
            scope: Vec::new(),
            variables: Vec::new(),
            seconds: None,
            simulated: false,
            id: Vec::new(),
            bit: 0,
            name: String::new(),
            time: 0,
            level: None,
            edges: 0,
            undefined: (0, 0.0),
            place: 0,
        }
    }

    fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::byte(self.place, reason)
    }

    /// Processes complete words.
    fn words(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<()> {
        let start = self.place;
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] <= b' ' {
                if bytes[at] < b'\t' {
                    return Err(Error::byte(
                        start + at as u64,
                        "is not text: this is not a value change dump",
                    ));
                }
                at += 1;
                continue;
            }
            let length =
                bytes[at..].iter().position(|byte| *byte <= b' ').unwrap_or(bytes.len() - at);
            let word = &bytes[at..at + length];
            if matches!(self.mode, Mode::Body) {
                self.change(word, start + at as u64, sink)?;
            } else {
                self.place = start + at as u64;
                self.other(word, sink)?;
            }
            at += length;
        }
        self.place = start + bytes.len() as u64;
        self.request.go_on()?;
        if self.edges == 0 && self.place > MOST_SILENCE {
            return Err(self.wrong(format!(
                "no change of `{}` up to here, so the rest is not read",
                shown(&self.name)
            )));
        }
        Ok(())
    }

    #[inline]
    fn change(&mut self, word: &[u8], place: u64, sink: &mut dyn FnMut(Edge)) -> Result<()> {
        match word[0] {
            b'#' => {
                let time =
                    number(&word[1..]).filter(|time| *time >= self.time && *time < MOST_TIME);
                let Some(time) = time else { return Err(self.wrong_time(word, place)) };
                self.time = time;
            }
            // GHDL writes the nine values of IEEE 1164 as they are.
            value @ (b'0' | b'1' | b'x' | b'X' | b'z' | b'Z' | b'u' | b'U' | b'w' | b'W' | b'l'
            | b'L' | b'h' | b'H' | b'-') => {
                if word[1..] == self.id[..] {
                    self.set(value, sink);
                }
            }
            b'b' | b'B' => self.mode = Mode::Value(word[1..].to_vec()),
            b'r' | b'R' | b's' | b'S' => self.mode = Mode::Value(Vec::new()),
            b'$' if word == b"$comment" => self.mode = Mode::Comment,
            b'$' => (),
            _ => {
                self.place = place;
                return Err(self.wrong(format!(
                    "`{}` is not a value change",
                    shown(&String::from_utf8_lossy(word))
                )));
            }
        }
        Ok(())
    }

    fn wrong_time(&mut self, word: &[u8], place: u64) -> Error {
        self.place = place;
        let text = shown(&String::from_utf8_lossy(word));
        match number(&word[1..]) {
            Some(time) if time < self.time => {
                self.wrong(format!("the time goes backwards, from {} to {time}", self.time))
            }
            Some(_) => self.wrong(format!("the time `{text}` is beyond 2^53")),
            None => self.wrong(format!("`{text}` is not a time")),
        }
    }

    fn other(&mut self, word: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<()> {
        match &mut self.mode {
            Mode::Header(words) => {
                if word == b"$end" {
                    let words = std::mem::take(words);
                    return self.declare(&words);
                }
                if self.place > MOST_HEADER {
                    return Err(
                        self.wrong("the header does not end: this is not a value change dump")
                    );
                }
                if words.is_empty() && word[0] != b'$' {
                    let text = shown(&String::from_utf8_lossy(word));
                    return Err(self.wrong(format!(
                        "`{text}` where a declaration such as $timescale is expected: this is not \
                         a value change dump"
                    )));
                }
                // Only the first word of a comment is kept.
                if words.len() < 16 {
                    words.push(String::from_utf8_lossy(word).into_owned());
                }
            }
            Mode::Comment if word == b"$end" => self.mode = Mode::Body,
            Mode::Value(value) => {
                let value = std::mem::take(value);
                self.mode = Mode::Body;
                if word == &self.id[..] && !value.is_empty() {
                    self.set(bit(&value, self.bit), sink);
                }
            }
            Mode::Comment | Mode::Body => (),
        }
        Ok(())
    }

    fn declare(&mut self, words: &[String]) -> Result<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["$timescale", ref rest @ ..] => {
                self.seconds = Some(timescale(&rest.concat()).map_err(|reason| self.wrong(reason))?)
            }
            ["$version", ref rest @ ..] => self.simulated = is_simulator(&rest.join(" ")),
            ["$scope", _, name, ..] => self.scope.push(name.to_owned()),
            ["$upscope", ..] => drop(self.scope.pop()),
            ["$var", _, width, id, name, ref rest @ ..] => self.variable(width, id, name, rest)?,
            ["$var", ..] => {
                return Err(self.wrong("$var needs a type, a width, an identifier and a name"));
            }
            ["$enddefinitions", ..] => {
                self.request.stated.set(self.seconds.map(|seconds| 1.0 / seconds));
                self.begin()?;
            }
            _ => (),
        }
        Ok(())
    }

    fn variable(&mut self, width: &str, id: &str, name: &str, range: &[&str]) -> Result<()> {
        let Some(width) = width.parse().ok().filter(|width| *width > 0) else {
            return Err(self.wrong(format!(
                "the width of `{}` is `{}`, expected a number above 0",
                shown(name),
                shown(width)
            )));
        };
        if self.variables.len() == MOST_VARIABLES {
            return Err(self.wrong(format!("more than {MOST_VARIABLES} variables")));
        }
        let full = name.to_owned() + &range.concat();
        // The range of a vector is not part of its name.
        let (name, range) = match full.rsplit_once('[') {
            Some((name, range)) if range.contains(':') => {
                (name.to_owned(), range.trim_end_matches(']'))
            }
            _ => (full.clone(), ""),
        };
        let ends = range.split(':').filter_map(|end| end.parse::<u32>().ok());
        let scoped: Vec<&str> =
            self.scope.iter().map(String::as_str).chain([name.as_str()]).collect();
        self.variables.push(Variable {
            id: id.as_bytes().to_vec(),
            name: scoped.join("."),
            width,
            lowest: ends.min().unwrap_or(0),
        });
        Ok(())
    }

    /// Chooses the channel at the end of the header.
    fn begin(&mut self) -> Result<()> {
        self.mode = Mode::Body;
        let wanted = self.request.channel.as_deref();
        let names: Vec<String> =
            self.variables.iter().map(|variable| variable.name.clone()).collect();
        let single = |at: &usize| self.variables[*at].width == 1;
        let singles: Vec<usize> = (0..names.len()).filter(single).collect();
        let (at, bit) = match wanted.and_then(|wanted| vector_bit(&self.variables, wanted)) {
            Some(found) => found,
            None => {
                let candidates: Vec<String> = singles.iter().map(|at| names[*at].clone()).collect();
                (
                    singles[choose(&candidates, wanted)
                        .map_err(|error| with_vectors(error, &self.variables, wanted))?],
                    0,
                )
            }
        };
        (self.id, self.bit) = (self.variables[at].id.clone(), bit);
        self.name = wanted.map_or_else(|| names[at].clone(), str::to_owned);
        self.variables = Vec::new();
        Ok(())
    }

    fn set(&mut self, value: u8, sink: &mut dyn FnMut(Edge)) {
        let level = match value {
            b'0' | b'l' | b'L' => Some(false),
            b'1' | b'h' | b'H' => Some(true),
            _ => None,
        };
        match (self.level, level) {
            (Some(before), Some(now)) if before != now => {
                self.edges += 1;
                sink(Edge { at: self.time as f64, rising: now });
            }
            (Some(_), None) => {
                if self.undefined.0 == 0 {
                    self.undefined.1 = self.time as f64;
                }
                self.undefined.0 += 1;
            }
            _ => (),
        }
        self.level = level;
    }

    fn finish(self, cut: bool) -> Result<Recording> {
        if let Mode::Header(_) = self.mode {
            let what = if self.place == 0 {
                "the file is empty"
            } else {
                "the file ends within its header, before $enddefinitions"
            };
            return Err(self.wrong(what));
        }
        let mut remarks = Vec::new();
        if cut {
            remarks.push(Remark::Truncated {
                place: Place::Byte(self.place),
                reason: "the last line has no end, and is not used".into(),
            });
        }
        if self.undefined.0 > 0 {
            remarks.push(Remark::Undefined { times: self.undefined.0, first: self.undefined.1 });
        }
        let hz = self.seconds.map(|seconds| 1.0 / seconds);
        Ok(Recording {
            format: Some(Format::Vcd),
            channel: self.name,
            hz,
            granularity: Some(1.0),
            exact: self.simulated,
            edges: self.edges,
            signal: None,
            remarks,
        })
    }
}

/// Whether the text of `$version` names a simulator.
fn is_simulator(version: &str) -> bool {
    const SIMULATORS: [&str; 22] = [
        "simul",
        "icarus",
        "ghdl",
        "verilator",
        "simavr",
        "modelsim",
        "questa",
        "vcs",
        "xcelium",
        "ncsim",
        "incisive",
        "vivado",
        "aldec",
        "active-hdl",
        "riviera",
        "nvc",
        "myhdl",
        "cocotb",
        "amaranth",
        "migen",
        "gem5",
        "qemu",
    ];
    let version = version.to_lowercase();
    SIMULATORS.iter().any(|name| version.contains(name))
}

/// The variable and bit of a name such as `PORTB[7]`.
fn vector_bit(variables: &[Variable], wanted: &str) -> Option<(usize, usize)> {
    let (name, bit) = wanted.strip_suffix(']')?.rsplit_once('[')?;
    let bit: u32 = bit.parse().ok()?;
    let named = |variable: &Variable| {
        variable.name == name || variable.name.rsplit('.').next() == Some(name)
    };
    let at = variables.iter().position(|variable| variable.width > 1 && named(variable))?;
    let bit = bit.checked_sub(variables[at].lowest).filter(|bit| *bit < variables[at].width)?;
    Some((at, bit as usize))
}

/// Adds to an error about a channel the vectors whose bits can be channels.
fn with_vectors(error: Error, variables: &[Variable], wanted: Option<&str>) -> Error {
    const SHOWN_VECTORS: usize = 6;
    let meant = wanted.map(|wanted| wanted.split('[').next().unwrap_or(wanted));
    let named = |variable: &&Variable| {
        meant.is_some_and(|name| {
            variable.name == name || variable.name.rsplit('.').next() == Some(name)
        })
    };
    let vectors = || variables.iter().filter(|variable| variable.width > 1);
    let bits = |variable: &Variable| {
        let last = variable.lowest.saturating_add(variable.width - 1);
        format!("`{}[{}]` to `[{last}]`", shown(&variable.name), variable.lowest)
    };
    let (one, all) = (vectors().find(named), vectors().count());
    match one {
        Some(vector) => {
            Error::Unusable(format!("{error}; a channel is one bit of a vector: {}", bits(vector)))
        }
        None if all > 0 => {
            let listed: Vec<String> = vectors().take(SHOWN_VECTORS).map(bits).collect();
            let more = if all > SHOWN_VECTORS {
                format!(" and {} more vectors", all - SHOWN_VECTORS)
            } else {
                String::new()
            };
            Error::Unusable(format!("{error}; and bits of vectors: {}{more}", listed.join(", ")))
        }
        None => error,
    }
}

/// A bit of a vector; digits omitted on the left are 0, or x or z if the leftmost digit is.
fn bit(value: &[u8], bit: usize) -> u8 {
    match value.len().checked_sub(bit + 1) {
        Some(at) => value[at],
        None if value[0] == b'1' => b'0',
        None => value[0],
    }
}

#[inline]
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0u64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// Seconds of a timescale such as `10ns`.
fn timescale(text: &str) -> std::result::Result<f64, String> {
    const UNITS: [(&str, f64); 6] =
        [("fs", 1e15), ("ps", 1e12), ("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0)];
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let per_second =
        UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, per_second)| *per_second);
    let number = number.parse::<u32>().ok().filter(|number| matches!(number, 1 | 10 | 100));
    match number.zip(per_second) {
        Some((number, per_second)) => Ok(f64::from(number) / per_second),
        None => Err(format!(
            "the timescale is `{}`, expected 1, 10 or 100 and a unit, such as 10 ns",
            shown(text)
        )),
    }
}
