//! Running the compiler, and making its messages about the user's own lines.

use crate::cleanup;
use crate::error::{Error, Result, io};
use crate::request::{Language, Request, bad};
use crate::source::{self, RowSpec};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A compiler that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// Its command.
    pub command: String,
    /// First line of what it says of its version.
    pub version: String,
}

/// Rows as machine code.
#[derive(Debug)]
pub struct Library {
    /// The shared library.
    pub path: PathBuf,
    /// Code size of each row in bytes.
    pub row_bytes: Vec<u64>,
}

/// Longest that a compiler may take.
const MOST_COMPILE_TIME: Duration = Duration::from_secs(60);
/// Most memory that a compiler may take.
const MOST_COMPILE_BYTES: u64 = 4 << 30;
/// Most of a compiler's messages that is read, and shown.
const MOST_MESSAGE_BYTES: u64 = 1 << 20;
const MOST_MESSAGE_LINES: usize = 40;

/// Finds the compiler asked for, or the usual ones.
///
/// # Errors
/// [`Error::NoCompiler`] with what to install.
pub fn find(request: &Request) -> Result<Compiler> {
    let (language, usual, variable, package): (_, &[&str], _, _) = match request.language {
        Language::Cpp => ("C++", &["c++", "g++", "clang++"], "CXX", "g++"),
        Language::C | Language::Asm => ("C", &["cc", "gcc", "clang"], "CC", "gcc"),
    };
    let from_environment = std::env::var(variable).ok().filter(|name| !name.trim().is_empty());
    let tried: Vec<String> = match request.compiler.clone().or(from_environment) {
        Some(one) => vec![one],
        None => usual.iter().map(|name| (*name).to_owned()).collect(),
    };
    let found = tried.iter().find_map(|command| version(command).map(|version| Compiler { command: command.clone(), version }));
    found.ok_or_else(|| Error::NoCompiler { language, tried: tried.join(", "), package })
}

fn version(command: &str) -> Option<String> {
    let answer = Command::new(command)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|answer| answer.status.success())?;
    Some(String::from_utf8_lossy(&answer.stdout).lines().next().unwrap_or(command).trim().to_owned())
}

/// Compiles rows into a library in a folder.
///
/// # Errors
/// [`Error::DoesNotCompile`] with the compiler's messages about the user's own lines.
pub fn compile(request: &Request, compiler: &Compiler, rows: &[RowSpec], folder: &Path, name: &str) -> Result<Library> {
    let (file, path) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&file, source::rows(request, rows)).map_err(io("writing the generated source"))?;
    let messages = run(request, compiler, &[file.as_os_str(), "-shared".as_ref(), "-o".as_ref(), path.as_os_str()], &["-w"])?;
    if let Some(messages) = messages {
        return Err(explain(request, compiler, folder, &messages));
    }
    let row_bytes = sizes(&path, rows.len())?;
    Ok(Library { path, row_bytes })
}

