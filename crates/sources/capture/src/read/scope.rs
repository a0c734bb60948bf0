//! Heads of oscilloscopes' tables: Rigol, Siglent, Tektronix, Keysight and PicoScope put their
//! settings before, or beside, the samples.

use super::csv::Head;
use super::fields::{Fields, names};

/// Most lines of a head.
pub(super) const MOST_LINES: u32 = 100;

/// Takes a line of the head. Returns the row that an old Tektronix writes beside a setting.
pub(super) fn line(head: &mut Head, fields: &mut Fields, text: &str) -> Option<Vec<f64>> {
    head.lines += 1;
    let parts = names(text);
    fields.open_end |= parts.len() > 1 && parts.last().is_some_and(String::is_empty);
    let first = parts[0].to_lowercase();
    // Siglent names the kind of channel before the number: `Analog:5.0E-05`.
    let number = |at: usize| {
        parts.get(at).and_then(|part| part.rsplit(':').next()?.trim().parse::<f64>().ok())
    };
    let others = || parts[1..].iter().filter(|part| !part.is_empty()).cloned();
    // Samples of the settings' lines stand in the fourth and fifth column.
    if let (Some(time), Some(volts), true) =
        (number(3), number(4), parts.len() <= 6 && parts.get(2).is_some_and(String::is_empty))
    {
        setting(head, &first, number(1));
        (fields.skipped, fields.open_end) = (3, true);
        head.names = vec!["TIME".into(), "CH1".into()];
        return Some(vec![time, volts]);
    }
    match &first[..] {
        "sample interval" => setting(head, &first, number(1)),
        "sample rate" => setting(head, "sample interval", number(1).map(f64::recip)),
        "source" => head.channels = others().collect(),
        // Keysight: channels by number, and their units in the next line.
        "second" if head.names.first().is_some_and(|name| name == "x-axis") => {
            head.names[0] = "second".into()
        }
        // Siglent: channels by name in a line before.
        "second" if head.channels.len() + 1 == parts.len() => {
            head.names =
                std::iter::once("second".to_owned()).chain(head.channels.drain(..)).collect();
        }
        // Rigol: the first column counts samples, the distance of which stands behind the channels.
        "sequence" => {
            let step = head.names.iter().position(|name| name == "Increment").and_then(number);
            setting(head, "sample interval", step);
            let channels = head.names.iter().take_while(|name| *name != "Start").skip(1).cloned();
            head.names = std::iter::once("Time".to_owned()).chain(channels).collect();
            fields.open_end = true;
        }
        _ if parts.iter().any(|part| part.to_lowercase().starts_with("tinc")) => {
            by_increment(head, fields, &parts)
        }
        // PicoScope: units in brackets below the names.
        _ if parts.len() == head.names.len()
            && parts.iter().all(|part| part.starts_with('(') && part.ends_with(')')) =>
        {
            head.names[0] = format!("{} {}", head.names[0], parts[0]);
        }
        _ => head.names = parts,
    }
    None
}

/// A setting that counts: the distance of the samples in seconds.
fn setting(head: &mut Head, name: &str, value: Option<f64>) {
    if let Some(step) =
        value.filter(|step| name == "sample interval" && *step > 0.0 && step.is_finite())
    {
        (head.hz, head.even) = (Some(1.0 / step), true);
    }
}

/// Rigol without a column of times: `CH1V,CH2V,t0 = -0.001, tInc = 1e-09`.
fn by_increment(head: &mut Head, fields: &mut Fields, parts: &[String]) {
    // Some models write the unit, `tInc = 1e-09s`.
    let value = |part: &String| {
        part.split_once('=')
            .and_then(|(_, value)| value.trim().trim_end_matches('s').parse::<f64>().ok())
    };
    let step = parts.iter().find(|part| part.to_lowercase().starts_with("tinc")).and_then(value);
    setting(head, "sample interval", step);
    head.names =
        parts.iter().filter(|part| !part.is_empty() && !part.contains('=')).cloned().collect();
    fields.open_end = true;
}
