//! Runs the compiler and relates its messages to the user's own lines.

use crate::error::{Error, Result, io};
use crate::messages::{hint, tidy};
use crate::request::{Language, Request, shell_words};
use crate::source::{self, RowSpec};
use hairspring_host::process::{Group, wait_until};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A compiler that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// Its command.
    pub command: String,
    /// Flags that belong to the command.
    pub flags: Vec<String>,
    /// First line of its `--version` output.
    pub version: String,
}

/// Rows as machine code.
#[derive(Debug)]
pub struct Library {
    /// The shared libraries: one for each layout of the code.
    pub paths: Vec<PathBuf>,
    /// Number of neighbouring ones that differ by the order of the alternatives only.
    pub crossover: usize,
    /// Code size of each row in bytes.
    pub row_bytes: Vec<u64>,
    /// Whether it holds data that may lie across two lines of the cache: arrays and structures.
    pub holds_arrays: bool,
}

/// Time limits for a compilation and for `--version`.
const MOST_COMPILE_TIME: Duration = Duration::from_secs(60);
const MOST_VERSION_TIME: Duration = Duration::from_secs(10);
/// Memory limit for a compiler.
const MOST_COMPILE_BYTES: u64 = 4 << 30;
/// Maximum number of message bytes that are read.
const MOST_MESSAGE_BYTES: u64 = 1 << 20;

/// Finds the requested compiler, or one of the usual ones.
///
/// # Errors
/// [`Error::NoCompiler`] with what to install.
pub fn find(request: &Request) -> Result<Compiler> {
    let (language, usual, variable, package): (_, &[&str], _, _) = match request.language {
        Language::Cpp => ("C++", &["c++", "g++", "clang++"], "CXX", "g++"),
        Language::C | Language::Asm => ("C", &["cc", "gcc", "clang"], "CC", "gcc"),
    };
    let named = request.compiler.clone().or_else(|| std::env::var(variable).ok()).filter(|name| !name.trim().is_empty());
    let tried: Vec<String> = match named {
        Some(one) => vec![one],
        None => usual.iter().map(|name| (*name).to_owned()).collect(),
    };
    tried.iter().find_map(|command| compiler(command)).ok_or_else(|| Error::NoCompiler { language, tried: tried.join(", "), package })
}

/// The compiler that a command runs, if it reports a version. The command may carry flags, as `CC` often does.
fn compiler(command: &str) -> Option<Compiler> {
    let as_words = || shlex::split(command).filter(|words| words.len() > 1);
    let named = |program: &str, flags: &[String]| {
        let mut question = Command::new(program);
        question.args(flags).arg("--version").stdout(Stdio::piped()).stderr(Stdio::null());
        let (_, answer) = bounded(&mut question, MOST_VERSION_TIME).ok().flatten().filter(|(status, _)| status.success())?;
        let version = answer.lines().next().unwrap_or(command).trim().to_owned();
        Some(Compiler { command: program.to_owned(), flags: flags.to_vec(), version })
    };
    named(command, &[]).or_else(|| as_words().and_then(|words| named(&words[0], &words[1..])))
}

/// Name of a library's files, the alternative whose rows come first, and whether copies carry notes.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    base: &'static str,
    first: usize,
    noted: bool,
}

impl Name {
    /// A file of this name with an ending.
    fn file(self, folder: &Path, ending: &str) -> PathBuf {
        let number = if self.first == 0 { String::new() } else { self.first.to_string() };
        folder.join(format!("{}{number}.{ending}", self.base))
    }

    /// Writes the source of rows, and returns its file.
    fn write(self, request: &Request, rows: &[RowSpec], folder: &Path) -> Result<PathBuf> {
        let file = self.file(folder, "c");
        std::fs::write(&file, source::rows(request, rows, self.first, self.noted)).map_err(io("writing the generated source"))?;
        Ok(file)
    }
}

/// Rows whose copies carry notes, for looking at the machine code.
pub const PILOT: Name = Name { base: "pilot", first: 0, noted: true };
/// Rows that are measured, those of an alternative before the others.
const fn timed(first: usize) -> Name {
    Name { base: "rows", first, noted: false }
}

