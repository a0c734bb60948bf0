//! Runs the compiler and relates its messages to the user's own lines.

use crate::cache::{Cache, Step};
use crate::error::{Error, Result, io};
use crate::messages::{NO_COMMANDS, hint, is_command, tidy};
use crate::repeat::Repeated;
use crate::request::{Language, Request, shell_words};
use crate::source::{self, Borders, RowSpec};
use running::{answer, failure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

mod pilot;
mod running;

pub use pilot::compile_pilot;

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

/// Finds the requested compiler, or one of the usual ones.
///
/// # Errors
/// [`Error::NoCompiler`] with what to install.
pub fn find(request: &Request) -> Result<Compiler> {
    let (language, usual, variable, package): (_, &[&str], _, _) = match request.language {
        Language::Cpp => ("C++", &["c++", "g++", "clang++"], "CXX", "g++"),
        Language::C | Language::Asm => ("C", &["cc", "gcc", "clang"], "CC", "gcc"),
    };
    let named = request
        .compiler
        .clone()
        .or_else(|| std::env::var(variable).ok())
        .filter(|name| !name.trim().is_empty());
    let tried: Vec<String> = match named {
        Some(one) => vec![one],
        None => usual.iter().map(|name| (*name).to_owned()).collect(),
    };
    tried.iter().find_map(|command| compiler(command)).ok_or_else(|| Error::NoCompiler {
        language,
        tried: tried.join(", "),
        package,
    })
}

/// The compiler that a command runs, if it reports a version. The command may carry flags, as `CC`
/// often does.
fn compiler(command: &str) -> Option<Compiler> {
    let as_words = || shlex::split(command).filter(|words| words.len() > 1);
    let named = |program: &str, flags: &[String]| {
        let mut question = Command::new(program);
        let answer = answer(question.args(flags).arg("--version"))?;
        let version = answer.lines().next().unwrap_or(command).trim().to_owned();
        Some(Compiler { command: program.to_owned(), flags: flags.to_vec(), version })
    };
    named(command, &[]).or_else(|| as_words().and_then(|words| named(&words[0], &words[1..])))
}

/// What is compiled, with what and where.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The code and its flags.
    pub request: &'a Request,
    /// The compiler.
    pub compiler: &'a Compiler,
    /// Where the files are.
    pub folder: &'a Path,
    /// The compiler's text of few copies, to repeat them; without it, all copies are compiled.
    pub repeated: Option<&'a Repeated>,
    /// What was compiled before.
    pub cache: Option<&'a Cache>,
}

/// Name of a library's files, and the alternative whose rows come first.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    base: &'static str,
    first: usize,
}

/// A source, and what compilers call its language.
struct Source {
    file: PathBuf,
    language: &'static str,
}

impl Compiler {
    /// Whether it takes the options of gcc that no other compiler has.
    fn is_gcc(&self) -> bool {
        let is_name = |word: &str| {
            word == "GCC"
                || word.split('-').any(|part| matches!(part, "gcc" | "g++" | "cc" | "c++"))
        };
        !self.version.contains("clang") && self.version.split([' ', '(', ')']).any(is_name)
    }
}

impl Name {
    /// A file of this name with an ending.
    fn file(self, folder: &Path, ending: &str) -> PathBuf {
        let number = if self.first == 0 { String::new() } else { self.first.to_string() };
        folder.join(format!("{}{number}.{ending}", self.base))
    }

    /// Writes the source of rows.
    fn write(
        self,
        job: &Job,
        rows: &[RowSpec],
        borders: &dyn Fn(usize) -> Borders,
    ) -> Result<Source> {
        let text = source::rows(job.request, rows, self.first, borders);
        self.written(job, "c", &text, language(job.request))
    }

    /// Writes rows as repeated copies, which begin at multiples of `alignment`; `None` if their
    /// text is not known.
    fn write_repeated(self, job: &Job, rows: &[RowSpec], alignment: u32) -> Result<Option<Source>> {
        let ordered = source::in_turn(rows, job.request.codes.len(), self.first);
        let text = job.repeated.and_then(|repeated| repeated.rows(&ordered, alignment));
        text.map(|text| self.written(job, "s", &text, ASSEMBLER)).transpose()
    }

