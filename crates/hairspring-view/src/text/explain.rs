//! What each stage of the estimator did (`--explain`): a paragraph for each, with its effect on the
//! first time of the series.

use crate::format::{count, significant};
use crate::page::{Page, Style, Tone};
use hairspring_core::pipeline::BY_REQUEST;
use hairspring_result::document::Stage;
use hairspring_result::{ResultDocument, Series};

/// Column of the text beside the names of stages.
const COLUMN: usize = 14;
/// Smaller effects are not shown, in percent.
const SMALLEST_EFFECT: f64 = 0.0005;

/// The stages of a series.
#[derive(Debug, Clone, Copy)]
pub struct Staged<'s> {
    /// The series, where there are several.
    pub name: Option<&'s str>,
    /// Name of the time that the effects are about.
    pub time: Option<&'s str>,
    /// Number of its readings.
    pub readings: usize,
    /// Processes that it was measured in; the stages are those of the first one.
    pub processes: usize,
    /// What each stage did.
    pub stages: &'s [Stage],
}

/// The stages of all series of a document, behind an empty line.
pub fn explain(document: &ResultDocument, style: &Style) -> String {
    let name = |series: &'_ Series| (document.results.len() > 1).then_some(series.name.clone());
    let names: Vec<Option<String>> = document.results.iter().map(name).collect();
    let all =
        document.results.iter().zip(&names).map(|(series, name)| staged(series, name.as_deref()));
    explain_all(&all.collect::<Vec<_>>(), style)
}

fn staged<'s>(series: &'s Series, name: Option<&'s str>) -> Staged<'s> {
    let first = series.components.iter().next();
    let processes = first.and_then(|(_, part)| part.runs.as_ref()).map_or(1, Vec::len);
    Staged {
        name,
        time: first.map(|(name, _)| name.as_str()),
        readings: series.fit.readings,
        processes,
        stages: &series.stages,
    }
}

/// The stages of these series, behind an empty line.
pub fn explain_all(all: &[Staged], style: &Style) -> String {
    let mut page = Page::new(*style);
    for one in all {
        page.line("", Tone::Plain);
        page.item("stages", &heading(one), Tone::Strong);
        one.stages.iter().for_each(|stage| {
            page.item_at(COLUMN, &stage.stage, &told(stage, one.readings), Tone::Quiet)
        });
    }
    page.finish()
}

/// `main: what each asked, and what it did; effects are those on body, of 320 readings`.
fn heading(one: &Staged) -> String {
    let name = one.name.map_or_else(String::new, |name| format!("{name}: "));
    if one.stages.is_empty() {
        return format!("{name}not in the document: the program is of a version without them");
    }
    let time = one.time.map_or_else(String::new, |time| format!("; effects are those on {time}"));
    let process = if one.processes > 1 {
        format!(", in the first of {} processes", one.processes)
    } else {
        String::new()
    };
    format!(
        "{name}what each asked, and what it did with {} readings{process}{time}",
        count(one.readings)
    )
}

/// Question, answer, and effects of a stage, of so many readings of its series.
pub fn told(stage: &Stage, readings: usize) -> String {
    let did_not_run = !stage.acted && (stage.did.starts_with("needs ") || stage.did == BY_REQUEST);
    let is_said_by_effects =
        stage.left_out > 0 && stage.did == format!("{} of {readings} readings", stage.left_out);
    let did = if is_said_by_effects {
        String::new()
    } else if did_not_run {
        format!("did not run: {}", stage.did)
    } else {
        stage.did.clone()
    };
    let parts: Vec<String> = Some(did)
        .filter(|did| !did.is_empty())
        .into_iter()
        .chain(effects(stage, readings))
        .collect();
    format!("{} {}", stage.question, parts.join("; "))
}

fn effects(stage: &Stage, readings: usize) -> Vec<String> {
    let share = significant(100.0 * stage.left_out as f64 / readings.max(1) as f64, 2);
    let left_out = (stage.left_out > 0).then(|| {
        format!("left out {} of {} readings ({share} %)", count(stage.left_out), count(readings))
    });
    let shown = |percent: Option<f64>| percent.filter(|percent| percent.abs() >= SMALLEST_EFFECT);
    let sign = |percent: f64| if percent > 0.0 { "+" } else { "" };
    let moved = shown(stage.moved_percent)
        .map(|percent| format!("moved it by {}{} %", sign(percent), significant(percent, 2)));
    let widened = shown(stage.widened_percent)
        .map(|percent| format!("widened it by +- {} %", significant(percent, 2)));
    [left_out, moved, widened].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(did: &str, acted: bool) -> Stage {
        let question =
            "Which readings are far from the others of their row in the same time?".to_owned();
        Stage {
            stage: "spikes".into(),
            question,
            did: did.into(),
            acted,
            left_out: 0,
            moved_percent: None,
            widened_percent: None,
        }
    }

    fn text(stages: &[Stage], width: usize) -> String {
        let all = [Staged {
            name: Some("main"),
            time: Some("body"),
            readings: 320,
            processes: 5,
            stages,
        }];
        explain_all(&all, &Style { width, ..Style::default() })
    }

    #[test]
    fn a_stage_tells_its_question_its_answer_and_its_effects() {
        let out = Stage {
            left_out: 12,
            moved_percent: Some(-0.125),
            widened_percent: Some(1e-9),
            ..stage("12 of 400 readings", true)
        };
        let same = Stage { did: "12 of 320 readings".into(), ..out.clone() };
        let wide =
            Stage { moved_percent: Some(0.5), widened_percent: Some(0.25), ..stage("", true) };
        let expected = "
  stages    main: what each asked, and what it did with 320 readings, in the
            first of 5 processes; effects are those on body
  spikes      Which readings are far from the others of their row in the same
              time? 12 of 400 readings; left out 12 of 320 readings (3.8 %);
              moved it by -0.12 %
  spikes      Which readings are far from the others of their row in the same
              time? left out 12 of 320 readings (3.8 %); moved it by -0.12 %
  spikes      Which readings are far from the others of their row in the same
              time? moved it by +0.5 %; widened it by +- 0.25 %
";
        assert_eq!(text(&[out, same, wide], 80), expected);
    }

    #[test]
    fn a_stage_that_did_not_run_says_why() {
        let text = text(
            &[
                stage("needs guards around the readings", false),
                stage(BY_REQUEST, false),
                stage("no reading has a flag", false),
            ],
            80,
        );
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("time? did not run: needs guards around the readings"), "{text}");
        assert!(
            text.contains("time? did not run: left out by request")
                && text.contains("time? no reading has a flag"),
            "{text}"
        );
    }

    #[test]
    fn pages_are_narrow_and_hostile_names_are_harmless() {
        let hostile = Stage { stage: "\u{1b}[31m".into(), ..stage(&"\u{7}x".repeat(300), true) };
        for line in text(&[hostile], 60).lines() {
            assert!(line.chars().count() <= 60 && !line.chars().any(char::is_control), "{line:?}");
        }
        assert!(text(&[], 80).contains("not in the document"));
    }
}
