//! The readings of a table with their weights, as CSV.

use super::Weighed;
use crate::observations::{Observations, Unit, quoted};
use std::io::Write;

/// Writes every reading of a table, in its order: series, counts, round, the reading, the reading
/// at the mean core clock, its weight (1 or 0), and the stage that left it out (empty for a reading
/// that is used).
///
/// # Errors
/// Errors of the stream.
pub fn write_weighed(
    table: &Observations,
    weighed: &[Weighed],
    stream: impl Write,
) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(stream);
    let unit = if table.origin.unit == Unit::TimeNs { "time_ns" } else { "ticks" };
    let components: String =
        table.components().iter().map(|name| format!("{},", quoted(name))).collect();
    writeln!(out, "series,{components}round,{unit},at_mean_clock,weight,left_out_by")?;
    for weighed_reading in weighed {
        let reading = &table.readings()[weighed_reading.reading];
        let row = &table.rows()[reading.row as usize];
        write!(out, "{},", quoted(&table.series_names()[usize::from(row.series)]))?;
        row.counts.iter().try_for_each(|count| write!(out, "{count},"))?;
        let (weight, reason) = (
            u8::from(weighed_reading.left_out_by.is_none()),
            weighed_reading.left_out_by.unwrap_or_default(),
        );
        writeln!(
            out,
            "{},{},{},{weight},{reason}",
            reading.round, reading.ticks, weighed_reading.ticks
        )?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Options;
    use crate::pipeline::weighed;

    #[test]
    fn readings_have_weights_and_reasons() {
        let rows = |at: u32| {
            format!("\"a,b\",{0},{1},{2}\n", at % 4 + 1, at / 4, 100 * (at % 4 + 1) + 8 + at % 3)
        };
        let text = format!(
            "series,body,round,ticks\n{}\"a,b\",3,80,9000\n",
            (0..320).map(rows).collect::<String>()
        );
        let table = crate::observations::read_csv(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        write_weighed(&table, &weighed(&table, &Options::default()).unwrap(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            (lines.len(), lines[0]),
            (322, "series,body,round,ticks,at_mean_clock,weight,left_out_by")
        );
        assert_eq!(lines[1], "\"a,b\",1,0,108,108,1,");
        assert_eq!(lines[321], "\"a,b\",3,80,9000,9000,0,spikes");
    }
}
