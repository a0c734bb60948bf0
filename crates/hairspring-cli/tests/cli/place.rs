//! Private folders of a command, which identify its processes and the files that it leaves behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A working folder, and a temporary folder that identifies the command's processes.
#[derive(Debug)]
pub struct Place(TempDir);

impl Place {
    /// Empty folders.
    pub fn new() -> Place {
        let place = Place(TempDir::new().unwrap());
        std::fs::create_dir(place.work()).unwrap();
        std::fs::create_dir(place.temporary()).unwrap();
        place
    }

    /// Where the command runs.
    pub fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// The folder for temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.0.path().join("tmp")
    }

    /// The folder for what can be made again; it does not exist before something is kept there.
    pub fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    /// Number and command line of every process that inherited the folder for temporary files.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mark = self.temporary().display().to_string();
        let read = |pid: i32, what: &str| {
            std::fs::read(Path::new("/proc").join(pid.to_string()).join(what)).unwrap_or_default()
        };
        let numbers = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
        let ours =
            numbers.filter(|pid| String::from_utf8_lossy(&read(*pid, "environ")).contains(&mark));
        ours.map(|pid| (pid, String::from_utf8_lossy(&read(pid, "cmdline")).replace('\0', " ")))
            .collect()
    }
}

/// Whether a condition becomes true within a time limit.
pub fn wait_for(holds: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !holds() {
        if begin.elapsed() > Duration::from_secs(300) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}
