//! All that decides what a compiler makes, but for the files that it finds by itself.

use super::depends::{hash, is_unknown};
use crate::compile::Compiler;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A step of a compilation: one command of the compiler.
#[derive(Debug)]
pub struct Step<'a> {
    /// The compiler.
    pub compiler: &'a Compiler,
    /// The arguments of its command.
    pub arguments: Vec<OsString>,
    /// Flags of the user for the compiler and the linker.
    pub flags: Vec<String>,
    /// The folder of the compilation.
    pub folder: &'a Path,
    /// The generated file that it reads.
    pub sources: Vec<PathBuf>,
    /// The user's objects.
    pub objects: Vec<PathBuf>,
    /// The files that it writes.
    pub outputs: Vec<PathBuf>,
}

/// Changes with what is kept.
const FORMAT: &str = concat!("hairspring ", env!("CARGO_PKG_VERSION"), " compiled 3");
/// How the files begin that a linker takes as they are: objects, libraries and archives.
const OBJECTS: [&[u8]; 2] = [b"\x7fELF", b"!<arch>\n"];
/// Variables that change what compilers and linkers do.
const VARIABLES: [&str; 12] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "LD_LIBRARY_PATH",
    "LD_RUN_PATH",
    "LD_PRELOAD",
    "SOURCE_DATE_EPOCH",
    "PATH",
];
/// Variables with further folders, whose files may come before those that are known.
const FOLDERS: [&str; 4] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"];

impl Step<'_> {
    /// The name of the entry; `None` if something decides that is not known.
    pub fn key(&self) -> Option<String> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if FOLDERS.iter().any(|name| is_set(name))
            || !self.flags.iter().chain(&self.compiler.flags).all(|flag| is_known(flag))
        {
            return None;
        }
        let mut text: Vec<u8> = Vec::new();
        let mut add = |part: &[u8]| {
            text.extend((part.len() as u64).to_le_bytes());
            text.extend(part);
        };
        add(FORMAT.as_bytes());
        add(self.compiler.version.as_bytes());
        for program in [self.compiler.command.as_str(), "as", "ld"] {
            add(identity(program)?.as_bytes());
        }
        let folder = self.folder.to_str()?;
        for argument in &self.arguments {
            add(argument.to_str()?.replace(folder, "@").as_bytes());
        }
        VARIABLES
            .iter()
            .for_each(|name| add(std::env::var_os(name).unwrap_or_default().as_encoded_bytes()));
        add(processor()?.as_bytes());
        for source in &self.sources {
            let bytes = std::fs::read(source).ok()?;
            if is_unknown(&String::from_utf8_lossy(&bytes)) {
                return None;
            }
            add(&hash(&bytes));
        }
        for object in &self.objects {
            let bytes = std::fs::read(object).ok()?;
            // Sources, scripts of a linker and thin archives read other files, of which there is no
            // list.
            if !OBJECTS.iter().any(|begin| bytes.starts_with(begin)) {
                return None;
            }
            add(&hash(&bytes));
        }
        Some(hash(&text).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Folders in which headers are looked for before those of the system.
    pub fn header_folders(&self) -> Vec<PathBuf> {
        let named = self
            .flags
            .iter()
            .chain(&self.compiler.flags)
            .filter_map(|flag| flag.strip_prefix("-I"));
        std::iter::once(".").chain(named).map(PathBuf::from).collect()
    }
}

/// Whether all that a flag decides is in the key and in the lists of files.
fn is_known(flag: &str) -> bool {
    const KNOWN_FLAGS: [&str; 10] =
        ["-O", "-m", "-std=", "-D", "-U", "-g", "-l", "-pedantic", "-f", "-W"];
    const OTHER_FLAGS: [&str; 5] = ["-w", "-ansi", "-pthread", "-pipe", "-I."];
    // They name files, or run programs.
    const REFUSED_FLAGS: [&str; 9] = [
        "-fplugin",
        "-fprofile",
        "-fauto-profile",
        "-fsanitize",
        "-fmodule",
        "-Wl,",
        "-Wa,",
        "-Wp,",
        "-fuse-ld",
    ];
    let begins = |with: &[&str]| with.iter().any(|begin| flag.starts_with(begin));
    // Flags that take a value may name a file in it.
    const VALUES: [&str; 7] = ["-std=", "-march=", "-mtune=", "-mcpu=", "-mfpu=", "-D", "-O"];
    let has_value = flag.contains('=') && !begins(&VALUES);
    let is_folder = flag.strip_prefix("-I").is_some_and(|folder| !folder.is_empty());
    (begins(&KNOWN_FLAGS) && !begins(&REFUSED_FLAGS) && !has_value)
        || OTHER_FLAGS.contains(&flag)
        || is_folder
}

/// Which file a program is; `None` if it is a script, which may run anything.
fn identity(program: &str) -> Option<String> {
    let path = if program.contains('/') {
        PathBuf::from(program)
    } else {
        std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join(program))
            .find(|path| path.is_file())?
    };
    let path = path.canonicalize().ok()?;
    let mut start = [0; 4];
    std::io::Read::read_exact(&mut std::fs::File::open(&path).ok()?, &mut start).ok()?;
    let metadata = path.metadata().ok()?;
    let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec());
    (start == *b"\x7fELF").then(|| {
        format!(
            "{} {} {} {} {times:?}",
            path.display(),
            metadata.dev(),
            metadata.ino(),
            metadata.len()
        )
    })
}

/// The first processor and its features, which `-march=native` asks for.
fn processor() -> Option<String> {
    const LINES: [&str; 8] = [
        "vendor_id",
        "cpu family",
        "model",
        "stepping",
        "cache size",
        "flags",
        "CPU implementer",
        "Features",
    ];
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let first = text.split("\n\n").next()?;
    Some(
        first
            .lines()
            .filter(|line| LINES.iter().any(|name| line.starts_with(name)))
            .collect::<Vec<_>>()
            .join("\n"),
    )
}
