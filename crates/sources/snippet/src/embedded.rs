//! A statically linked program has no dynamic loader, so it cannot load the compiled rows. It
//! embeds the host as a small program that is linked dynamically, and starts that from memory.
//! Other builds embed nothing: they are their own host.

use crate::error::Result;
use std::path::PathBuf;

/// The embedded program as a file that can be started; `None` if this build has none.
///
/// # Errors
/// The system has no `/proc`, by which a file in memory is started, or not the dynamic loader that
/// the program needs.
#[cfg(not(embedded_host))]
pub fn program() -> Result<Option<PathBuf>> {
    Ok(None)
}

#[cfg(embedded_host)]
pub fn program() -> Result<Option<PathBuf>> {
    use crate::error::{Error, io};
    static FILE: std::sync::OnceLock<std::fs::File> = std::sync::OnceLock::new();
    if FILE.get().is_none() {
        let file =
            in_memory::file(PROGRAM).map_err(io("writing the measuring program into memory"))?;
        let _ = FILE.set(file);
    }
    let path =
        in_memory::path(FILE.get().ok_or_else(|| Error::Child("its file is missing".to_owned()))?);
    in_memory::check(&path, PROGRAM).map_err(Error::Child)?;
    Ok(Some(path))
}

#[cfg(embedded_host)]
const PROGRAM: &[u8] = include_bytes!(env!("HAIRSPRING_EMBEDDED_HOST"));

#[cfg(all(target_os = "linux", any(test, embedded_host)))]
mod in_memory {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    use object::elf::{FileHeader64, PT_INTERP};
    use object::read::elf::{FileHeader, ProgramHeader};
    use std::fs::File;
    use std::io::{Result, Write};
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    /// A file in memory with this content. Children inherit nothing of it: they are started by its
    /// path.
    pub fn file(content: &[u8]) -> Result<File> {
        let mut file = File::from(memfd_create("hairspring-host", MFdFlags::MFD_CLOEXEC)?);
        file.write_all(content)?;
        Ok(file)
    }

    /// The path by which a child of this process finds the file.
    pub fn path(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }

    /// Why the program cannot be started here, with what to do.
    pub fn check(path: &Path, program: &[u8]) -> std::result::Result<(), String> {
        if !path.exists() {
            return Err(format!(
                "{} does not exist, by which it is started: mount /proc (mount -t proc proc /proc)",
                path.display()
            ));
        }
        match loader(program) {
            Some(loader) if !Path::new(&loader).exists() => Err(format!(
                "code is loaded by glibc's {loader}, which this system lacks: measure on a system \
                 with glibc, or time a program of yours that is linked with the library \
                 (`hairspring run PROGRAM`)"
            )),
            _ => Ok(()),
        }
    }

    /// The dynamic loader that a program names.
    fn loader(program: &[u8]) -> Option<String> {
        let header = FileHeader64::<object::Endianness>::parse(program).ok()?;
        let endian = header.endian().ok()?;
        let headers = header.program_headers(endian, program).ok()?;
        let interpreter = headers.iter().find(|one| one.p_type(endian) == PT_INTERP)?;
        let name = interpreter.data(endian, program).ok()?;
        Some(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned())
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::process::Command;

        #[test]
        fn a_program_in_memory_starts() {
            let program = std::fs::read("/bin/true").unwrap();
            let file = file(&program).unwrap();
            assert_eq!(check(&path(&file), &program), Ok(()));
            assert!(Command::new(path(&file)).status().unwrap().success());
        }

        #[test]
        fn a_program_that_cannot_start_is_refused_with_the_reason() {
            let mut program = std::fs::read("/bin/true").unwrap();
            let file = file(&program).unwrap();
            let name = loader(&program).unwrap();
            let at =
                program.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
            program[at + 1..at + 4].copy_from_slice(b"non");
            assert!(
                check(&path(&file), &program).unwrap_err().contains(&format!("/non{}", &name[4..]))
            );
            assert!(
                check(Path::new("/proc/self/fd/9999"), &program)
                    .unwrap_err()
                    .contains("mount /proc")
            );
        }

        #[test]
        fn what_is_no_program_names_no_loader() {
            for bytes in [&b""[..], b"\x7fELF", &[0; 64]] {
                assert_eq!(loader(bytes), None);
            }
        }
    }
}
