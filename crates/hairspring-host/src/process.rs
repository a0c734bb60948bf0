//! What must not outlive the parent: process groups and temporary folders, also when it is interrupted.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Everything alive now.
static ALIVE: Mutex<Alive> = Mutex::new(Alive { groups: Vec::new(), folders: Vec::new() });

struct Alive {
    groups: Vec<i32>,
    folders: Vec<PathBuf>,
}

fn alive() -> MutexGuard<'static, Alive> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Name of the variable by which processes are known that left the group of the program that made them.
const MARK: &str = "HAIRSPRING_GROUP";

/// A process group that is killed when this goes out of scope.
#[derive(Debug)]
pub struct Group {
    leader: i32,
    /// What its processes carry in their environment, where they are looked for outside of the group, too.
    mark: Option<String>,
}

impl Group {
    /// Starts a program as the leader of a new group.
    ///
    /// # Errors
    /// What the system says.
    pub fn spawn(program: &mut Command) -> std::io::Result<(Child, Group)> {
        // Held until the group is known: an interrupt in between would miss it.
        let mut alive = alive();
        let child = program.process_group(0).spawn()?;
        let leader = child.id() as i32;
        alive.groups.push(leader);
        Ok((child, Group { leader, mark: None }))
    }

    /// The same for a program that may make processes which leave the group: its environment has a mark, by which those are
    /// found. The mark is as long for every program, so that it does not move their stacks.
    ///
    /// # Errors
    /// What the system says.
    pub fn spawn_marked(program: &mut Command) -> std::io::Result<(Child, Group)> {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}{:010}", own_mark(), SERIAL.fetch_add(1, Ordering::Relaxed));
        let (child, mut group) = Group::spawn(program.env(MARK, &mark))?;
        group.mark = Some(mark);
        Ok((child, group))
    }

    /// Says that a marked program made no process, and that none has to be looked for.
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

/// Waits for the end of a program; `None` where it does not come in time.
///
/// # Errors
/// What the system says.
pub fn wait_until(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    const LOOK: Duration = Duration::from_millis(1);
    loop {
        match child.try_wait()? {
            None if Instant::now() < deadline => std::thread::sleep(LOOK),
            ended => return Ok(ended),
        }
    }
}

/// What the marks of this process begin with.
fn own_mark() -> String {
    format!("{:010}.", std::process::id())
}

/// Kills all processes whose mark begins so, until there is none.
fn kill_marked(mark: &str) {
    const ROUNDS: usize = 100;
    let wanted = format!("{MARK}={mark}");
    for _ in 0..ROUNDS {
        let marked: Vec<i32> = marked(wanted.as_bytes());
        if marked.is_empty() {
            return;
        }
        for id in marked {
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn marked(wanted: &[u8]) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let numbered = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_marked = |id: &i32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted))
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
    /// What the system says.
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

/// Kills and removes all that is alive: for a handler of SIGINT and SIGTERM that then ends the process. Other threads can
/// neither start nor finish anything after this: they wait for that end.
pub fn now() {
    let alive = alive();
    for group in &alive.groups {
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
    kill_marked(&own_mark());
    alive.folders.iter().for_each(|folder| remove(folder));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_its_group_is_found_by_its_mark() {
        let folder = Folder::new().unwrap();
        let written = folder.path().join("id");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; sleep 1000' & wait", written.display()));
        let (mut child, group) = Group::spawn_marked(&mut shell).unwrap();
        while !written.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let id: i32 = std::fs::read_to_string(&written).unwrap().trim().parse().unwrap();
        let is_there = || std::fs::read(format!("/proc/{id}/environ")).is_ok_and(|environment| !environment.is_empty());
        assert!(is_there());
        drop(group);
        assert!(!is_there());
        child.wait().unwrap();
    }
}
