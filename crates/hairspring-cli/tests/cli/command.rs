//! Runs the command in a folder of its own, and checks what must hold however it ends.

use crate::document::Document;
use crate::place::{Place, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command that takes longer has hung. A busy CPU alone, at a nice value of 19, does not make it
/// so slow.
const PATIENCE: Duration = Duration::from_secs(600);

/// A command line that is being built.
pub struct Hairspring {
    place: Place,
    arguments: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    input: Vec<u8>,
    output: Option<File>,
}

/// `hairspring time CODE`, with a short budget unless another one is given.
pub fn time(code: impl AsRef<OsStr>) -> Hairspring {
    Hairspring::new().with("time").with(code)
}

/// `hairspring fit` of a file with this content.
pub fn fit(content: impl AsRef<[u8]>) -> Hairspring {
    Hairspring::new().with("fit").beside("observations.csv", content).with("observations.csv")
}

/// All verbs, as `--help` lists them.
pub fn verbs() -> Vec<String> {
    let help = Hairspring::new().with("--help").succeeds().output;
    let listed =
        help.split_once("<COMMAND>\n").unwrap().1.lines().take_while(|line| *line != "Options:");
    let name = |line: &str| {
        line.strip_prefix("  ")
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split(' ').next().unwrap().to_owned())
    };
    let all: Vec<String> = listed.filter_map(name).collect();
    assert!(
        all.len() >= 13 && all.contains(&"time".to_owned()) && all.contains(&"man".to_owned()),
        "{all:?}"
    );
    all
}

/// Fails, saying what to install, where a program that a test needs is missing.
pub fn needs(program: &str) {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    assert!(
        found.is_ok(),
        "this test needs {program}: apt-get install {program} (./test does that)"
    );
}

impl Hairspring {
    /// `hairspring` and nothing else.
    pub fn new() -> Hairspring {
        Hairspring {
            place: Place::new(),
            arguments: Vec::new(),
            variables: Vec::new(),
            input: Vec::new(),
            output: None,
        }
    }

    /// One more argument.
    pub fn with(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// One more option with its value.
    pub fn option(self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.with(name).with(value)
    }

    /// `--let DECLARATION`.
    pub fn given(self, declaration: &str) -> Self {
        self.option("--let", declaration)
    }

    /// A file in the folder that the command runs in.
    pub fn beside(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let file = self.place.work().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
        self
    }

    /// A baseline in that folder.
    pub fn beside_baseline(self, name: &str, content: &str) -> Self {
        self.beside(&format!(".hairspring/baselines/{name}.json"), content)
    }

    /// The folder that the command runs in.
    pub fn folder(&self) -> PathBuf {
        self.place.work()
    }

    /// `--file` with such a file.
    pub fn with_file(self, name: &str, content: &str) -> Self {
        self.beside(name, content).option("--file", name)
    }

    /// A source file in that folder as an object file.
    pub fn compiled(self, source: &str, object: &str) -> Self {
        let done = Command::new("cc")
            .args(["-O1", "-fPIC", "-c", source, "-o", object])
            .current_dir(self.place.work())
            .status();
        assert!(done.expect("cc is needed here: apt-get install gcc").success());
        self
    }

    /// A shell script in the folder that the command runs in. Another process writes it: a program
    /// that is open for writing cannot be started ("Text file busy"), and what this process has
    /// open, children that other tests start at the same time have open too until their `exec`.
    pub fn with_script(self, name: &str, lines: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat > \"$0\" && chmod 755 \"$0\"", name]).current_dir(self.place.work());
        let mut shell = shell.stdin(Stdio::piped()).spawn().unwrap();
        write!(shell.stdin.take().unwrap(), "#!/bin/sh\n{lines}").unwrap();
        assert!(shell.wait().unwrap().success(), "{name} was not written");
        self
    }

    /// A variable of the environment.
    pub fn variable(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name, value.as_ref().to_owned()));
        self
    }

    /// The content of standard input.
    pub fn input(mut self, bytes: impl AsRef<[u8]>) -> Self {
        bytes.as_ref().clone_into(&mut self.input);
        self
    }

    /// Redirects standard output, which is then not captured.
    pub fn output_to(mut self, file: File) -> Self {
        self.output = Some(file);
        self
    }

    /// Runs it; it must exit with this status.
    pub fn ends_with(self, status: i32) -> Ended {
        self.start().ends_with(status)
    }

    /// Runs it; it must succeed.
    pub fn succeeds(self) -> Ended {
        self.ends_with(0)
    }

    /// Runs it; it must fail with this message.
    pub fn fails(self, with: &str) -> Ended {
        self.ends_with(1).complains(with)
    }

    /// Runs it with `--json`; it must succeed.
    pub fn document(self) -> Document {
        Document::result(&self.with("--json").succeeds().output)
    }

    /// Starts it.
    pub fn start(self) -> Running {
        let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_hairspring"));
        for name in ["CC", "CXX", "NO_COLOR", "LC_ALL", "LC_CTYPE"] {
            command.env_remove(name);
        }
        command
            .args(&self.arguments)
            .current_dir(self.place.work())
            .env("TMPDIR", self.place.temporary())
            .env("LANG", "C.UTF-8");
        // What one test compiles is not for another one, nor for the user.
        command.env("XDG_CACHE_HOME", self.place.cache());
        if self.arguments.first().is_some_and(|verb| verb == "time")
            && !self.arguments.iter().any(|argument| argument == "--budget")
        {
            command.args(["--budget", "200ms"]);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let stdout = self.output.unwrap_or_else(|| out.try_clone().unwrap());
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(err.try_clone().unwrap())
            .spawn()
            .unwrap();
        // A command that does not read its input closes it.
        let _ = process.stdin.take().unwrap().write_all(&self.input);
        Running { process, place: self.place, out, err }
    }
}

