//! What must not outlive the parent: process groups and temporary folders, also when it is interrupted.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Everything alive now.
static ALIVE: Mutex<(Vec<i32>, Vec<PathBuf>)> = Mutex::new((Vec::new(), Vec::new()));

fn alive() -> MutexGuard<'static, (Vec<i32>, Vec<PathBuf>)> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process group that is killed when this goes out of scope.
#[derive(Debug)]
pub struct Group(i32);

impl Group {
    /// Starts a program as the leader of a new group.
    ///
    /// # Errors
    /// What the system says.
    pub fn spawn(program: &mut Command) -> std::io::Result<(Child, Group)> {
        // Held until the group is known: an interrupt in between would miss it.
        let mut alive = alive();
        let leader = program.process_group(0).spawn()?;
        alive.0.push(leader.id() as i32);
        let group = Group(leader.id() as i32);
        Ok((leader, group))
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
        let mut alive = alive();
        let folder = tempfile::Builder::new().prefix("hairspring-").tempdir()?;
        alive.1.push(folder.path().to_owned());
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

/// Kills and removes all that is alive: for a handler of SIGINT and SIGTERM that then ends the process. Other threads can
/// neither start nor finish anything after this: they wait for that end.
pub fn now() {
    let alive = alive();
    for group in &alive.0 {
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
    alive.1.iter().for_each(|folder| remove(folder));
    std::mem::forget(alive);
}

/// Removes a folder into which something that is about to die may still write.
fn remove(folder: &Path) {
    for _ in 0..20 {
        if std::fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
