//! Turns a file into a command: programs run as they are, scripts by their interpreter, source
//! after compilation.

use super::arguments::RunArguments;
use super::child;
use hairspring_host::process::Folder;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// How a program is started.
pub struct Started {
    /// The command and its first arguments.
    pub command: Vec<OsString>,
    /// Where it was compiled; removed with it.
    _folder: Option<Folder>,
}

/// The header for C programs that need no library: a link to probe/, so that the crate's package
/// has it.
const HEADER: &str = include_str!("hairspring.h");

/// A language that is compiled: endings of its files, the compiler, the headers that are at hand
/// without the library.
struct Compiled {
    endings: &'static [&'static str],
    compiler: &'static str,
    alone: bool,
    what: &'static str,
}

const COMPILED_LANGUAGES: [Compiled; 3] = [
    Compiled { endings: &["c"], compiler: "cc", alone: true, what: "C" },
    Compiled { endings: &["cc", "cpp", "cxx", "C"], compiler: "c++", alone: false, what: "C++" },
    Compiled {
        endings: &["f90", "F90", "f95", "f03", "f08"],
        compiler: "gfortran",
        alone: false,
        what: "Fortran",
    },
];

/// Makes a file ready to be run.
///
/// # Errors
/// The file can neither be run nor compiled.
pub fn prepare(file: &Path, flags: &[String], arguments: &RunArguments) -> Result<Started, String> {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let path = file.canonicalize().map_err(|error| error.to_string())?;
    if path.is_dir() {
        return Err("is a folder: name the programs in it".into());
    }
    if let Some(language) =
        COMPILED_LANGUAGES.iter().find(|language| language.endings.contains(&ending))
    {
        return compile(&path, language, flags, arguments);
    }
    let command = if ending == "py" {
        vec![OsString::from("python3"), path.into()]
    } else {
        executable(&path)?
    };
    Ok(Started { command, _folder: None })
}

fn executable(path: &Path) -> Result<Vec<OsString>, String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().map_err(|error| error.to_string())?.permissions().mode();
    if mode & 0o111 == 0 {
        return Err(
            "is neither a program (it is not executable) nor a file in C, C++, Fortran or Python"
                .into(),
        );
    }
    Ok(vec![path.into()])
}

fn compile(
    path: &Path,
    language: &Compiled,
    flags: &[String],
    arguments: &RunArguments,
) -> Result<Started, String> {
    let folder = Folder::new().map_err(|error| format!("a temporary folder: {error}"))?;
    let program = folder.path().join("program");
    let library = library_flags();
    if library.is_none() && !language.alone {
        return Err(format!(
            "{} needs the installed library: pkg-config finds no `hairspring` (see \
             docs/install.md)",
            language.what
        ));
    }
    std::fs::write(folder.path().join("hairspring.h"), HEADER)
        .map_err(|error| format!("a temporary file: {error}"))?;
    let compiler = arguments.cc.as_deref().unwrap_or(language.compiler);
    let mut command = Command::new(compiler);
    command.args(flags);
    if language.what == "Fortran" {
        // The module comes as source; what is made of it stays in the folder.
        command.arg("-J").arg(folder.path()).args(module());
    }
    command.arg(path).arg("-o").arg(&program);
    // Includes relative to the file's own folder are found by the compiler itself.
    match library {
        Some(flags) => command.args(flags),
        None => command.arg("-I").arg(folder.path()),
    };
    command.args(["-lm", "-lpthread"]).stderr(Stdio::inherit());
    let ended = child::run(command, &arguments.limits())
        .map_err(|error| format!("the compiler `{compiler}` (--cc) {error}"))?;
    if !ended.status.success() {
        return Err("does not compile".into());
    }
    Ok(Started { command: vec![program.into()], _folder: Some(folder) })
}

fn module() -> Option<String> {
    Some(format!("{}/hairspring.f90", ask_library(&["--variable=includedir"])?))
}

/// What pkg-config says of the library.
fn ask_library(words: &[&str]) -> Option<String> {
    let output = Command::new("pkg-config")
        .args(words)
        .arg("hairspring")
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Flags of the installed library with the place where it is found again at run time.
fn library_flags() -> Option<Vec<String>> {
    let flags = ask_library(&["--cflags", "--libs"])?;
    let folder = ask_library(&["--variable=libdir"])?;
    Some(
        flags
            .split_whitespace()
            .map(str::to_owned)
            .chain([format!("-Wl,-rpath,{folder}")])
            .collect(),
    )
}