/// Flags for a library. Calls of functions in the user's objects are direct: a jump through the linkage table would add to the time.
const SHARED: [&str; 2] = ["-shared", "-Wl,-Bsymbolic-functions"];
/// Number of layouts: in them a function begins at each multiple of 16 bytes in a line of the cache.
const LAYOUTS: usize = 4;
/// Size in bytes up to which data lies within a line of the cache, because compilers align it to its size.
const LARGEST_ALIGNED: u64 = 16;
/// Most alternatives that are compiled in each of their orders: compile time grows with them.
const MOST_IN_TURNS: usize = 3;

/// Rows without optimisation, to count the operations in the source.
pub const PLAIN: Name = Name { base: "plain", first: 0, noted: true };

/// Compiles rows into a library in a folder.
///
/// # Errors
/// [`Error::DoesNotCompile`] with the compiler's messages about the user's own lines.
pub fn compile(request: &Request, compiler: &Compiler, rows: &[RowSpec], folder: &Path, name: Name) -> Result<Library> {
    let (file, path) = (name.write(request, rows, folder)?, name.file(folder, "so"));
    let mut arguments = vec![file.as_os_str()];
    arguments.extend(SHARED.map(OsStr::new));
    arguments.extend(["-o".as_ref(), path.as_os_str()]);
    let messages = run(request, compiler, folder, &arguments, &["-w"])?;
    if let Some(messages) = messages {
        return Err(explain(request, compiler, folder, &messages));
    }
    if !path.is_file() {
        let what = format!("`{}` succeeded but wrote no library: is it a compiler? name one with --cc", compiler.command);
        return Err(Error::CompilerFailed(what));
    }
    library(vec![path], 1, rows.len())
}

/// Compiles straight rows: into one library for each order of the alternatives if these are few, because the two places of equal code
/// may make a difference of a percent.
///
/// # Errors
/// As [`compile`].
pub fn compile_in_turns(request: &Request, compiler: &Compiler, rows: &[RowSpec], folder: &Path) -> Result<Library> {
    let turns = turns_of(request);
    let all = at_once(turns, |first| compile(request, compiler, rows, folder, timed(first)))?;
    library(all.into_iter().flat_map(|one| one.paths).collect(), turns, rows.len())
}

/// Compiles rows into several libraries, which differ by the [`gaps`] before code and data, and by the order of few alternatives;
/// as [`compile_in_turns`] where the compiler cannot link in two steps.
///
/// # Errors
/// As [`compile`].
pub fn compile_in_layouts(request: &Request, compiler: &Compiler, rows: &[RowSpec], folder: &Path) -> Result<Library> {
    let turns = turns_of(request);
    let one = || compile_in_turns(request, compiler, rows, folder);
    let Some(objects) = at_once(turns, |first| object(request, compiler, rows, folder, first))?.into_iter().collect::<Option<Vec<_>>>()
    else {
        return one();
    };
    let linked = |at: usize| Ok(link(request, compiler, folder, &objects[at % turns], (at / turns, at % turns)));
    let Some(paths) = at_once(LAYOUTS * turns, linked)?.into_iter().collect::<Option<Vec<PathBuf>>>() else { return one() };
    library(paths, turns, rows.len())
}

/// Number of orders of the alternatives.
fn turns_of(request: &Request) -> usize {
    if request.codes.len() <= MOST_IN_TURNS { request.codes.len() } else { 1 }
}

/// Does this for each number below `count` at the same time; the results, or the first error.
fn at_once<T: Send>(count: usize, one: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let one = &one;
        let all: Vec<_> = (0..count).map(|at| scope.spawn(move || one(at))).collect();
        let gone = || Err(Error::CompilerFailed("a thread that waits for the compiler ended".into()));
        all.into_iter().map(|one| one.join().unwrap_or_else(|_| gone())).collect()
    })
}