/// Runs the compiler; `Some` holds its messages if it failed.
fn run(request: &Request, compiler: &Compiler, arguments: &[&std::ffi::OsStr], quiet: &[&str]) -> Result<Option<String>> {
    let words = |what: &str, text: &str| shlex::split(text).ok_or_else(|| bad(what, format!("`{text}` has an open quote")));
    let mut command = Command::new(&compiler.command);
    command.env("LC_ALL", "C").args(["-x", if request.language == Language::Cpp { "c++" } else { "c" }]);
    // Undefined functions must be seen here, not when the rows run.
    command.args(if request.language == Language::C { &["-Werror=implicit-function-declaration"][..] } else { &[] });
    command
        .args(["-I.", "-fPIC", "-fvisibility=hidden", "-Wl,-z,defs"])
        .args(quiet)
        .args(words("--cflags", &request.flags)?)
        .args(arguments)
        .args(["-x", "none"]);
    command.args(request.files.iter().filter(|file| !source::is_included(file, request.language)));
    command.args(words("--link", &request.link)?).arg("-lm");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    limit_memory(&mut command);
    let mut child = command.spawn().map_err(io(format!("starting {}", compiler.command)))?;
    let guard = cleanup::Group::of(child.id());
    let mut pipe = child.stderr.take().map(|pipe| pipe.take(MOST_MESSAGE_BYTES));
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(pipe) = &mut pipe {
            let _ = pipe.read_to_end(&mut text);
        }
        text
    });
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(io("waiting for the compiler"))? {
            break status;
        }
        if begin.elapsed() > MOST_COMPILE_TIME {
            drop(guard);
            let _ = child.wait();
            return Err(Error::CompilerFailed(format!("took longer than {} s and was stopped", MOST_COMPILE_TIME.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    drop(guard);
    let text = String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
    Ok((!status.success())
        .then(|| if text.trim().is_empty() { format!("the compiler ended with {status} and said nothing") } else { text }))
}

#[allow(unsafe_code, reason = "a limit for the compiler alone can only be set between fork and exec")]
fn limit_memory(command: &mut Command) {
    // SAFETY: setrlimit is async-signal-safe and the closure touches nothing else.
    unsafe {
        command.pre_exec(|| {
            nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_AS, MOST_COMPILE_BYTES, MOST_COMPILE_BYTES)
                .map_err(std::io::Error::from)
        });
    }
}

/// Compiles each piece once to get messages that name the user's lines; where that succeeds the trouble is the repetition
/// or the linking, and the first messages say it.
fn explain(request: &Request, compiler: &Compiler, folder: &Path, messages: &str) -> Error {
    for (name, text) in source::pieces(request) {
        let _ = std::fs::write(folder.join(name), text + "\n");
    }
    let file = folder.join("checked.c");
    let checked = std::fs::write(&file, source::checked(request, folder)).map_err(io("writing the generated source"));
    let output = folder.join("checked.o");
    let arguments = [file.as_os_str(), "-c".as_ref(), "-o".as_ref(), output.as_os_str()];
    match checked.and_then(|()| run(request, compiler, &arguments, &[])) {
        Ok(Some(own)) => Error::DoesNotCompile { messages: tidy(&own, folder) },
        Ok(None) => Error::DoesNotCompile {
            messages: format!(
                "{}\n(one copy compiles; repeated copies do not, or do not link: labels must be local, functions must be in --file or --link)",
                tidy(messages, folder)
            ),
        },
        Err(error) => error,
    }
}

/// Drops lines about the instrument's own functions, folders and repetitions.
fn tidy(messages: &str, folder: &Path) -> String {
    let folder = format!("{}/", folder.display());
    let mut lines: Vec<String> = Vec::new();
    for line in messages.lines() {
        let line = line.replace(&folder, "");
        let linker = line.contains("/ld:") && line.contains("in function") || line.starts_with("undefined references to");
        let own = linker
            || line.contains("hs_check") && line.ends_with(':')
            || line.starts_with("cc1")
            || line.contains("In function 'hs_row")
            || line.starts_with("collect2:");
        let line = line
            .find("undefined reference")
            .filter(|_| line.contains("hs_row") || line.contains("(.text"))
            .map_or(line.clone(), |at| line[at..].to_owned());
        let repeated = line.contains("undefined reference") && lines.contains(&line);
        if !own && !repeated {
            lines.push(line);
        }
    }
    if lines.len() > MOST_MESSAGE_LINES {
        let more = lines.len() - MOST_MESSAGE_LINES;
        lines.truncate(MOST_MESSAGE_LINES);
        lines.push(format!("... and {more} lines more"));
    }
    lines.join("\n")
}

/// Code size of every row, from the library's symbol table (the inner function, where there is one).
fn sizes(path: &Path, rows: usize) -> Result<Vec<u64>> {
    use object::{Object, ObjectSymbol};
    let data = std::fs::read(path).map_err(io("reading the compiled rows"))?;
    let file = object::File::parse(&*data).map_err(|e| Error::Host(format!("the compiled rows cannot be read: {e}")))?;
    let mut bytes = vec![0; rows];
    for symbol in file.symbols() {
        // The function that hands over the variables is small; the one with the copies is the larger of the two.
        if let Some(slot) = symbol.name().ok().and_then(row_of).and_then(|row| bytes.get_mut(row)) {
            *slot = symbol.size().max(*slot);
        }
    }
    Ok(bytes)
}

/// The row whose name stands in a symbol, which C++ decorates.
fn row_of(symbol: &str) -> Option<usize> {
    let (_, rest) = symbol.split_once("hs_row_")?;
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}
