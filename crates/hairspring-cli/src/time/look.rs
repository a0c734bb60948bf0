//! The first line of an answer, on a terminal only: the times as they are known so far, refined
//! while the rounds go on.

use crate::output;
use hairspring_core::Estimate;
use hairspring_core::judge::{Assessment, SeriesResult};
use hairspring_view::format::plus_minus;

/// Shows what a look found, in the line that the next look overwrites.
pub fn show(assessment: &Assessment) {
    output::status_line(&line(&assessment.series));
}

/// Takes the line away.
pub fn clear() {
    output::status_line("");
}

/// `so far: 4.01 +- 0.02 cycles`, with a time for each alternative.
fn line(series: &[SeriesResult]) -> String {
    let times: Vec<String> = series
        .iter()
        .filter_map(time)
        .map(|(time, unit)| format!("{} {unit}", plus_minus(&time)))
        .collect();
    if times.is_empty() { String::new() } else { format!("so far: {}", times.join(", ")) }
}

/// The time of the body in the first unit that there is.
fn time(series: &SeriesResult) -> Option<(Estimate, &'static str)> {
    let time = &series.components.first()?.time;
    let level = time.ticks.level;
    let of = |value: &Option<hairspring_core::estimate::Uncertain>, unit| {
        value.as_ref().map(|value| (value.estimate(level), unit))
    };
    of(&time.cycles, "cycles").or(of(&time.ns, "ns")).or(Some((time.ticks, "ticks")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::judge::{Question, assess};
    use hairspring_core::observations::Observations;

    #[test]
    fn a_look_shows_the_time_of_each_alternative() {
        let mut table = Observations::new(vec!["body".into()]);
        for (name, time) in [("code", 4.0), ("again", 8.0)] {
            let series = table.series(name);
            for (round, copies) in
                (0..40).flat_map(|round| [8.0, 16.0, 32.0].map(|copies| (round, copies)))
            {
                let row = table.row(series, &[copies]);
                table.push(row, round, 100.0 + time * copies + f64::from(round * 7 % 5));
            }
        }
        let shown = line(&assess(&table, &Question::default()).unwrap().series);
        assert!(
            shown.starts_with("so far: 4.0")
                && shown.contains(", 8.0")
                && shown.ends_with(" ticks"),
            "{shown}"
        );
        assert_eq!(line(&[]), "");
    }
}