/// The rows as an object with the user's files, those of an alternative first; `None` if the compiler makes none.
fn object(request: &Request, compiler: &Compiler, rows: &[RowSpec], folder: &Path, first: usize) -> Result<Option<PathBuf>> {
    let name = timed(first);
    let (file, object) = (name.write(request, rows, folder)?, name.file(folder, "o"));
    let arguments = ["-DHS_ALIGNMENT=16".as_ref(), file.as_os_str(), "-r".as_ref(), "-o".as_ref(), object.as_os_str()];
    let compilation = compilation(request, compiler, folder, &arguments, &["-w"])?;
    Ok((messages(compilation, compiler)?.is_none() && object.is_file()).then_some(object))
}

/// Links an object behind a gap; `None` if that fails.
fn link(request: &Request, compiler: &Compiler, folder: &Path, object: &Path, (layout, first): (usize, usize)) -> Option<PathBuf> {
    let name = format!("layout{layout}-{first}");
    let (gap_file, path) = (folder.join(format!("{name}.s")), folder.join(format!("{name}.so")));
    std::fs::write(&gap_file, gaps(layout)).ok()?;
    let mut command = driver(compiler, folder);
    command.args(shell_words("--cflags", &request.flags).ok()?).args(SHARED).args(["-Wl,-z,defs", "-Wa,--noexecstack", "-o"]).arg(&path);
    command.args(["-x", "assembler"]).arg(&gap_file).args(["-x", "none"]).arg(object);
    command.args(shell_words("--link", &request.link).ok()?).arg("-lm");
    let is_linked = messages(command, compiler).ok()?.is_none() && path.is_file();
    is_linked.then_some(path)
}

/// What is linked before the code and the data in a layout. The bytes before the code move it by 16 bytes in a line of the cache and in what
/// is decoded at once, and also change further bits of the addresses, by which branches are predicted. Those before the data move it by half
/// a line, since compilers align large arrays to that, and to other places in a page; `.bss` follows `.data`.
fn gaps(layout: usize) -> String {
    const OF_CODE: usize = 21 * 16;
    const OF_DATA: usize = 31 * 32;
    let (code, data) = (OF_CODE * layout, OF_DATA * layout);
    format!(".text\n.skip {code}\n.data\n.skip {data}\n.section .rodata,\"a\"\n.skip {data}\n")
}

/// Runs the compiler; `Some` holds its messages if it failed.
fn run(request: &Request, compiler: &Compiler, folder: &Path, arguments: &[&OsStr], quiet: &[&str]) -> Result<Option<String>> {
    let mut command = compilation(request, compiler, folder, arguments, quiet)?;
    // Undefined functions must be reported here, not when the rows run.
    command.arg("-Wl,-z,defs").args(shell_words("--link", &request.link)?).arg("-lm");
    messages(command, compiler)
}

/// A compilation of the generated source with the user's files.
fn compilation(request: &Request, compiler: &Compiler, folder: &Path, arguments: &[&OsStr], quiet: &[&str]) -> Result<Command> {
    let mut command = driver(compiler, folder);
    command.args(["-x", if request.language == Language::Cpp { "c++" } else { "c" }]);
    command.args(if request.language == Language::C { &["-Werror=implicit-function-declaration"][..] } else { &[] });
    command.args(["-I.", "-fPIC", "-fvisibility=hidden"]).args(quiet).args(shell_words("--cflags", &request.flags)?);
    command.args(arguments).args(["-x", "none"]);
    command.args(request.files.iter().filter(|file| !source::is_included(file, request.language)));
    Ok(command)
}

/// The compiler's command.
fn driver(compiler: &Compiler, folder: &Path) -> Command {
    let mut command = Command::new(&compiler.command);
    // Files left by a stopped compiler are removed with the folder.
    command.args(&compiler.flags).env("LC_ALL", "C").env("TMPDIR", folder);
    command
}

