//! The file of a history.

use super::arguments::DatabaseArguments;
use super::git;
use crate::AnyError;
use hairspring_history::store::{Sqlite, StoreError};
use std::path::{Path, PathBuf};

/// Its place below a repository, and its name elsewhere.
const IN_REPOSITORY: &str = ".hairspring/history.db";
const ELSEWHERE: &str = "hairspring/history.db";

impl DatabaseArguments {
    /// The file.
    pub fn path(&self) -> Result<PathBuf, AnyError> {
        match (&self.db, git::root()) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(root)) => Ok(root.join(IN_REPOSITORY)),
            (None, None) => Ok(data_folder()?.join(ELSEWHERE)),
        }
    }

    /// Opens it to add to it. The folder is made where the file was not named.
    pub fn create(&self) -> Result<(PathBuf, Sqlite), AnyError> {
        let path = self.path()?;
        if let Some(folder) = path.parent().filter(|_| self.db.is_none()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("{}: {error}; give --db FILE", folder.display()))?;
        }
        let opened = Sqlite::create(&path);
        opened.map(|store| (path.clone(), store)).map_err(|error| named(&path, &error))
    }

    /// Opens it to read it.
    pub fn read(&self) -> Result<(PathBuf, Sqlite), AnyError> {
        let path = self.path()?;
        let opened = Sqlite::read(&path);
        opened.map(|store| (path.clone(), store)).map_err(|error| named(&path, &error))
    }
}

/// The folder for data of the user.
fn data_folder() -> Result<PathBuf, AnyError> {
    let absolute = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let below_home = || absolute("HOME").map(|home| home.join(".local/share"));
    let found = absolute("XDG_DATA_HOME").or_else(below_home);
    Ok(found.ok_or("there is no folder for data (XDG_DATA_HOME, HOME): give --db FILE")?)
}

/// An error with the file that it is about.
pub fn named(path: &Path, error: &StoreError) -> AnyError {
    format!("{}: {error}", path.display()).into()
}
