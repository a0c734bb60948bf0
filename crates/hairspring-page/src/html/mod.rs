//! Pages: blocks, and the frame around them.

mod block;
mod blocks_document;
mod certificate;
mod clocks;
mod experiment;
mod fleet;
mod instructions;
mod interactive;
mod machine;
mod other;
mod result;
mod stages;
mod table;

pub use interactive::{Data, Interactive};
pub use table::Table as Solved;

pub(crate) use block::Block;
pub(crate) use other::document as other_document;
pub(crate) use result::document as result_document;

use crate::svg;
use askama::Template;
use block::Blocks;
use interactive::policy;

/// A page before it is written.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sheet {
    /// Its title.
    pub title: String,
    /// What is said below the title.
    pub about: String,
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// Where it comes from: the last line.
    pub origin: String,
}

impl Sheet {
    /// The page as text.
    pub fn write(&self, interactive: Option<&Interactive>) -> Result<String, String> {
        let frame = Frame {
            title: &self.title,
            about: &self.about,
            policy: policy(interactive),
            page_style: include_str!("../../templates/page.css"),
            plot_style: svg::STYLE,
            blocks: Blocks { blocks: &self.blocks, level: 2 },
            origin: &self.origin,
            interactive,
        };
        frame.render().map_err(|error| format!("the page could not be written: {error}"))
    }

    /// Its blocks alone, with headings from a level on.
    pub fn contents(&self, level: u8) -> Result<String, String> {
        let blocks = Blocks { blocks: &self.blocks, level };
        blocks.render().map_err(|error| format!("the page could not be written: {error}"))
    }
}

#[derive(Template)]
#[template(path = "page.html")]
struct Frame<'f> {
    title: &'f str,
    about: &'f str,
    policy: String,
    page_style: &'f str,
    plot_style: &'f str,
    blocks: Blocks<'f>,
    origin: &'f str,
    interactive: Option<&'f Interactive>,
}