    fn written(
        self,
        job: &Job,
        ending: &str,
        text: &str,
        language: &'static str,
    ) -> Result<Source> {
        let file = self.file(job.folder, ending);
        std::fs::write(&file, text).map_err(io("writing the generated source"))?;
        Ok(Source { file, language })
    }
}

/// What compilers call the language of the generated source.
fn language(request: &Request) -> &'static str {
    if request.language == Language::Cpp { "c++" } else { "c" }
}

/// What compilers call the language of an assembler's text.
const ASSEMBLER: &str = "assembler";
/// Rows whose copies carry notes, for looking at the machine code.
const PILOT: Name = Name { base: "pilot", first: 0 };
/// Rows without optimisation, to count the operations in the source.
const PLAIN_ROWS: Name = Name { base: "plain", first: 0 };
/// Loops with few copies.
const FEW: Name = Name { base: "few", first: 0 };
/// Rows that are measured, those of an alternative before the others.
const fn timed(first: usize) -> Name {
    Name { base: "rows", first }
}

/// Flags for a library. Calls of functions in the user's objects are direct: a jump through the
/// linkage table would add to the time.
const SHARED_LIBRARY: [&str; 2] = ["-shared", "-Wl,-Bsymbolic-functions"];
/// Where functions of rows begin: each on a line of the cache, or at every place in it in which a
/// layout may put it.
const ALIGNMENT: u32 = 64;
const ALIGNMENT_IN_LAYOUTS: u32 = 16;
/// Number of layouts: in them a function begins at each multiple of 16 bytes in a line of the
/// cache.
const LAYOUTS: usize = 4;
/// Size in bytes up to which data lies within a line of the cache, because compilers align it to
/// its size.
const LARGEST_ALIGNED: u64 = 16;
/// Most alternatives that are compiled in each of their orders: compile time grows with them.
const MOST_IN_TURNS: usize = 3;

/// Compiles rows without optimisation, whose copies carry notes.
///
/// # Errors
/// As [`compile_pilot`].
pub fn compile_plain(job: &Job, rows: &[RowSpec]) -> Result<Library> {
    let source = PLAIN_ROWS.write(job, rows, &|_| Borders::Notes)?;
    one_library(job, &source, PLAIN_ROWS, rows.len())
}

/// Compiles rows of few copies, in the usual way.
///
/// # Errors
/// As [`compile_pilot`].
pub fn compile_few(job: &Job, rows: &[RowSpec]) -> Result<Library> {
    one_library(job, &FEW.write(job, rows, &|_| Borders::Plain)?, FEW, rows.len())
}

/// Compiles rows that are measured, those of the alternative `first` before the others: from
/// repeated copies where they are known.
fn compile(job: &Job, rows: &[RowSpec], first: usize) -> Result<Library> {
    let name = timed(first);
    let repeated = name.write_repeated(job, rows, ALIGNMENT)?;
    if let Some(library) =
        repeated.and_then(|source| one_library(job, &source, name, rows.len()).ok())
    {
        return Ok(library);
    }
    one_library(job, &name.write(job, rows, &|_| Borders::Plain)?, name, rows.len())
}

/// Compiles a source into a library.
fn one_library(job: &Job, source: &Source, name: Name, rows: usize) -> Result<Library> {
    let path = name.file(job.folder, "so");
    if let Some(messages) = link_library(job, source, &path)? {
        return Err(explain(job, &messages));
    }
    if !path.is_file() {
        let complaint = format!(
            "`{}` succeeded but wrote no library: is it a compiler? name one with --cc",
            job.compiler.command
        );
        return Err(Error::CompilerFailed(complaint));
    }
    library(vec![path], 1, rows)
}

/// Compiles and links a source; `Some` holds the messages if that failed.
fn link_library(job: &Job, source: &Source, path: &Path) -> Result<Option<String>> {
    let mut arguments = vec![source.file.as_os_str()];
    arguments.extend(SHARED_LIBRARY.map(OsStr::new));
    arguments.extend(["-o".as_ref(), path.as_os_str()]);
    made(job, linking(job, source.language, &arguments, &["-w"])?, &[&source.file], &[path])
}

