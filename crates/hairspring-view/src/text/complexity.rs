//! How times grow with an argument, below the table of times.

use crate::clean::clean;
use crate::format::{plus_minus, readable, significant};
use crate::page::{Page, Style, Tone};
use hairspring_core::Estimate;
use hairspring_result::complexity::{Complexity, Model};

/// All curves as text; a sentence where no argument has enough values.
pub fn complexity(curves: &[Complexity], style: &Style) -> String {
    let mut page = Page::new(*style);
    if curves.is_empty() {
        page.item("growth", NO_CURVES, Tone::Plain);
    }
    for curve in curves {
        let told = growth(curve);
        page.item("growth", &told.heading, Tone::Strong);
        told.details.iter().for_each(|detail| page.item("", detail, Tone::Plain));
    }
    format!("\n{}", page.finish())
}

/// What `--complexity` needs.
const NO_CURVES: &str = "unknown: it takes benchmarks that differ in one argument alone, a number \
                         of at least 1, with four values or more (`copy/size:64`)";

/// A curve in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// `copy in size, 5 values from 16 to 4096: O(n)`.
    pub heading: String,
    /// Sentences about the model, and about the others.
    pub details: Vec<String>,
}

/// A curve in words.
pub fn growth(curve: &Complexity) -> Told {
    let argument = match curve.argument.parse::<u32>() {
        Ok(place) => format!("argument {place}"),
        Err(_) => curve.argument.clone(),
    };
    let span = match (curve.values.first(), curve.values.last()) {
        (Some(first), Some(last)) => {
            format!("{} values from {first} to {last}", curve.values.len())
        }
        _ => "no values".to_owned(),
    };
    let order = curve.models.first().map_or("no model", |model| &model.order);
    let heading = format!("{} in {}, {span}: {order}", clean(&curve.name), clean(&argument));
    let details = [curve.models.first().map(|model| line(model, &curve.unit)), others(curve)];
    Told { heading, details: details.into_iter().flatten().chain(left_out(curve)).collect() }
}

/// The nearest model as an equation, and how near it is.
fn line(model: &Model, unit: &str) -> String {
    let slope = model
        .slope
        .map(|slope| format!("{} for each {}", quantity(&slope, unit), model.function()));
    let intercept = quantity(&model.intercept, unit);
    let equation = match slope {
        Some(slope) if model.intercept.value > 0.0 => format!("{intercept}, and {slope}"),
        Some(slope) => slope,
        None => intercept,
    };
    let residual = significant(100.0 * model.residual, 2);
    format!("{equation}; the times lie {residual} % beside it (one standard deviation)")
}

/// Value and half-width with their unit.
fn quantity(estimate: &Estimate, unit: &str) -> String {
    let (estimate, unit) = readable(estimate, unit);
    format!("({}) {unit}", plus_minus(&estimate))
}

/// The other models that the times do not exclude.
fn others(curve: &Complexity) -> Option<String> {
    let open: Vec<&str> = curve.models[1..]
        .iter()
        .filter(|model| !model.excluded)
        .map(|model| model.order.as_str())
        .collect();
    let level = curve.models[0].intercept.level * 100.0;
    let last = open.last()?;
    let verb = if open.len() == 1 { "is" } else { "are" };
    let all = match &open[..open.len() - 1] {
        [] => (*last).to_owned(),
        rest => format!("{} and {last}", rest.join(", ")),
    };
    Some(format!("{all} {verb} not excluded at {level} %: more values, or larger ones, may do it"))
}

fn left_out(curve: &Complexity) -> Option<String> {
    let values: Vec<String> = curve.left_out.iter().map(ToString::to_string).collect();
    (!values.is_empty())
        .then(|| format!("left out, because they are below resolution: {}", values.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f64, half: f64) -> Estimate {
        Estimate { value, low: value - half, high: value + half, level: 0.95 }
    }

    fn model(order: &str, excluded: bool) -> Model {
        Model {
            order: order.to_owned(),
            intercept: exact(12.0, 0.3),
            slope: (order != "O(1)").then(|| exact(0.5, 0.001)),
            residual: 0.0123,
            excluded,
        }
    }

    fn curve() -> Complexity {
        Complexity {
            name: "copy\u{1b}[31m".to_owned(),
            argument: "size".to_owned(),
            unit: "ns".to_owned(),
            values: vec![16.0, 64.0, 256.0, 4096.0],
            left_out: vec![1.0],
            models: vec![model("O(n)", false), model("O(n log n)", false), model("O(1)", true)],
        }
    }

    #[test]
    fn a_curve_is_told_with_what_is_not_excluded() {
        let text = complexity(&[curve()], &Style::default());
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains("in size, 4 values from 16 to 4096: O(n) (12.00 +- 0.30) ns, and"),
            "{flat}"
        );
        assert!(flat.contains("ns for each n; the times lie 1.2 % beside it"), "{flat}");
        assert!(flat.contains("O(n log n) is not excluded at 95 %"), "{flat}");
        assert!(flat.contains("below resolution: 1"), "{flat}");
        assert!(text.lines().all(|line| line.chars().count() <= 80) && !text.contains('\u{1b}'));
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(complexity(&[], &Style::default()).contains("four"));
    }

    #[test]
    fn an_argument_without_a_name_is_counted() {
        let told = growth(&Complexity { argument: "2".to_owned(), ..curve() });
        assert!(told.heading.contains("in argument 2,"), "{told:?}");
    }
}
