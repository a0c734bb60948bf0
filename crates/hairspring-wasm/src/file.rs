//! A file that is read in pieces where they are asked for.

use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};

/// Bytes that are asked for at once.
const PIECE: usize = 1 << 20;

/// Where the pieces of a file come from.
pub trait Pieces {
    /// Bytes of the file.
    fn size(&self) -> u64;

    /// The bytes from a place on, at most `most` of them.
    ///
    /// # Errors
    /// The file cannot be read.
    fn piece(&mut self, at: u64, most: usize) -> Result<Vec<u8>>;
}

impl Pieces for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn piece(&mut self, at: u64, most: usize) -> Result<Vec<u8>> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        Ok(rest[..rest.len().min(most)].to_vec())
    }
}

/// The file as a stream that can be read from any place.
pub struct File {
    pieces: Box<dyn Pieces>,
    at: u64,
    /// The piece that was asked for last, and its place.
    piece: Vec<u8>,
    begins: u64,
}

impl File {
    /// The stream from the beginning of a file.
    pub fn new(pieces: Box<dyn Pieces>) -> File {
        File { pieces, at: 0, piece: Vec::new(), begins: 0 }
    }

    /// The bytes of the last piece from this place on.
    fn at_hand(&self) -> &[u8] {
        let offset = self.at.checked_sub(self.begins).and_then(|at| usize::try_from(at).ok());
        offset.and_then(|at| self.piece.get(at..)).unwrap_or_default()
    }

    fn fill(&mut self) -> Result<()> {
        if self.at_hand().is_empty() && self.at < self.pieces.size() {
            self.piece = self.pieces.piece(self.at, PIECE)?;
            self.begins = self.at;
        }
        Ok(())
    }
}

impl Read for File {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.fill()?;
        let taken = self.at_hand().read(into)?;
        self.at += taken as u64;
        Ok(taken)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(by) => (self.pieces.size(), by),
            SeekFrom::Current(by) => (self.at, by),
        };
        let before = || Error::new(ErrorKind::InvalidInput, "a place before the file");
        self.at = from.checked_add_signed(by).ok_or_else(before)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of known bytes that counts how often it is asked.
    struct Counted(Vec<u8>, std::rc::Rc<std::cell::Cell<usize>>);

    impl Pieces for Counted {
        fn size(&self) -> u64 {
            self.0.size()
        }

        fn piece(&mut self, at: u64, most: usize) -> Result<Vec<u8>> {
            self.1.set(self.1.get() + 1);
            self.0.piece(at, most)
        }
    }

    fn bytes() -> Vec<u8> {
        (0..2 * PIECE + 77).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn a_file_is_read_in_few_pieces() {
        let asked = std::rc::Rc::default();
        let mut file = File::new(Box::new(Counted(bytes(), std::rc::Rc::clone(&asked))));
        let mut all = Vec::new();
        file.read_to_end(&mut all).unwrap();
        assert!(all == bytes());
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn any_place_is_found() {
        let mut file = File::new(Box::new(bytes()));
        for (to, at) in [
            (SeekFrom::Start(PIECE as u64 + 5), PIECE + 5),
            (SeekFrom::Current(-7), PIECE + 5 + 3 - 7),
            (SeekFrom::End(-10), 2 * PIECE + 67),
            (SeekFrom::Start(3), 3),
        ] {
            file.seek(to).unwrap();
            let mut three = [0; 3];
            file.read_exact(&mut three).unwrap();
            assert_eq!(three, bytes()[at..at + 3], "{to:?}");
        }
        assert!(file.seek(SeekFrom::Current(-100)).is_err());
        file.seek(SeekFrom::Start(u64::MAX)).unwrap();
        assert_eq!(file.read(&mut [0; 3]).unwrap(), 0);
    }
}