/// A command that runs.
pub struct Running {
    process: Child,
    place: Place,
    out: File,
    err: File,
}

impl Running {
    /// Waits until a process that it started has this in its command line.
    pub fn until_it_runs(&self, part: &str) -> &Self {
        let found = || {
            self.place
                .processes()
                .iter()
                .any(|(pid, line)| *pid != self.process.id() as i32 && line.contains(part))
        };
        assert!(wait_for(found), "no process `{part}` was seen");
        self
    }

    /// Waits until a folder has a file with this ending.
    pub fn until_there_is(&self, folder: &str, ending: &str) -> &Self {
        let folder = self.place.work().join(folder);
        let has = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(ending))
        };
        let found = || std::fs::read_dir(&folder).is_ok_and(|mut all| all.any(has));
        assert!(wait_for(found), "no file {ending} was seen in {}", folder.display());
        self
    }

    /// Waits until it has a handler for SIGINT.
    pub fn until_it_catches_signals(&self) {
        let status = format!("/proc/{}/status", self.process.id());
        let caught = || {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let mask = text
                .lines()
                .find_map(|line| line.strip_prefix("SigCgt:"))
                .map(str::trim)
                .unwrap_or("0");
            u64::from_str_radix(mask, 16).unwrap_or(0) >> (Signal::SIGINT as u64 - 1) & 1 == 1
        };
        assert!(wait_for(caught), "no handler for SIGINT was seen");
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.process.id() as i32), signal).unwrap();
    }

    /// Kills every process that it started and that has this in its command line.
    pub fn kill_those(&self, part: &str) {
        let all = self.place.processes();
        for (pid, _) in
            all.iter().filter(|(pid, line)| *pid != self.process.id() as i32 && line.contains(part))
        {
            // It may have ended since.
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.process.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits for its end with this status.
    pub fn ends_with(self, status: i32) -> Ended {
        self.ends_with_any(&[status])
    }

    /// Waits for its end with one of these, and checks what holds for every end: no panic, nothing
    /// left behind.
    pub fn ends_with_any(mut self, statuses: &[i32]) -> Ended {
        let ended = self.wait();
        let ended = Ended {
            output: text(&mut self.out),
            error: text(&mut self.err),
            place: self.place,
            status: ended,
        };
        assert!(!ended.error.contains("panicked"), "{ended}");
        assert!(
            ended.status.code().is_some_and(|code| statuses.contains(&code)),
            "it should end with {statuses:?}\n{ended}"
        );
        assert!(
            wait_for(|| ended.place.processes().is_empty()),
            "processes were left: {:?}\n{ended}",
            ended.place.processes()
        );
        let left: Vec<PathBuf> = std::fs::read_dir(ended.place.temporary())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(left.is_empty(), "temporary files were left: {left:?}\n{ended}");
        assert!(ended.is_harmless(), "{ended:?}");
        ended
    }

    fn wait(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            if begin.elapsed() > PATIENCE {
                let _ = self.process.kill();
                panic!("it hangs\n{}\n{}", text(&mut self.out), text(&mut self.err));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).expect("what it writes is UTF-8")
}

/// A command that ended.
#[derive(Debug)]
pub struct Ended {
    /// What it wrote to standard output.
    pub output: String,
    /// What it wrote to standard error.
    pub error: String,
    place: Place,
    status: ExitStatus,
}

impl Ended {
    /// Whether the output holds no control characters.
    fn is_harmless(&self) -> bool {
        let harmless = |c: char| c == '\n' || !c.is_control();
        self.error.chars().all(|c| c == '\t' || harmless(c)) && self.output.chars().all(harmless)
    }

    /// Whether it ended with 0.
    pub fn succeeded(&self) -> bool {
        self.status.success()
    }

    /// Its output has this text, whatever the line breaks.
    pub fn says(self, part: &str) -> Self {
        assert!(flat(&self.output).contains(&flat(part)), "it does not say `{part}`\n{self}");
        self
    }

    /// Its output does not have this text.
    pub fn does_not_say(self, part: &str) -> Self {
        assert!(!flat(&self.output).contains(&flat(part)), "it says `{part}`\n{self}");
        self
    }

    /// Its error has this text.
    pub fn complains(self, part: &str) -> Self {
        assert!(self.error.contains(part), "it does not complain `{part}`\n{self}");
        self
    }

    /// Its error does not have this text.
    pub fn does_not_complain(self, part: &str) -> Self {
        assert!(!self.error.contains(part), "it complains `{part}`\n{self}");
        self
    }

    /// Its error is one line, and there is no output.
    pub fn in_one_line(self) -> Self {
        assert!(
            self.error.lines().count() == 1 && self.output.is_empty(),
            "it is not one line of error\n{self}"
        );
        self
    }

    /// Names of the files in a folder.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let found = std::fs::read_dir(self.place.work().join(folder)).unwrap();
        found.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    /// A file that it wrote.
    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.work().join(name)).unwrap()
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "it ended with {}\n---- output\n{}\n---- error\n{}",
            self.status, self.output, self.error
        )
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
