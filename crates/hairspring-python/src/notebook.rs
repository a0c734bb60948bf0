//! A result in a notebook: the Markdown of the view as HTML, and the plots of the page.
//!
//! A notebook has its own style, light or dark by its own choice, so that plots are those for
//! paper: on white, without the rules for a dark screen.

use hairspring_core::observations::Observations;
use hairspring_page::svg::{Plot, STYLE};
use hairspring_page::{Extras, result_plots};
use hairspring_result::ResultDocument;
use hairspring_view::markdown;
use pulldown_cmark::{Options, Parser, html::push_html};

/// Plots that are shown at once; any more are folded.
const OPEN: usize = 1;
/// Bytes of the plots: a notebook keeps them in its file.
const MOST_BYTES: usize = 400_000;

/// The plots of a result; those of single readings need its table. A table that cannot be solved
/// again is left out.
///
/// # Errors
/// The document has no plots because it is damaged.
pub fn plots(document: &ResultDocument, table: Option<&Observations>) -> Result<Vec<Plot>, String> {
    let with = Extras { table, ..Extras::default() };
    result_plots(document, &with).or_else(|_| result_plots(document, &Extras::default()))
}

/// The result as a piece of a page.
///
/// # Errors
/// As [`plots`].
pub fn html(document: &ResultDocument, table: Option<&Observations>) -> Result<String, String> {
    let mut out = String::from("<div class=\"hairspring\">\n");
    let text = markdown::of(document);
    push_html(&mut out, Parser::new_ext(&text, Options::ENABLE_TABLES));
    let plots = plots(document, table)?;
    let (open, more_plots) = plots.split_at(plots.len().min(OPEN));
    if !open.is_empty() {
        let paper = STYLE.split("@media").next().unwrap_or_default();
        out += &format!("<style>{paper}</style>\n{}", drawn(open, &mut 0));
    }
    if !more_plots.is_empty() {
        let drawn = drawn(more_plots, &mut out.len());
        out += &format!("<details><summary>More plots</summary>\n{drawn}</details>\n");
    }
    Ok(out + "</div>\n")
}

/// The plots on white, as far as there is room for them.
fn drawn(plots: &[Plot], bytes: &mut usize) -> String {
    let mut fits = |plot: &&Plot| {
        *bytes += plot.svg.len();
        *bytes <= MOST_BYTES
    };
    let one_plot = |plot: &Plot| {
        format!("<div style=\"background:#fff;max-width:720px\">{}</div>\n", plot.svg)
    };
    plots.iter().filter(|plot| fits(plot)).map(one_plot).collect()
}
