//! Entry points for the fuzz targets, which are another package; not part of the interface.

use crate::binary::{Code, Image, Observed, callee, cut};
use crate::graph::Graph;
use std::path::Path;

/// Maximum number of functions per file.
const MOST_FUNCTIONS: usize = 16;

/// Reads a program from its bytes, and cuts its functions as `measure` does. Returns whether one
/// was found.
pub fn program(bytes: &[u8]) -> bool {
    let Ok(image) = Image::parse(Path::new("program"), bytes.to_vec()) else { return false };
    let _ = (
        image.loads(),
        image.dynamic(),
        image.has_symbols(),
        image.calls_for("malloc"),
        image.similar("main"),
    );
    let cut_one = |(name, address): (String, u64)| {
        let _ = image.find(&name);
        image.name_of(address);
        function(&image, address)
    };
    // Not `any`, which would end with the first one.
    image.functions().into_iter().take(MOST_FUNCTIONS).map(cut_one).filter(|found| *found).count()
        > 0
}

fn function(image: &Image, address: u64) -> bool {
    let Ok(function) = image.at(address) else { return false };
    let parts = function
        .ranges
        .iter()
        .filter_map(|range| Some((range.start, image.bytes(range).ok()?)))
        .collect();
    let code = Code::new(parts);
    let graph = cut(&code, function.entry, &Observed::new());
    check(&graph, &code);
    for block in &graph.blocks {
        let mut at = block.start;
        while let Some(instruction) = code.decode(at).filter(|_| at < block.end) {
            callee(image, &instruction);
            at = instruction.next_ip();
        }
    }
    !graph.blocks.is_empty()
}

/// Checks that blocks lie in the code, and that edges join blocks.
fn check(graph: &Graph, code: &Code) {
    let within = |at: usize| at < graph.blocks.len();
    assert!(graph.blocks.iter().all(|block| block.instructions > 0 && code.contains(block.start)));
    assert!(graph.edges.iter().all(|edge| within(edge.from) && edge.to.is_none_or(within)));
}
