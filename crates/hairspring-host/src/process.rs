//! Process groups and temporary folders that must not outlive the parent, even if it is
//! interrupted.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// All groups and folders that exist now.
static ALIVE: Mutex<Alive> = Mutex::new(Alive { groups: Vec::new(), folders: Vec::new() });

struct Alive {
    groups: Vec<i32>,
    folders: Vec<PathBuf>,
}

fn alive() -> MutexGuard<'static, Alive> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Environment variable that identifies processes that have left the group of the program that
/// started them.
const MARK: &str = "HAIRSPRING_GROUP";

/// A process group that is killed when this goes out of scope.
#[derive(Debug)]
pub struct Group {
    leader: i32,
    /// The mark in the environment of its processes, if they must also be found outside of the
    /// group.
    mark: Option<String>,
}

impl Group {
    /// Starts a program as the leader of a new group.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn spawn(program: &mut Command) -> std::io::Result<(Child, Group)> {
        // Held until the group is known: an interrupt in between would miss it.
        let mut alive = alive();
        let child = program.process_group(0).spawn()?;
        let leader = child.id() as i32;
        alive.groups.push(leader);
        Ok((child, Group { leader, mark: None }))
    }

    /// As [`Group::spawn`], for a program that may start processes that leave the group: a mark in
    /// its environment identifies them. All marks have the same length, so that the stack of every
    /// program begins at the same address.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn spawn_marked(program: &mut Command) -> std::io::Result<(Child, Group)> {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}{:010}", own_mark(), SERIAL.fetch_add(1, Ordering::Relaxed));
        let (child, mut group) = Group::spawn(program.env(MARK, &mark))?;
        group.mark = Some(mark);
        Ok((child, group))
    }

    /// Declares that a marked program started no process, so that none is searched for.
    pub fn has_no_children(&mut self) {
        self.mark = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = killpg(Pid::from_raw(self.leader), Signal::SIGKILL);
        self.mark.as_deref().into_iter().for_each(kill_marked);
        alive().groups.retain(|group| *group != self.leader);
    }
}

/// Waits for the end of a program; `None` if it has not ended at the deadline.
///
/// # Errors
/// Errors of the system.
pub fn wait_until(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    const LOOK_INTERVAL: Duration = Duration::from_millis(1);
    loop {
        match child.try_wait()? {
            None if Instant::now() < deadline => std::thread::sleep(LOOK_INTERVAL),
            ended => return Ok(ended),
        }
    }
}

/// The common prefix of the marks of this process.
fn own_mark() -> String {
    format!("{:010}.", std::process::id())
}

/// Kills all processes whose mark has this prefix, repeatedly until there are none.
fn kill_marked(mark: &str) {
    const ROUNDS: usize = 100;
    let wanted_variable = format!("{MARK}={mark}");
    for _ in 0..ROUNDS {
        let marked: Vec<i32> = marked(wanted_variable.as_bytes());
        if marked.is_empty() {
            return;
        }
        for id in marked {
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn marked(wanted_variable: &[u8]) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let numbered = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_marked = |id: &i32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted_variable))
    };
    numbered.filter(is_marked).collect()
}

/// A temporary folder that is removed when this goes out of scope.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// A new folder.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn new() -> std::io::Result<Folder> {
        let mut alive = alive();
        let folder = tempfile::Builder::new().prefix("hairspring-").tempdir()?;
        alive.folders.push(folder.path().to_owned());
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
        alive().folders.retain(|known| *known != path);
    }
}

/// Kills all groups and removes all folders, for a handler of SIGINT and SIGTERM that then ends the
/// process. Afterwards, other threads that start or end a group or folder block until the process
/// ends.
pub fn clean_up() {
    let alive = alive();
    for group in &alive.groups {
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
    kill_marked(&own_mark());
    alive.folders.iter().for_each(|folder| remove(folder));
    std::mem::forget(alive);
}

/// Removes a folder into which a dying process may still write.
fn remove(folder: &Path) {
    for _ in 0..20 {
        if std::fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_that_left_its_group_is_killed_by_its_mark() {
        let folder = Folder::new().unwrap();
        let written = folder.path().join("id");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!(
            "setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; sleep 1000' & wait",
            written.display()
        ));
        let (mut child, group) = Group::spawn_marked(&mut shell).unwrap();
        while !written.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let id: i32 = std::fs::read_to_string(&written).unwrap().trim().parse().unwrap();
        let is_there = || {
            std::fs::read(format!("/proc/{id}/environ"))
                .is_ok_and(|environment| !environment.is_empty())
        };
        assert!(is_there());
        drop(group);
        assert!(!is_there());
        child.wait().unwrap();
    }
}
