//! Identification of a measurement: the machine that it was made on, and the commit of the measured
//! code.

use crate::environment::machine;
use hairspring_core::hash;
use std::fs::read_to_string;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Fingerprint of this machine: the same for every run on this installation, different on other
/// machines. It is a 64-bit FNV-1a hash of the machine's id and name, the CPU and its architecture,
/// so it does not show them.
pub fn fingerprint() -> String {
    let machine = machine();
    let file = |path| read_to_string(path).unwrap_or_default();
    let text = [
        file("/etc/machine-id"),
        file("/proc/sys/kernel/hostname"),
        machine.cpu_model,
        machine.architecture,
    ]
    .join("\n");
    hash::fingerprint(text.bytes())
}

/// Fingerprint of the program that runs: another one for another build. It is a 64-bit FNV-1a hash
/// of the file's length and its first 16 MiB, so a change behind them that leaves the length as it
/// was does not show. `None` if the file cannot be read. It is read once: a program asks for every
/// group of its benchmarks.
pub fn program() -> Option<String> {
    static PROGRAM: OnceLock<Option<String>> = OnceLock::new();
    PROGRAM.get_or_init(|| program_in(&std::env::current_exe().ok()?)).clone()
}

/// Most bytes of a program that are hashed: it takes some 15 ms.
const MOST_BYTES: u64 = 16 << 20;
/// Bytes that are read at once. A buffer of 128 KiB or more, once freed, would make the C library
/// take larger blocks from its heap from then on, in the benchmarks that follow as well.
const CHUNK: usize = 1 << 16;

fn program_in(path: &Path) -> Option<String> {
    let file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut is_readable = true;
    let bytes = BufReader::with_capacity(CHUNK, file.take(MOST_BYTES)).bytes().map_while(|byte| {
        is_readable = byte.is_ok();
        byte.ok()
    });
    let found = hash::fingerprint(length.to_le_bytes().into_iter().chain(bytes));
    is_readable.then_some(found)
}

/// The current commit of the git checkout that contains the folder; `None` if there is no checkout
/// or no commit.
pub fn commit(folder: &Path) -> Option<String> {
    let git = folder.ancestors().find_map(git_folder)?;
    let head = read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return hexadecimal(head.trim()) };
    // A linked work tree has its branches in the main one.
    let common = read_to_string(git.join("commondir")).ok().map(|path| git.join(path.trim()));
    [Some(git), common].into_iter().flatten().find_map(|git| branch(&git, name))
}

/// The folder with git's data, or where the file `.git` says that it is.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = read_to_string(git).ok()?;
    Some(folder.join(text.trim().strip_prefix("gitdir: ")?))
}

fn branch(git: &Path, name: &str) -> Option<String> {
    let loose = || hexadecimal(read_to_string(git.join(name)).ok()?.trim());
    let packed = || {
        let text = read_to_string(git.join("packed-refs")).ok()?;
        let line =
            text.lines().find_map(|line| line.split_once(' ').filter(|(_, other)| *other == name));
        hexadecimal(line?.0)
    };
    // A name with `..` could point outside of the folder.
    if name.split('/').any(|part| part == "..") { None } else { loose().or_else(packed) }
}

fn hexadecimal(text: &str) -> Option<String> {
    let sound =
        text.len() >= 40 && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    sound.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    const FIRST_ID: &str = "0123456789abcdef0123456789abcdef01234567";
    const SECOND: &str = "89abcdef0123456789abcdef0123456789abcdef";

    /// A new folder in the system's temporary folder, deleted when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let folder = std::env::temp_dir()
                .join(format!("hairspring-identity-{}-{name}", std::process::id()));
            create_dir_all(folder.join(".git/refs/heads")).unwrap();
            Scratch(folder)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_commit_is_read_from_branches_packed_branches_and_detached_heads() {
        let scratch = Scratch::new("branches");
        let git = scratch.0.join(".git");
        write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(commit(&scratch.0), None);
        write(
            git.join("packed-refs"),
            format!("# pack-refs with: peeled\n{FIRST_ID} refs/heads/main\n"),
        )
        .unwrap();
        assert_eq!(commit(&scratch.0).as_deref(), Some(FIRST_ID));
        write(git.join("refs/heads/main"), format!("{SECOND}\n")).unwrap();
        create_dir_all(scratch.0.join("deep/below")).unwrap();
        assert_eq!(commit(&scratch.0.join("deep/below")).as_deref(), Some(SECOND));
        write(git.join("HEAD"), FIRST_ID).unwrap();
        assert_eq!(commit(&scratch.0).as_deref(), Some(FIRST_ID));
    }

    #[test]
    fn malformed_head_has_no_commit() {
        let scratch = Scratch::new("hostile");
        for head in [
            "",
            "ref: ../../etc/passwd",
            "ref: refs/heads/../../../x",
            "not a commit",
            "\u{0}\u{1b}[31m",
        ] {
            write(scratch.0.join(".git/HEAD"), head).unwrap();
            assert_eq!(commit(&scratch.0), None, "{head:?}");
        }
    }

    #[test]
    fn a_program_is_known_by_its_length_and_its_first_bytes() {
        let scratch = Scratch::new("program");
        let of = |bytes: &[u8]| {
            write(scratch.0.join("program"), bytes).unwrap();
            program_in(&scratch.0.join("program")).unwrap()
        };
        assert_eq!(of(b"code"), of(b"code"));
        assert_ne!(of(b"code"), of(b"kode"));
        assert_ne!(of(&[0; 9]), of(&[0; 10]));
        assert_eq!((program_in(&scratch.0.join("missing")), program_in(&scratch.0)), (None, None));
        assert!(program().is_some());
    }

    #[test]
    fn the_fingerprint_stays_the_same() {
        assert_eq!(fingerprint(), fingerprint());
        assert_eq!(fingerprint().len(), 16);
    }
}