/// Compiles straight rows: into one library for each order of the alternatives if these are few,
/// because the two places of equal code may make a difference of a percent.
///
/// # Errors
/// As [`compile_pilot`].
pub fn compile_in_turns(job: &Job, rows: &[RowSpec]) -> Result<Library> {
    let turns = turns_of(job.request);
    let libraries = at_once(turns, |first| compile(job, rows, first))?;
    library(libraries.into_iter().flat_map(|one| one.paths).collect(), turns, rows.len())
}

/// Compiles rows into several libraries, which differ by the [`gaps`] before code and data, and by
/// the order of few alternatives; as [`compile_in_turns`] where the compiler cannot link in two
/// steps.
///
/// # Errors
/// As [`compile_pilot`].
pub fn compile_in_layouts(job: &Job, rows: &[RowSpec]) -> Result<Library> {
    let turns = turns_of(job.request);
    let in_one_process = || compile_in_turns(job, rows);
    let Some(objects) =
        at_once(turns, |first| object(job, rows, first))?.into_iter().collect::<Option<Vec<_>>>()
    else {
        return in_one_process();
    };
    let linked = |at: usize| Ok(link(job, &objects[at % turns], at / turns, at % turns));
    let Some(paths) =
        at_once(LAYOUTS * turns, linked)?.into_iter().collect::<Option<Vec<PathBuf>>>()
    else {
        return in_one_process();
    };
    library(paths, turns, rows.len())
}

/// Number of orders of the alternatives.
fn turns_of(request: &Request) -> usize {
    if request.codes.len() <= MOST_IN_TURNS { request.codes.len() } else { 1 }
}

/// Does this for each number below `count` at the same time; the results, or the first error.
fn at_once<T: Send>(count: usize, of_number: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let of_number = &of_number;
        let threads: Vec<_> = (0..count).map(|at| scope.spawn(move || of_number(at))).collect();
        let gone =
            || Err(Error::CompilerFailed("a thread that waits for the compiler ended".into()));
        threads.into_iter().map(|one| one.join().unwrap_or_else(|_| gone())).collect()
    })
}

/// The rows as an object with the user's files, those of an alternative first; `None` if the
/// compiler makes none.
fn object(job: &Job, rows: &[RowSpec], first: usize) -> Result<Option<PathBuf>> {
    let name = timed(first);
    let object = name.file(job.folder, "o");
    let of = |source: &Source| {
        let mut arguments = if source.language == ASSEMBLER {
            vec![]
        } else {
            vec![OsStr::new("-DHS_ALIGNMENT=16")]
        };
        arguments.extend([
            source.file.as_os_str(),
            "-r".as_ref(),
            "-o".as_ref(),
            object.as_os_str(),
        ]);
        let compilation = compilation(job, source.language, &arguments, &["-w"])?;
        Ok((made(job, compilation, &[&source.file], &[&object])?.is_none() && object.is_file())
            .then(|| object.clone()))
    };
    let repeated = name.write_repeated(job, rows, ALIGNMENT_IN_LAYOUTS)?;
    if let Some(object) = repeated.as_ref().map(of).transpose()?.flatten() {
        return Ok(Some(object));
    }
    of(&name.write(job, rows, &|_| Borders::Plain)?)
}

/// Links an object behind a gap; `None` if that fails.
fn link(job: &Job, object: &Path, layout: usize, first: usize) -> Option<PathBuf> {
    let Job { request, compiler, folder, .. } = *job;
    let name = format!("layout{layout}-{first}");
    let (gap_file, path) = (folder.join(format!("{name}.s")), folder.join(format!("{name}.so")));
    std::fs::write(&gap_file, gaps(layout)).ok()?;
    let mut command = driver(compiler, folder);
    command
        .args(shell_words("--cflags", &request.flags).ok()?)
        .args(SHARED_LIBRARY)
        .args(["-Wl,-z,defs", "-Wa,--noexecstack", "-o"])
        .arg(&path);
    command.args(["-x", "assembler"]).arg(&gap_file).args(["-x", "none"]).arg(object);
    command.args(shell_words("--link", &request.link).ok()?).arg("-lm");
    let is_linked =
        made(job, command, &[&gap_file, object], &[&path]).ok()?.is_none() && path.is_file();
    is_linked.then_some(path)
}

