//! Catch2: `-r xml`. The interval of the mean is a bootstrap's, in nanoseconds of one iteration.

use super::model::{Results, Times};
use super::{Format, Shape};
use hairspring_core::Estimate;
use roxmltree::{Document, Node, ParsingOptions};

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "Catch2",
    file: "XML of -r xml",
    detects: |shape: &Shape| matches!(shape, Shape::Text(text) if is_text(text)),
    read,
};

const VALUE: &str = "one iteration, averaged over a sample";
const LACKS: &str = "how samples in a row are correlated (the intervals are Catch2's own, by \
                     resampling), nor how processes and builds differ: all samples are of one \
                     process";
/// Nodes of a document; a file with more counts as damaged.
const MOST_NODES: u32 = 5_000_000;

fn is_text(text: &str) -> bool {
    text.trim_start().starts_with('<') && text.contains("<BenchmarkResults")
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| format!("is not {} of {}: {error}", format.file, format.tool))?;
    let mut results = format.results(&[LACKS]);
    let version = document.root_element().attribute("catch2-version");
    results.origin.version = version.map(str::to_owned);
    for node in document.descendants().filter(|node| node.has_tag_name("BenchmarkResults")) {
        let name = name(node);
        match times(node) {
            Some(times) => results.push(&name, VALUE, times)?,
            None => results.left_out(&name, "it has no mean with its interval"),
        }
    }
    results.finish()
}

/// The names of the test case, of its sections and of the benchmark.
fn name(node: Node) -> String {
    let mut parts: Vec<&str> = node
        .ancestors()
        .filter(|one| ["BenchmarkResults", "Section", "TestCase"].contains(&one.tag_name().name()))
        .filter_map(|one| one.attribute("name"))
        .collect();
    parts.reverse();
    parts.join("/")
}

fn times(node: Node) -> Option<Times> {
    let mean = node.children().find(|child| child.has_tag_name("mean"))?;
    let number = |name: &str| {
        mean.attribute(name)?.trim().parse::<f64>().ok().filter(|number| number.is_finite())
    };
    let (value, low, high) = (number("value")?, number("lowerBound")?, number("upperBound")?);
    let level = number("ci").filter(|level| 0.0 < *level && *level < 1.0)?;
    let interval = Estimate { value, low, high, level };
    (low <= value && value <= high).then_some(Times::Given { interval, statistic: "mean" })
}
