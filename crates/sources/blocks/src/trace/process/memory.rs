//! Reads and writes the memory of a traced process.

use super::{Process, refused};
use crate::error::{Error, Result};
use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::os::unix::fs::FileExt;

impl Process {
    /// Reads memory; `false` where it cannot be read.
    pub fn read(&self, address: u64, into: &mut [u8]) -> bool {
        const LARGE_READ: usize = 4096;
        if into.len() > LARGE_READ {
            // The system call below pins pages, for which the kernel copies those that copies of a
            // process share.
            let file = File::open(format!("/proc/{}/mem", self.pid));
            if file.and_then(|file| file.read_exact_at(into, address)).is_ok() {
                return true;
            }
        }
        let remote = [RemoteIoVec { base: address as usize, len: into.len() }];
        let length = into.len();
        process_vm_readv(self.pid, &mut [IoSliceMut::new(into)], &remote) == Ok(length)
    }

    /// Writes to memory that the program itself may write to.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let remote = [RemoteIoVec { base: address as usize, len: bytes.len() }];
        match process_vm_writev(self.pid, &[IoSlice::new(bytes)], &remote) {
            Ok(done) if done == bytes.len() => Ok(()),
            Ok(_) => {
                Err(Error::system("write to the program's memory", "only a part could be written"))
            }
            Err(e) => Err(refused("write to the program's memory", e)),
        }
    }

    /// Writes to code.
    pub fn poke(&self, address: u64, bytes: &[u8]) -> Result<()> {
        poke(self.pid, address, bytes)
    }

    /// Writes much to code: at once if the kernel allows it, else a word at a time.
    pub fn poke_all(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let file = std::fs::OpenOptions::new().write(true).open(format!("/proc/{}/mem", self.pid));
        match file.and_then(|file| file.write_all_at(bytes, address)) {
            Ok(()) => Ok(()),
            Err(_) => self.poke(address, bytes),
        }
    }
}

/// Writes to code, a word at a time.
pub fn poke(pid: Pid, address: u64, bytes: &[u8]) -> Result<()> {
    let fail = |e| refused("write to the program's code", e);
    let (mut at, mut rest) = (address, bytes);
    while !rest.is_empty() {
        let word = ptrace::read(pid, at as ptrace::AddressType).map_err(fail)?;
        let mut all_bytes = word.to_ne_bytes();
        let count = rest.len().min(all_bytes.len());
        all_bytes[..count].copy_from_slice(&rest[..count]);
        ptrace::write(pid, at as ptrace::AddressType, libc::c_long::from_ne_bytes(all_bytes))
            .map_err(fail)?;
        (at, rest) = (at + count as u64, &rest[count..]);
    }
    Ok(())
}
