//! The program llvm-mca: which version is installed, and a run of it that ends.

use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Versions of the program that are looked for, besides the one without a version, the newest
/// first.
const VERSIONS: std::ops::RangeInclusive<u32> = 13..=30;

/// The time after which the program is ended: it simulates the instructions, and some models never
/// come to an end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the program ended.
pub enum Ended {
    /// By itself: its status, standard output and standard error.
    Done(ExitStatus, String, String),
    /// It was ended after five seconds.
    Endless,
}

/// The newest version that runs.
///
/// # Errors
/// None is installed, with the command that installs it.
pub fn program() -> Result<String, String> {
    let names =
        VERSIONS.rev().map(|version| format!("llvm-mca-{version}")).chain(["llvm-mca".to_owned()]);
    let runs = |name: &String| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let found_program = names.into_iter().find(runs);
    found_program.ok_or_else(|| {
        "llvm-mca is not installed: apt-get install llvm (or a newer one, as llvm-19)".to_owned()
    })
}

/// Runs the program for a CPU on a text of assembly.
///
/// # Errors
/// It cannot be started.
pub fn execute(
    program: &str,
    cpu: Option<&str>,
    options: &[&str],
    text: &str,
) -> Result<Ended, String> {
    let cpu = format!("-mcpu={}", cpu.unwrap_or("native"));
    let failed = |error: &dyn std::fmt::Display| format!("{program}: {error}");
    let mut child = Command::new(program)
        .args(["-mtriple=x86_64-unknown-linux-gnu", &cpu])
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    // It reads all of its input, unless it fails, and tells why.
    let _ = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
    let (output, errors) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| failed(&error))? {
            Some(status) => break status,
            None if begin.elapsed() > PATIENCE => {
                let _ = child.kill().and_then(|()| child.wait().map(drop));
                return Ok(Ended::Endless);
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    Ok(Ended::Done(status, output.join().unwrap_or_default(), errors.join().unwrap_or_default()))
}

/// Reads a stream to its end, beside the process that writes it.
fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
