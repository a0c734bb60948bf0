//! The scheduling model of LLVM is read by the crate of the verb `instructions`, which this build
//! leaves out.

use hairspring_result::ResultDocument;

const ABSENT: &str = "--expect llvm: this build leaves out the model: build the command with the \
                      feature `instructions` (./install has all)";

/// That it cannot be read.
pub fn prepare() -> Result<(), String> {
    Err(ABSENT.to_owned())
}

/// As above.
pub fn beside(_: ResultDocument) -> Result<ResultDocument, String> {
    Err(ABSENT.to_owned())
}
