//! The files that the verb writes beside its report.

use super::BlocksArguments;
use crate::AnyError;
use crate::saved::{Output, Taken};
use hairspring_blocks::Input;
use std::path::Path;

/// The files of `--save` and `--dot`.
///
/// # Errors
/// A file that cannot be written, or that is the program, one of its inputs or the file of the
/// other option.
pub fn outputs(
    arguments: &BlocksArguments,
    program: &Path,
    inputs: &[Input],
) -> Result<(Option<Output>, Option<Output>), AnyError> {
    let mut taken = Taken::default();
    taken.add("the program", program);
    arguments
        .inputs
        .iter()
        .filter(|path| path.as_os_str() != "-")
        .for_each(|path| taken.add("the file of --inputs", path));
    inputs
        .iter()
        .filter_map(|input| input.stdin.as_deref())
        .for_each(|path| taken.add("the standard input of a run", path));
    let save = arguments
        .save
        .as_deref()
        .map(|path| Output::open("--save", path, &mut taken))
        .transpose()?;
    let dot =
        arguments.dot.as_deref().map(|path| Output::open("--dot", path, &mut taken)).transpose()?;
    Ok((save, dot))
}
