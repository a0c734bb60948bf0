//! What `report --interactive` puts into a page: the solver as a module of WebAssembly, and the
//! observations, which the page solves again.
//!
//! The command does not contain the module, which has three quarters of a megabyte: `tools/wasm.sh`
//! writes it with its scripts into `solver.json`, which packages install beside the command.

use crate::AnyError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use hairspring_core::observations::{Observations, write_csv};
use hairspring_page::{Interactive, Solved};
use hairspring_result::ResultDocument;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Largest page, in bytes: mail and ticket systems take files of some megabytes.
pub const MOST_BYTES: usize = 3_000_000;
/// Names the file of the solver.
const VARIABLE: &str = "HAIRSPRING_SOLVER";
const FILE: &str = "solver.json";
/// Where it lies beside the folder of the command: as installed, and as built in a checkout.
const FOLDERS: [&str; 2] = ["share/hairspring", "lab"];

/// The solver, as tools/wasm.sh writes it.
#[derive(Deserialize)]
struct Solver {
    version: String,
    /// The module: base64 of gzip.
    module: String,
    /// The switches and the plot, as HTML.
    markup: String,
    style: String,
    engine: String,
    plot: String,
    common: String,
    script: String,
}

/// What a page of a document needs to solve its observations again.
///
/// # Errors
/// There is no solver of this version, with the way out.
pub fn interactive(
    document: &ResultDocument,
    table: &Observations,
    name: &str,
) -> Result<Interactive, AnyError> {
    let solver = solver()?;
    let solved = Solved::solve(table, document)?;
    let data = json!({
        "name": name,
        "observations": packed(table)?,
        "asked": { "without": document.without(), "keep_all": solved.keeps_all() },
        "markup": solver.markup,
    });
    // The plot and the shared functions come before the engine, which a worker gets as text.
    Ok(Interactive::default()
        .with_wasm()
        .with_style(&solver.style)
        .with_data("hairspring-data", &data.to_string())
        .with_data("hairspring-module", &json!(solver.module).to_string())
        .with_data("hairspring-engine", &json!(solver.engine).to_string())
        .with_script(&solver.plot)
        .with_script(&solver.common)
        .with_script(&solver.script))
}

fn packed(table: &Observations) -> Result<String, AnyError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    write_csv(table, &mut encoder)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

fn solver() -> Result<Solver, AnyError> {
    let path = find()?;
    let named =
        |reason: &dyn std::fmt::Display| format!("--interactive: {}: {reason}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| named(&error))?;
    let solver: Solver = serde_json::from_str(&text)
        .map_err(|error| named(&format!("is not a solver of hairspring: {error}")))?;
    let version = env!("CARGO_PKG_VERSION");
    if solver.version != version {
        let reason = format!(
            "is the solver of version {}, and this is version {version}: install both from one \
             package, or run tools/wasm.sh",
            solver.version.escape_debug()
        );
        return Err(named(&reason).into());
    }
    Ok(solver)
}

/// The file of the solver.
fn find() -> Result<PathBuf, AnyError> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Ok(path.into());
    }
    let command = std::env::current_exe().ok();
    let beside = command.as_deref().and_then(Path::parent).and_then(Path::parent);
    let found = beside.and_then(|folder| {
        FOLDERS.iter().map(|name| folder.join(name).join(FILE)).find(|path| path.is_file())
    });
    found.ok_or_else(|| {
        format!(
            "--interactive: this installation has no solver for pages (share/hairspring/{FILE} \
             beside the folder of the command): run tools/wasm.sh in a checkout of the project, or \
             name its file with {VARIABLE}; the page without --interactive needs none"
        )
        .into()
    })
}
