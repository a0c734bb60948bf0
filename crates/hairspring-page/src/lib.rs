//! Results as one HTML page: self-contained, without any request to a host, light, dark and on
//! paper, and readable without JavaScript. Its plots are SVG ([`svg`]), also for files of their
//! own.
//!
//! [`page`] makes a page of any document that a verb prints with `--json`; [`plots`] gives its
//! plots alone. A page made of a document alone has no single readings: with the observations
//! ([`Extras::table`]) they are solved again, and drawn. A caller with scripts of its own adds them
//! by [`Interactive`]. Nothing here opens a file, so it builds for wasm32, too.
//!
//! ```
//! use hairspring_page::{Extras, page, plots};
//!
//! let document = r#"{"schema": "hairspring/result/2", "command": "run", "results": [
//!     {"name": "<multiply>", "components": {"body": {"time_ns":
//!     {"value": 0.812, "low": 0.811, "high": 0.813, "level": 0.95}}}}]}"#;
//! let html = page(document, &Extras::default()).unwrap();
//! assert!(html.contains("0.81200 ns \u{b1}\u{a0}0.00100") && html.contains("&#60;multiply&#62;"));
//! assert!(plots(document, &Extras::default()).unwrap().is_empty());
//! ```

mod html;
pub mod svg;

pub use html::{Data, Interactive, Solved};

use hairspring_core::observations::Observations;
use hairspring_result::read::read;
use hairspring_result::{Environment, ResultDocument};
use hairspring_view::node::Node;
use html::{Block, Sheet, other_document, result_document};
use serde::Deserialize;
use svg::Plot;

/// Beginning of the schemas of a measurement.
const MEASUREMENT: &str = "hairspring/result/";

/// What a page has beyond its document.
#[derive(Debug, Clone, Default)]
pub struct Extras<'e> {
    /// The observations of the document: they are solved again, and their readings drawn.
    pub table: Option<&'e Observations>,
    /// Further plots, such as the edges of a recording.
    pub plots: Vec<Plot>,
    /// Scripts; none in a static page.
    pub interactive: Option<Interactive>,
}

/// What every document has.
#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
    #[serde(default)]
    environment: Option<Environment>,
}

/// The page of a document that a verb printed with `--json`.
///
/// # Errors
/// The text is not such a document; its observations cannot be solved or are of another one. The
/// message begins behind the name of the file.
pub fn page(text: &str, extras: &Extras) -> Result<String, String> {
    sheet(text, extras)?.write(extras.interactive.as_ref())
}

/// The page of a measurement.
///
/// # Errors
/// The observations cannot be solved or are of another measurement.
pub fn result_page(document: &ResultDocument, extras: &Extras) -> Result<String, String> {
    result_document(document, extras)?.write(extras.interactive.as_ref())
}

/// A page without its frame, for a page that has more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// Its title, as text.
    pub title: String,
    /// What is said below the title, as text; may be empty.
    pub about: String,
    /// Its contents, as HTML. The style is that of `templates/`.
    pub html: String,
}

/// The contents of the page of a measurement, with headings from a level on.
///
/// # Errors
/// As [`result_page`].
pub fn result_fragment(
    document: &ResultDocument,
    extras: &Extras,
    level: u8,
) -> Result<Fragment, String> {
    let sheet = result_document(document, extras)?;
    let html = sheet.contents(level)?;
    Ok(Fragment { title: sheet.title, about: sheet.about, html })
}

/// The plots of a document, in the order of its page. Their names differ.
///
/// # Errors
/// As [`page`].
pub fn plots(text: &str, extras: &Extras) -> Result<Vec<Plot>, String> {
    Ok(sheet(text, extras)?.blocks.iter().flat_map(Block::plots).collect())
}

/// The plots of a measurement, in the order of its page.
///
/// # Errors
/// As [`result_page`].
pub fn result_plots(document: &ResultDocument, extras: &Extras) -> Result<Vec<Plot>, String> {
    Ok(result_document(document, extras)?.blocks.iter().flat_map(Block::plots).collect())
}

fn sheet(text: &str, extras: &Extras) -> Result<Sheet, String> {
    let head: Head = serde_json::from_str(text)
        .map_err(|error| format!("is not a JSON document of hairspring: {error}"))?;
    match head.schema.as_deref() {
        Some(schema) if schema.starts_with(MEASUREMENT) => measurement(text, extras),
        Some(schema) if schema.starts_with("hairspring/") => {
            let document: Node = serde_json::from_str(text)
                .map_err(|error| format!("is not a JSON document of hairspring: {error}"))?;
            Ok(other_document(&document, head.environment.as_ref(), extras))
        }
        Some(other) => Err(format!(
            "is a document of `{}`: expected one of hairspring, what a verb prints with --json",
            other.escape_debug()
        )),
        None => Err("has no key `schema`: expected a document of hairspring, what a verb prints \
                     with --json"
            .into()),
    }
}

/// The page of a measurement, with its comparison with a baseline, which is written but not read.
fn measurement(text: &str, extras: &Extras) -> Result<Sheet, String> {
    #[derive(Deserialize)]
    struct Beside {
        #[serde(default)]
        baseline: Option<Node>,
    }
    let mut sheet = result_document(&read(text)?, extras)?;
    let beside: Option<Beside> =
        text.contains("\"baseline\"").then(|| serde_json::from_str(text).ok()).flatten();
    if let Some(baseline) = beside.and_then(|beside| beside.baseline) {
        let compared = other_document(&baseline, None, &Extras::default());
        let at = sheet.blocks.len().saturating_sub(3);
        sheet.blocks.insert(at, Block::Group("Against the baseline".into(), compared.blocks));
    }
    Ok(sheet)
}
