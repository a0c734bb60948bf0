//! Compiles the rows of the pilot, and short rows as samples of long ones.

use super::{
    ASSEMBLER, Job, Library, PILOT, Source, compilation, library, link_library, made, one_library,
    own_messages, row_of,
};
use crate::error::{Error, Result};
use crate::repeat::Repeated;
use crate::source::{Borders, RowSpec};
use std::ffi::OsStr;
use std::path::Path;

/// Compiles rows whose copies carry notes, to look at them, and beside them `samples` of the rows
/// that may be measured: the library, and the text of the samples if it is understood.
///
/// # Errors
/// [`Error::DoesNotCompile`] with the compiler's messages about the user's own lines.
pub fn compile_pilot(
    job: &Job,
    rows: &[RowSpec],
    samples: &[RowSpec],
) -> Result<(Library, Option<Repeated>)> {
    if let Some(found_library) = pilot_in_two_steps(job, rows, samples)? {
        return Ok(found_library);
    }
    let source = PILOT.write(job, rows, &|_| Borders::Notes)?;
    Ok((one_library(job, &source, PILOT, rows.len())?, None))
}

/// As [`compile_pilot`], by way of assembly text; `None` if there are no samples, or if the
/// compiler makes no such text although the code is right.
fn pilot_in_two_steps(
    job: &Job,
    rows: &[RowSpec],
    samples: &[RowSpec],
) -> Result<Option<(Library, Option<Repeated>)>> {
    if samples.is_empty() {
        return Ok(None);
    }
    let borders = |at: usize| if at < rows.len() { Borders::Notes } else { Borders::Comments };
    let source = PILOT.write(job, &[rows, samples].concat(), &borders)?;
    let text = Source { file: PILOT.file(job.folder, "s"), language: ASSEMBLER };
    let Some(written) = assembly_text(job, &source, &text.file)? else {
        return own_messages(job)?
            .map_or(Ok(None), |messages| Err(Error::DoesNotCompile { messages }));
    };
    let path = PILOT.file(job.folder, "so");
    if link_library(job, &text, &path)?.is_some() || !path.is_file() {
        return Ok(None);
    }
    let repeated = written.is_sampled.then(|| Repeated::read(&written.text, rows.len(), samples));
    Ok(Some((library(vec![path], 1, rows.len())?, repeated.flatten())))
}

/// The assembly text that a compiler made.
struct Written {
    text: String,
    /// Whether short rows are samples of long ones.
    is_sampled: bool,
}

/// Compiles a source to assembly text; `None` if the compiler makes none.
///
/// gcc stops inlining functions into one that has grown large, but not such as it takes for smaller
/// than a call. Where it reports that it inlined others, a short row says nothing about a long one.
/// clang decides by the function that is inlined.
fn assembly_text(job: &Job, source: &Source, path: &Path) -> Result<Option<Written>> {
    let is_gcc = job.compiler.is_gcc();
    let report = path.with_extension("inlined");
    let flag = format!("-fopt-info-inline-optimized={}", report.display());
    let mut arguments =
        vec![source.file.as_os_str(), "-S".as_ref(), "-o".as_ref(), path.as_os_str()];
    arguments.extend(is_gcc.then_some(OsStr::new(&flag)));
    let outputs = [path, &report];
    let command = compilation(job, source.language, &arguments, &["-w"])?;
    if made(job, command, &[&source.file], &outputs[..if is_gcc { 2 } else { 1 }])?.is_some() {
        return Ok(None);
    }
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(None) };
    let is_sampled = !is_gcc
        || std::fs::read_to_string(report)
            .is_ok_and(|report| !report.lines().any(is_inlined_by_size));
    Ok(Some(Written { text, is_sampled }))
}

/// Whether a line of gcc's report says that it inlined a function into a row, and weighed their
/// sizes.
fn is_inlined_by_size(line: &str) -> bool {
    line.split_once(" Inlined ")
        .and_then(|(_, what)| what.rsplit_once(" into "))
        .is_some_and(|(_, into)| row_of(into).is_some())
}
