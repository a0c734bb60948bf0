//! Value change dumps (IEEE 1364), which simulators and logic analysers write.
//!
//! Written by hand because the crate `vcd` limits neither names nor comments, refuses unknown
//! commands, and does not report a truncated last word; `wellen` keeps all changes in memory and
//! needs a seekable file.

use super::{Format, Recording, Remark, Request, choose_of, ends_in};
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
    /// 0 for strings of some simulators, of which no bit is a channel.
    width: u32,
    /// Numbers of the leftmost and the rightmost bit of a value, in either order.
    ends: (u32, u32),
}

impl Variable {
    /// The place of a bit in a value, counted from the right.
    fn place_of(&self, number: u32) -> Option<usize> {
        let (left, right) = self.ends;
        let place =
            if left >= right { number.checked_sub(right) } else { right.checked_sub(number) };
        place.filter(|place| *place < self.width).map(|place| place as usize)
    }

    /// Whether a name is this variable's, with all of its scopes or the last of them.
    fn is_named(&self, name: &str) -> bool {
        ends_in(&self.name, name)
    }
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
    /// Whether another identifier begins with that of the channel.
    has_longer_id: bool,
    /// Samples per second of a recorder that rounds their times to stamps.
    sample_hz: Option<f64>,
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
    let whole = parser.is_whole(&block[..held]);
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
            has_longer_id: false,
            sample_hz: request.sample_hz,
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

    /// Whether a word at the end of the file, without a line end, cannot be the beginning of a
    /// longer one that concerns the channel.
    fn is_whole(&self, word: &[u8]) -> bool {
        let id = match (&self.mode, word) {
            (_, b"$end") => return true,
            (Mode::Value(_), id) => id,
            (Mode::Body, [b'#' | b'b' | b'B' | b'$', ..]) => return false,
            (Mode::Body, [_, id @ ..]) => id,
            _ => return false,
        };
        match id == self.id {
            true => !self.has_longer_id,
            false => !self.id.starts_with(id),
        }
    }