/// Runs a command of the compiler; `Some` holds its messages if it failed.
fn messages(mut command: Command, compiler: &Compiler) -> Result<Option<String>> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    limit_memory(&mut command);
    let ended = bounded(&mut command, MOST_COMPILE_TIME).map_err(io(format!("running {}", compiler.command)))?;
    let too_long = || Error::CompilerFailed(format!("took longer than {} s and was stopped", MOST_COMPILE_TIME.as_secs()));
    let (status, text) = ended.ok_or_else(too_long)?;
    let silent = || format!("the compiler failed ({status}) without a message");
    Ok((!status.success()).then(|| if text.trim().is_empty() { silent() } else { text }))
}

/// Runs a program with a time limit; returns its status and the output of the one stream that is a pipe.
fn bounded(program: &mut Command, longest: Duration) -> std::io::Result<Option<(ExitStatus, String)>> {
    let (mut child, group) = Group::spawn(program.stdin(Stdio::null()))?;
    let pipe = child.stderr.take().map(OwnedFd::from).or(child.stdout.take().map(OwnedFd::from)).map(File::from);
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = pipe.map(|pipe| pipe.take(MOST_MESSAGE_BYTES).read_to_end(&mut text));
        read.map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
    });
    let status = wait_until(&mut child, Instant::now() + longest)?;
    drop(group);
    match status {
        Some(status) => Ok(Some((status, reader.join().unwrap_or_default()))),
        None => child.wait().map(|_| None),
    }
}

#[allow(unsafe_code, reason = "a limit for the compiler alone can only be set between fork and exec")]
fn limit_memory(command: &mut Command) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    // SAFETY: both calls are async-signal-safe and the closure touches nothing else.
    unsafe {
        command.pre_exec(|| {
            let (_, hard) = getrlimit(Resource::RLIMIT_AS)?;
            let most = crate::host::as_limit(MOST_COMPILE_BYTES).min(hard);
            setrlimit(Resource::RLIMIT_AS, most, most).map_err(std::io::Error::from)
        });
    }
}

/// Compiles each piece once to get messages that name the user's lines. If that succeeds, the repetition or the linking is
/// at fault, and the first messages are reported.
fn explain(request: &Request, compiler: &Compiler, folder: &Path, messages: &str) -> Error {
    for (name, text) in source::pieces(request) {
        let _ = std::fs::write(folder.join(name), text + "\n");
    }
    let file = folder.join("checked.c");
    let checked = std::fs::write(&file, source::checked(request, folder)).map_err(io("writing the generated source"));
    let output = folder.join("checked.o");
    let arguments = [file.as_os_str(), "-c".as_ref(), "-o".as_ref(), output.as_os_str()];
    match checked.and_then(|()| run(request, compiler, folder, &arguments, &[])) {
        Ok(Some(own)) => Error::DoesNotCompile { messages: tidy(&own, folder) },
        Ok(None) => Error::DoesNotCompile { messages: format!("{}\n{}", tidy(messages, folder), hint(messages)) },
        Err(error) => error,
    }
}

/// The library in these files, with what the symbol table of the first one shows: the code size of every row (of its inner function, where
/// there is one), and whether there are arrays.
fn library(paths: Vec<PathBuf>, crossover: usize, rows: usize) -> Result<Library> {
    use object::{Object, ObjectSymbol, SymbolKind};
    let data = std::fs::read(&paths[0]).map_err(io("reading the compiled rows"))?;
    let file = object::File::parse(&*data).map_err(|e| Error::Child(format!("the compiled rows cannot be read: {e}")))?;
    let (mut row_bytes, mut holds_arrays) = (vec![0; rows], false);
    for symbol in file.symbols() {
        holds_arrays |= symbol.kind() == SymbolKind::Data && symbol.size() > LARGEST_ALIGNED;
        // The function that passes the variables is small; the one with the copies is the larger of the two.
        if let Some(slot) = symbol.name().ok().and_then(row_of).and_then(|row| row_bytes.get_mut(row)) {
            *slot = symbol.size().max(*slot);
        }
    }
    Ok(Library { paths, crossover, row_bytes, holds_arrays })
}

/// The row named in a symbol, which C++ mangles.
fn row_of(symbol: &str) -> Option<usize> {
    let (_, rest) = symbol.split_once("hs_row_")?;
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

#[cfg(test)]
mod tests;
