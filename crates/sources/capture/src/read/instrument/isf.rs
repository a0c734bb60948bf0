//! Waveforms of Tektronix's oscilloscopes as text and a block of samples (`.isf`): the answers to
//! `WFMPRE?`, `WFMOUTPRE?` and `CURVE?`, with long or short names.

use super::bytes::{Bytes, rate_of};
use super::samples::{Code, Layout, Volts, read_volts, recording};
use crate::edge::Edge;
use crate::error::{Error, Result, shown};
use crate::read::{Recording, Request, choose};

/// Most bytes of the text.
const MOST_TEXT: usize = 1 << 14;

/// Whether a file begins with such settings.
pub(super) fn begins(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&head[..head.len().min(64)]).to_uppercase();
    let text = text.trim_start_matches(':');
    ["WFMP", "WFMO", "WFMI", "BYT_N"].iter().any(|name| text.starts_with(name))
}

/// Settings by name.
struct Settings {
    pairs: Vec<(String, String)>,
}

impl Settings {
    fn parse(text: &str) -> Settings {
        let pair = |part: String| {
            let part = part.trim();
            let (name, value) = part.split_once(char::is_whitespace)?;
            let name = name.rsplit(':').next().unwrap_or(name).to_uppercase();
            Some((name, value.trim().trim_matches('"').to_owned()))
        };
        Settings { pairs: parts(text).into_iter().filter_map(pair).collect() }
    }

    /// The value of a setting by the shortest form of its name.
    fn text(&self, name: &str) -> Option<&str> {
        let is_it = |pair: &&(String, String)| pair.0.starts_with(name);
        self.pairs.iter().find(is_it).map(|pair| &*pair.1)
    }

    fn number(&self, name: &str) -> Result<f64> {
        let text = self.text(name).ok_or_else(|| {
            Error::Unusable(format!("the text before the samples has no setting {name}"))
        })?;
        text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
            Error::Unusable(format!("the setting {name} is `{}`, expected a number", shown(text)))
        })
    }
}

/// Parts between semicolons outside of quotes.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for c in text.chars() {
        quoted ^= c == '"';
        match (c, parts.last_mut()) {
            (';', _) if !quoted => parts.push(String::new()),
            (c, Some(last)) => last.push(c),
            _ => (),
        }
    }
    parts
}

/// Reads a waveform.
pub(super) fn read(
    mut bytes: Bytes,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let settings = Settings::parse(&text(&mut bytes)?);
    let size = block_size(&mut bytes)?;
    let channel = channel(&settings);
    choose(std::slice::from_ref(&channel), request.channel.as_deref())?;
    if settings.text("PT_F").is_some_and(|kind| kind.to_uppercase().starts_with("ENV")) {
        return Err(Error::Unusable(
            "the file has pairs of a least and a greatest value (PT_FMT ENV): record again in \
             sample mode"
                .into(),
        ));
    }
    if settings.text("ENC").is_some_and(|kind| kind.to_uppercase().starts_with("ASC")) {
        return Err(Error::Unusable(
            "the samples are text (ENCDG ASCII): save as CSV, or as ISF in binary".into(),
        ));
    }
    let hz = rate_of(settings.number("XIN")?)
        .map_err(|reason| Error::Unusable(format!("XINCR: {reason}")))?;
    let volts = volts(&settings)?;
    let mut recording = recording(&channel, hz, request);
    let stored = size.unwrap_or(u64::MAX) / volts.code.size() as u64;
    let samples = settings.number("NR_P").map_or(stored, |points| stored.min(points as u64));
    if samples == u64::MAX {
        return Err(Error::Unusable("neither NR_PT nor the block states the samples".into()));
    }
    let layout = Layout::alone(samples, volts.code.size());
    read_volts(&mut bytes, layout, volts, request, &mut recording, sink)?;
    Ok(recording)
}

/// The text up to the sign before the samples.
fn text(bytes: &mut Bytes) -> Result<String> {
    let (mut text, mut quoted) = (Vec::new(), false);
    loop {
        let byte = bytes.header(1, false)?.u8(0)?;
        quoted ^= byte == b'"';
        if byte == b'#' && !quoted {
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
        text.push(byte);
        if text.len() > MOST_TEXT {
            let reason = "no block of samples (`#`) so far: the samples are text, or another file";
            return Err(Error::byte(bytes.at(), reason));
        }
    }
}

/// Bytes of the block, which its head states; `None` for a block up to the end of the file (`#0`).
fn block_size(bytes: &mut Bytes) -> Result<Option<u64>> {
    let start = bytes.at();
    let wrong = || Error::byte(start, "the size of the block of samples is no decimal number");
    let digits = bytes.header(1, false)?.u8(0)?;
    let digits = char::from(digits).to_digit(16).filter(|n| *n <= 15).ok_or_else(wrong)? as usize;
    if digits == 0 {
        return Ok(None);
    }
    let size = bytes.header(digits, false)?.text(0, digits)?;
    size.parse().map(Some).map_err(|_| wrong())
}

/// The name of the channel, `CH1` of `Ch1, DC coupling, 1.0V/div, ...`.
fn channel(settings: &Settings) -> String {
    let id = settings.text("WFI").unwrap_or_default();
    let name = id.split(',').next().unwrap_or_default().trim().to_uppercase();
    if name.is_empty() { "CH?".into() } else { name }
}

/// How the samples become volts.
fn volts(settings: &Settings) -> Result<Volts> {
    let format = settings.text("BN_F").unwrap_or("RI").to_uppercase();
    let size = settings.number("BYT_N")?;
    let code = match (&format[..], size) {
        ("RI", 1.0) => Code::I8,
        ("RI", 2.0) => Code::I16,
        ("RI", 4.0) => Code::I32,
        ("RP", 1.0) => Code::U8,
        ("RP", 2.0) => Code::U16,
        ("RP", 4.0) => Code::U32,
        ("FP", 4.0) => Code::F32,
        ("FP", 8.0) => Code::F64,
        _ => {
            let format = shown(&format);
            return Err(Error::Unusable(format!(
                "samples of {size} bytes in the format `{format}`; RI, RP and FP are read: save as \
                 CSV"
            )));
        }
    };
    let order = settings.text("BYT_O").unwrap_or("MSB").to_uppercase();
    let scale = settings.number("YMU")?;
    let offset =
        settings.number("YZE").unwrap_or(0.0) - settings.number("YOF").unwrap_or(0.0) * scale;
    Ok(Volts { code, big: order.starts_with("MSB"), scale, offset })
}
