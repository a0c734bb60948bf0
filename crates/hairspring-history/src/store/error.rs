//! Why a database cannot be used, and what to do.

use rusqlite::ErrorCode;
use std::fmt::{self, Display, Formatter};

/// Why a database cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError(pub String);

impl Display for StoreError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        let Some(code) = error.sqlite_error_code() else { return StoreError(error.to_string()) };
        let known = match code {
            ErrorCode::NotADatabase => "is no database: give a file that `history add` made",
            ErrorCode::DatabaseCorrupt => {
                "is damaged: take a copy of it, or add the documents to a new file"
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
                "cannot be written: give a file in a folder that can be"
            }
            ErrorCode::DiskFull => "the disk is full: nothing was added; make room and try again",
            ErrorCode::CannotOpen => "cannot be opened: its folder is missing or may not be used",
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                "is in use by another process for a long time: try again"
            }
            ErrorCode::SystemIoFailure => {
                "the system could not read or write it: nothing was added"
            }
            _ => return StoreError(error.to_string()),
        };
        StoreError(known.to_owned())
    }
}
