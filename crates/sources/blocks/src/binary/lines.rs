//! Source lines of code addresses, from the debug information of the file.

use super::image::Image;
use crate::graph::{Graph, Source};
use addr2line::Loader;
use std::cell::RefCell;
use std::collections::HashMap;

/// The debug information of a file; empty where there is none.
pub struct Lines {
    loader: Option<Loader>,
    sources: RefCell<HashMap<String, Vec<String>>>,
}

impl Lines {
    /// Reads the debug information of an image, or of the file into which it was moved; without any
    /// there are no lines.
    pub fn open(image: &Image) -> Lines {
        let loader = match &image.separate {
            Some((path, shared)) => Loader::new_with_sup(path, shared.as_ref()).ok(),
            None => Loader::new(&image.path).ok(),
        };
        Lines { loader, sources: RefCell::default() }
    }

    /// The file and the line of an address.
    pub fn at(&self, address: u64) -> Option<(String, u32)> {
        let location = self.loader.as_ref()?.find_location(address).ok()??;
        Some((location.file?.to_owned(), location.line.filter(|line| *line > 0)?))
    }

    /// Gives every block of a graph its lines; `instructions` lists the addresses of a block's
    /// instructions in the file.
    pub fn annotate(&self, graph: &mut Graph, instructions: impl Fn(usize) -> Vec<u64>) {
        for at in 0..graph.blocks.len() {
            graph.blocks[at].source = self.of_addresses(&instructions(at));
        }
    }

    /// The lines of a block in the source file of its first instruction.
    fn of_addresses(&self, addresses: &[u64]) -> Option<Source> {
        let all_places: Vec<(String, u32)> =
            addresses.iter().filter_map(|address| self.at(*address)).collect();
        let file = all_places.first()?.0.clone();
        let lines = || all_places.iter().filter(|(other, _)| *other == file).map(|(_, line)| *line);
        let (line, last_line) = (lines().min()?, lines().max()?);
        Some(Source {
            line,
            last_line,
            text: self.statement(&file, line).unwrap_or_default(),
            file,
        })
    }

    /// The text of a line; `None` if the file cannot be read or is shorter.
    pub fn statement(&self, file: &str, line: u32) -> Option<String> {
        let mut sources = self.sources.borrow_mut();
        let lines = sources.entry(file.to_owned()).or_insert_with(|| read(file));
        lines.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// The lines of a source file; none where it cannot be read.
fn read(file: &str) -> Vec<String> {
    std::fs::read_to_string(file)
        .map(|text| text.lines().map(|line| line.trim().to_owned()).collect())
        .unwrap_or_default()
}