/// What is linked before the code and the data in a layout. The bytes before the code move it by 16
/// bytes in a line of the cache and in what is decoded at once, and also change further bits of the
/// addresses, by which branches are predicted. Those before the data move it by half a line, since
/// compilers align large arrays to that, and to other places in a page; `.bss` follows `.data`.
fn gaps(layout: usize) -> String {
    const OF_CODE: usize = 21 * 16;
    const OF_DATA: usize = 31 * 32;
    let (code, data) = (OF_CODE * layout, OF_DATA * layout);
    format!(".text\n.skip {code}\n.data\n.skip {data}\n.section .rodata,\"a\"\n.skip {data}\n")
}

/// A compilation that links too.
fn linking(job: &Job, language: &str, arguments: &[&OsStr], quiet: &[&str]) -> Result<Command> {
    let mut command = compilation(job, language, arguments, quiet)?;
    // Undefined functions must be reported here, not when the rows run.
    command.arg("-Wl,-z,defs").args(shell_words("--link", &job.request.link)?).arg("-lm");
    Ok(command)
}

/// Runs a command that makes `outputs` from generated files, or takes them from the cache; `Some`
/// holds the messages if it failed.
fn made(
    job: &Job,
    command: Command,
    sources: &[&Path],
    outputs: &[&Path],
) -> Result<Option<String>> {
    let request = job.request;
    let own_files =
        request.files.iter().filter(|file| !source::is_included(file, request.language));
    let step = Step {
        compiler: job.compiler,
        arguments: command.get_args().map(OsStr::to_owned).collect(),
        flags: [shell_words("--cflags", &request.flags)?, shell_words("--link", &request.link)?]
            .concat(),
        folder: job.folder,
        sources: sources.iter().copied().map(Path::to_owned).collect(),
        objects: own_files.cloned().collect(),
        outputs: outputs.iter().copied().map(Path::to_owned).collect(),
    };
    let Some(slot) = job.cache.and_then(|cache| cache.slot(&step)) else {
        return failure(command, job.compiler);
    };
    if slot.fetch() {
        return Ok(None);
    }
    let (mut listing, list) = (driver(job.compiler, job.folder), |ending: &str| {
        outputs[0].with_extension(format!("{ending}.d"))
    });
    listing.args(command.get_args());
    let is_text =
        sources.iter().all(|source| source.extension().is_some_and(|ending| ending != "c"));
    let links = !step.arguments.iter().any(|argument| argument == "-S" || argument == "-r");
    let lists = [(!is_text).then(|| list("headers")), links.then(|| list("objects"))];
    listing
        .args(lists[0].iter().flat_map(|list| ["-MD".as_ref(), "-MF".as_ref(), list.as_os_str()]));
    listing.args(lists[1].iter().map(|list| format!("-Wl,--dependency-file={}", list.display())));
    if failure(listing, job.compiler)?.is_none() {
        slot.keep(&lists.into_iter().flatten().collect::<Vec<_>>(), job.folder);
        return Ok(None);
    }
    // A linker may not write lists.
    failure(command, job.compiler)
}

/// A compilation of the generated source with the user's files; those are left out where the
/// compiler makes one text or object.
fn compilation(job: &Job, language: &str, arguments: &[&OsStr], quiet: &[&str]) -> Result<Command> {
    let request = job.request;
    let mut command = driver(job.compiler, job.folder);
    command.args(["-x", language]);
    command.args(if language == "c" && request.language == Language::C {
        &["-Werror=implicit-function-declaration"][..]
    } else {
        &[]
    });
    // Variables of a thread are reached as in a program, and not by a call.
    command
        .args(["-I.", "-fPIC", "-fvisibility=hidden", "-ftls-model=initial-exec"])
        .args(quiet)
        .args(shell_words("--cflags", &request.flags)?);
    command.args(arguments).args(["-x", "none"]);
    let is_linked = !["-S", "-c"].iter().any(|flag| arguments.contains(&OsStr::new(flag)));
    command.args(
        request
            .files
            .iter()
            .filter(|file| is_linked && !source::is_included(file, request.language)),
    );
    Ok(command)
}

