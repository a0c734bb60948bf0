//! Plots as SVG, a function for each, from plain data.
//!
//! The SVG is written by a template from places that are computed here, and not by `plotters`: its
//! backends take whole pixels, so that a point lies up to half a pixel off, which a paper shows; it
//! writes an element for each point, which makes 76,000 readings megabytes; and it writes neither
//! titles and descriptions nor classes, by which one drawing is light, dark and on paper.
//!
//! Colours are those of Okabe and Ito, darkened where white paper needs it. No kind of mark differs
//! by its colour alone: circles are used, crosses left out, dashes are guides.
//!
//! ```
//! use hairspring_page::svg::{Bar, budget};
//! let bars = [Bar { name: "noise".into(), size: 0.5, text: "0.5 ns".into() },
//!     Bar { name: "lack of fit".into(), size: 0.2, text: "0.2 ns".into() }];
//! let plot = budget("budget", "Error budget of body", &bars).unwrap();
//! assert!(plot.svg.starts_with("<svg") && plot.svg.contains(">lack of fit</text>"));
//! ```

mod bars;
mod chart;
mod graph;
mod history;
mod intervals;
mod line;
mod readings;
mod scale;
mod wave;

pub use bars::{Bar, Bin, budget, histogram};
pub use graph::{Arrow, Node, graph};
pub use history::{Moment, Stretch, history};
pub use intervals::{Interval, intervals};
pub use line::{line, residuals};
pub use readings::{Spot, core_clock, readings};
pub use scale::{Scale, Span, ticks};
pub use wave::{edges, signal};

/// Style of the plots, for pages that hold some.
pub const STYLE: &str = include_str!("../../templates/plot.css");

/// A finished plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// A name of lower-case letters, digits and hyphens: a file may have it.
    pub name: String,
    /// What it shows, as its title says.
    pub title: String,
    /// The SVG, for a page that has [`STYLE`].
    pub svg: String,
}

impl Plot {
    /// The SVG with its style: a file of its own.
    pub fn file(&self) -> String {
        let head = self.svg.find('>').map_or(0, |at| at + 1);
        let (head, rest) = self.svg.split_at(head);
        format!("{head}<style>{STYLE}</style>{rest}\n")
    }
}

/// A text of at most so many characters; a cut one ends in an ellipsis.
pub(crate) fn short(text: &str, most: usize) -> String {
    hairspring_view::clean::cut(&hairspring_view::clean::clean(text), most)
}

#[cfg(test)]
mod tests;
