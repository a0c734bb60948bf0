//! What must not outlive the parent: process groups and temporary folders, also when it is interrupted.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Everything alive now.
static ALIVE: Mutex<(Vec<i32>, Vec<PathBuf>)> = Mutex::new((Vec::new(), Vec::new()));

fn alive() -> MutexGuard<'static, (Vec<i32>, Vec<PathBuf>)> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process group that is killed when this goes out of scope.
#[derive(Debug)]
pub struct Group(i32);

impl Group {
    /// The group led by a process.
    pub fn of(leader: u32) -> Group {
        alive().0.push(leader as i32);
        Group(leader as i32)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = killpg(Pid::from_raw(self.0), Signal::SIGKILL);
        alive().0.retain(|group| *group != self.0);
    }
}

/// A temporary folder that is removed when this goes out of scope.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// A new folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> std::io::Result<Folder> {
        let folder = tempfile::Builder::new().prefix("hairspring-").tempdir()?;
        alive().1.push(folder.path().to_owned());
        Ok(Folder(folder))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let path = self.0.path().to_owned();
        alive().1.retain(|known| *known != path);
    }
}

/// Kills and removes all that is alive: for a handler of SIGINT and SIGTERM, before it ends the process.
pub fn now() {
    let (groups, folders) = std::mem::take(&mut *alive());
    for group in groups {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    for folder in folders {
        let _ = std::fs::remove_dir_all(folder);
    }
}
