//! Finds the files into which distributions move the names and lines of their programs: by the
//! build-id, or by the name and checksum in the section `.gnu_debuglink` (GDB manual, "Debugging
//! Information in Separate Files").

use object::Object;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The file that holds the names and lines of a program or library, and its bytes; `None` if it has
/// none.
pub fn find(path: &Path, file: &object::File<'_>, folder: &Path) -> Option<(PathBuf, Vec<u8>)> {
    by_build_id(file, folder).or_else(|| by_link(path, file, folder))
}

fn by_build_id(file: &object::File<'_>, folder: &Path) -> Option<(PathBuf, Vec<u8>)> {
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = folder.join(".build-id").join(format!("{first:02x}")).join(rest + ".debug");
    let data = std::fs::read(&path).ok()?;
    let is_same = object::File::parse(&*data).ok()?.build_id().ok()? == Some(id);
    is_same.then_some((path, data))
}

fn by_link(path: &Path, file: &object::File<'_>, folder: &Path) -> Option<(PathBuf, Vec<u8>)> {
    let (name, checksum) = file.gnu_debuglink().ok()??;
    // A name with folders would lead anywhere.
    let name = Path::new(std::ffi::OsStr::from_bytes(name).to_str()?).file_name()?;
    let beside = std::fs::canonicalize(path).ok()?.parent()?.to_owned();
    let below = folder.join(beside.strip_prefix("/").ok()?);
    let candidates = [beside.join(name), beside.join(".debug").join(name), below.join(name)];
    candidates.into_iter().find_map(|path| {
        let data = std::fs::read(&path).ok()?;
        (crc32(&data) == checksum).then_some((path, data))
    })
}

/// The file to which several others moved what they have in common (dwz), named in a file of names
/// and lines.
pub fn common(path: &Path, data: &[u8], folder: &Path) -> Option<PathBuf> {
    let file = object::File::parse(data).ok()?;
    let (name, id) = file.gnu_debugaltlink().ok()??;
    let name = Path::new(std::ffi::OsStr::from_bytes(name));
    let beside = path.parent()?.join(name);
    let text: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let by_id = text
        .get(..2)
        .map(|first| folder.join(".build-id").join(first).join(format!("{}.debug", &text[2..])));
    [Some(beside), by_id].into_iter().flatten().find(|path| path.is_file())
}

/// The checksum of these sections: CRC-32 of IEEE 802.3.
fn crc32(data: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let table: [u32; 256] = std::array::from_fn(|at| {
        (0..8).fold(at as u32, |crc, _| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 })
    });
    !data
        .iter()
        .fold(u32::MAX, |crc, byte| crc >> 8 ^ table[((crc ^ u32::from(*byte)) & 0xff) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!((crc32(b"123456789"), crc32(b"")), (0xcbf4_3926, 0));
    }
}