    /// Processes complete words.
    fn words(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<()> {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let start = self.place;
        let mut at = if start == 0 && bytes.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
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
                let time = number(&word[1..])
                    .or_else(|| ticks(&word[1..]))
                    .filter(|time| *time >= self.time && *time < MOST_TIME);
                let Some(time) = time else { return Err(self.wrong_time(word, place)) };
                self.time = time;
            }
            // GHDL writes the nine values of IEEE 1164 as they are.
            value @ (b'0' | b'1' | b'x' | b'X' | b'z' | b'Z' | b'u' | b'U' | b'w' | b'W' | b'l'
            | b'L' | b'h' | b'H' | b'-') => {
                if word[1..] == self.id[..] {
                    self.set(value, sink);
                } else if word.len() == 1 {
                    // A blank stands between the value and the identifier.
                    self.mode = Mode::Value(word.to_vec());
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
        match ticks(&word[1..]) {
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
            ["$comment", ref rest @ ..] => self.sample_hz = acquired_at(rest).or(self.sample_hz),
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
        let Ok(width) = width.parse() else {
            return Err(self.wrong(format!(
                "the width of `{}` is `{}`, expected a number",
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
        let ends = range.split_once(':').and_then(|(left, right)| {
            Some((left.trim().parse().ok()?, right.trim().parse().ok()?))
        });
        let scoped: Vec<&str> =
            self.scope.iter().map(String::as_str).chain([name.as_str()]).collect();
        self.variables.push(Variable {
            id: id.as_bytes().to_vec(),
            name: scoped.join("."),
            width,
            ends: ends.unwrap_or((u32::MAX, 0)),
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
        let of_vector = match wanted {
            Some(wanted) => vector_bit(&self.variables, wanted)?,
            None => None,
        };
        let (at, bit) = match of_vector {
            Some(place) => place,
            None => {
                let candidates: Vec<String> = singles.iter().map(|at| names[*at].clone()).collect();
                let is_same = |one: usize, other: usize| {
                    self.variables[singles[one]].id == self.variables[singles[other]].id
                };
                let chosen = choose_of(&candidates, wanted, &is_same)
                    .map_err(|error| with_vectors(error, &self.variables, wanted))?;
                (singles[chosen], 0)
            }
        };
        (self.id, self.bit) = (self.variables[at].id.clone(), bit);
        self.has_longer_id = self
            .variables
            .iter()
            .any(|variable| variable.id.len() > self.id.len() && variable.id.starts_with(&self.id));
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
        // Stamps are the times of samples, rounded.
        let ticks_per_sample = hz.zip(self.sample_hz).map_or(1.0, |(hz, samples)| hz / samples);
        Ok(Recording {
            format: Some(Format::Vcd),
            channel: self.name,
            hz,
            rate_ppm: None,
            granularity: Some(ticks_per_sample.max(1.0)),
            exact: self.simulated,
            edges: self.edges,
            signal: None,
            remarks,
        })
    }
}

/// Whether the text of `$version` names a simulator.
fn is_simulator(version: &str) -> bool {
    const SIMULATORS: [&str; 26] = [
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
        "systemc",
        "renode",
        "wokwi",
        "avr8js",
    ];
    let version = version.to_lowercase();
    SIMULATORS.iter().any(|name| version.contains(name))
}

/// The variable and bit of a name such as `PORTB[7]`.
///
/// # Errors
/// Several vectors end in this name.
fn vector_bit(variables: &[Variable], wanted: &str) -> Result<Option<(usize, usize)>> {
    let Some((name, number)) = indexed(wanted) else { return Ok(None) };
    let vectors: Vec<usize> = (0..variables.len()).filter(|at| variables[*at].width > 1).collect();
    let names: Vec<String> = vectors.iter().map(|at| variables[*at].name.clone()).collect();
    if !names.iter().any(|full| ends_in(full, name)) {
        return Ok(None);
    }
    let is_same =
        |one: usize, other: usize| variables[vectors[one]].id == variables[vectors[other]].id;
    let at = vectors[choose_of(&names, Some(name), &is_same)?];
    Ok(variables[at].place_of(number).map(|place| (at, place)))
}

/// The name and the number of `PORTB[7]`.
fn indexed(wanted: &str) -> Option<(&str, u32)> {
    let (name, number) = wanted.strip_suffix(']')?.rsplit_once('[')?;
    Some((name, number.parse().ok()?))
}

/// The rate of a comment such as `Acquisition with 8/8 channels at 24 MHz`, which sigrok writes.
fn acquired_at(words: &[&str]) -> Option<f64> {
    let at = words.iter().rposition(|word| *word == "at")?;
    let [number, unit] = words.get(at + 1..at + 3)? else { return None };
    if words.first() != Some(&"Acquisition") {
        return None;
    }
    let factor = match *unit {
        "Hz" => 1.0,
        "kHz" => 1e3,
        "MHz" => 1e6,
        "GHz" => 1e9,
        _ => return None,
    };
    number.parse().ok().map(|number: f64| number * factor).filter(|hz| *hz > 0.0 && hz.is_finite())
}

/// Adds to an error about a channel the vectors whose bits can be channels.
fn with_vectors(error: Error, variables: &[Variable], wanted: Option<&str>) -> Error {
    const SHOWN_VECTORS: usize = 6;
    let meant = wanted.map(|wanted| wanted.split('[').next().unwrap_or(wanted));
    let named = |variable: &&Variable| meant.is_some_and(|name| variable.is_named(name));
    let vectors = || variables.iter().filter(|variable| variable.width > 1);
    let bits = |variable: &Variable| {
        let (left, right) = variable.ends;
        let most = variable.width - 1;
        let (lowest, highest) = if left >= right {
            (right, right.saturating_add(most))
        } else {
            (right.saturating_sub(most), right)
        };
        format!("`{}[{lowest}]` to `[{highest}]`", shown(&variable.name))
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

/// Ticks of a time; migen writes `1000.0`.
fn ticks(text: &[u8]) -> Option<u64> {
    match text.iter().position(|byte| *byte == b'.') {
        None => number(text),
        Some(point) if text[point + 1..].iter().all(|digit| *digit == b'0') => {
            number(&text[..point])
        }
        Some(_) => None,
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

/// Seconds of a timescale such as `10ns`. The standard has 1, 10 and 100 only, but simulators of
/// boards write their clock's period, such as `41666667 fs`.
fn timescale(text: &str) -> std::result::Result<f64, String> {
    const UNITS: [(&str, f64); 6] =
        [("fs", 1e15), ("ps", 1e12), ("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0)];
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let per_second =
        UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, per_second)| *per_second);
    let number = number.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
    match number.zip(per_second) {
        Some((number, per_second)) => Ok(number / per_second),
        None => Err(format!(
            "the timescale is `{}`, expected a number above 0 and a unit, such as 10 ns",
            shown(text)
        )),
    }
}