/// The compiler's command.
fn driver(compiler: &Compiler, folder: &Path) -> Command {
    let mut command = Command::new(&compiler.command);
    // Files left by a stopped compiler are removed with the folder.
    command.args(&compiler.flags).env("LC_ALL", "C").env("TMPDIR", folder);
    command
}

/// Messages about the pieces of the code, each compiled once, that name the user's lines; `None` if
/// there are none.
fn own_messages(job: &Job) -> Result<Option<String>> {
    let (request, folder) = (job.request, job.folder);
    for (name, text) in source::pieces(request) {
        let _ = std::fs::write(folder.join(name), text + "\n");
    }
    let file = folder.join("checked.c");
    std::fs::write(&file, source::checked(request, folder))
        .map_err(io("writing the generated source"))?;
    let output = folder.join("checked.o");
    let arguments = [file.as_os_str(), "-c".as_ref(), "-o".as_ref(), output.as_os_str()];
    let own_failure = failure(linking(job, language(request), &arguments, &[])?, job.compiler)?;
    Ok(own_failure.map(|own| advised(request, tidy(&own, folder))))
}

/// The error about messages of the compiler. If each piece alone compiles, the repetition or the
/// linking is at fault, and these messages are reported.
fn explain(job: &Job, messages: &str) -> Error {
    match own_messages(job) {
        Ok(Some(messages)) => Error::DoesNotCompile { messages },
        Ok(None) => Error::DoesNotCompile {
            messages: tidy(messages, job.folder) + &hint_about(job, messages),
        },
        Err(error) => error,
    }
}

/// Messages, with what declares a function that the code calls without a declaration, and what
/// times a command.
fn advised(request: &Request, messages: String) -> String {
    const UNDECLARED_FLAG: &str = "name the header of the function with --include;\n\
                                   some functions are declared for those who ask: --cflags='-O2 \
                                   -D_GNU_SOURCE'";
    const ASYNC: &str = "asynchronous code is not timed as it is: block on it in a function \
                         (--file);\nin Rust, in a function with #[hairspring::bench]";
    let is_async =
        |code: &String| ["co_await", "async ", ".await"].iter().any(|word| code.contains(word));
    match () {
        () if request.codes.iter().any(|code| is_command(code)) => {
            format!("{messages}\nthis may be a command, and no code:\n{NO_COMMANDS}")
        }
        () if request.codes.iter().any(is_async) => format!("{messages}\n{ASYNC}"),
        () if messages.contains("implicit declaration of function") => {
            format!("{messages}\n{UNDECLARED_FLAG}")
        }
        () => messages,
    }
}

/// What may be wrong with repeated copies, unless the messages are about a file of the user.
fn hint_about(job: &Job, messages: &str) -> String {
    let names = |file: &PathBuf| messages.contains(&*file.to_string_lossy());
    if job.request.files.iter().any(names) {
        String::new()
    } else {
        format!("\n{}", hint(messages))
    }
}

/// The library in these files, with what the symbol table of the first one shows: the code size of
/// every row (of its inner function, where there is one), and whether there are arrays.
fn library(paths: Vec<PathBuf>, crossover: usize, rows: usize) -> Result<Library> {
    use object::{Object, ObjectSymbol, SymbolKind};
    let data = std::fs::read(&paths[0]).map_err(io("reading the compiled rows"))?;
    let file = object::File::parse(&*data)
        .map_err(|e| Error::Child(format!("the compiled rows cannot be read: {e}")))?;
    let (mut row_bytes, mut holds_arrays) = (vec![0; rows], false);
    for symbol in file.symbols() {
        holds_arrays |= symbol.kind() == SymbolKind::Data && symbol.size() > LARGEST_ALIGNED;
        // The function that passes the variables is small; the one with the copies is the larger of
        // the two.
        if let Some(slot) =
            symbol.name().ok().and_then(row_of).and_then(|row| row_bytes.get_mut(row))
        {
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

#[cfg(all(test, target_arch = "x86_64"))]
mod both_ways;
#[cfg(test)]
mod tests;
