//! The names of a dump, and its comments.

use super::file::{File, Packing, Part};
use super::reader::Reader;
use crate::error::Result;
use crate::read::dump::{Declared, Names, Origin};

/// Longest name and attribute.
const MOST_NAME: usize = 1 << 20;
/// Widest variable.
const MOST_WIDTH: u64 = 1 << 24;
/// Kinds of entries beside those of variables, which are below [`KINDS`].
const ATTRIBUTE: u8 = 252;
const ATTRIBUTE_END: u8 = 253;
const SCOPE: u8 = 254;
const SCOPE_END: u8 = 255;
/// Number of kinds of variables; numbers in floating point, ports and texts among them.
const KINDS: u8 = 30;
const FLOATS: [u8; 4] = [3, 4, 20, 29];
const PORT: u8 = 18;
const TEXT: u8 = 21;
/// Attributes: the first kind of miscellaneous ones is a comment, the third a type of VHDL.
const COMMENT: (u8, u8) = (0, 0);
const TYPE: (u8, u8) = (0, 2);
/// Types of VHDL whose values are no levels: numbers, times, characters and texts. GHDL writes
/// numbers as one bit.
const NO_LEVELS: std::ops::RangeInclusive<u64> = 10..=16;

/// Reads the names, and what comments tell about the writer.
pub(super) fn names(
    file: &mut File,
    packing: Packing,
    part: Part,
    origin: &mut Origin,
) -> Result<Names> {
    let mut start = file.plain(part)?;
    start.skip(8)?;
    let (unpacked, taken_bytes) = (start.u64()?, start.taken());
    drop(start);
    let packed = part.behind(taken_bytes)?;
    let bytes = match packing {
        Packing::Gzip => file.gzip(packed, unpacked)?,
        _ => Reader::memory(file.unpack(packed, packing, unpacked)?, part.place, part.what),
    };
    let mut tree = Tree { bytes, names: Names::default(), handles: 0, has_levels: true };
    while let Some(kind) = tree.bytes.next()? {
        tree.entry(kind, origin)?;
    }
    if tree.bytes.taken() != unpacked {
        let found = tree.bytes.taken();
        return Err(tree.bytes.wrong(format!("has {found} bytes, {unpacked} by the file")));
    }
    Ok(tree.names)
}

struct Tree<'a> {
    bytes: Reader<'a>,
    names: Names,
    /// Signals so far.
    handles: u64,
    /// Whether the type of the next variable has levels.
    has_levels: bool,
}

impl Tree<'_> {
    fn entry(&mut self, kind: u8, origin: &mut Origin) -> Result<()> {
        match kind {
            SCOPE => {
                self.bytes.byte()?;
                let name = self.bytes.text(MOST_NAME)?;
                self.bytes.text(MOST_NAME)?;
                self.names.enter(&name).map_err(|reason| self.bytes.wrong(reason))?;
            }
            SCOPE_END => self.names.leave(),
            ATTRIBUTE => self.attribute(origin)?,
            ATTRIBUTE_END => (),
            _ if kind < KINDS => self.variable(kind)?,
            _ => return Err(self.bytes.wrong(format!("an entry of the unknown kind {kind}"))),
        }
        Ok(())
    }

    fn attribute(&mut self, origin: &mut Origin) -> Result<()> {
        let kind = (self.bytes.byte()?, self.bytes.byte()?);
        let text = self.bytes.text(MOST_NAME)?;
        let number = self.bytes.varint()?;
        match kind {
            COMMENT => origin.comment(&text.split_whitespace().collect::<Vec<_>>()),
            // The lower 10 bits are the type of its values.
            TYPE => self.has_levels = !NO_LEVELS.contains(&(number & 0x3ff)),
            _ => (),
        }
        Ok(())
    }

    fn variable(&mut self, kind: u8) -> Result<()> {
        self.bytes.byte()?;
        // A range may stand behind a blank.
        let name: String = self.bytes.text(MOST_NAME)?.split_whitespace().collect();
        let (length, alias) = (self.bytes.varint()?, self.bytes.varint()?);
        let handle = match alias {
            0 => self.handles + 1,
            alias if alias <= self.handles => alias,
            _ => return Err(self.bytes.wrong(format!("`{name}` is an alias of no signal"))),
        };
        self.handles = self.handles.max(handle);
        let has_levels = std::mem::replace(&mut self.has_levels, true);
        let width = match kind {
            _ if FLOATS.contains(&kind) || kind == TEXT => 0,
            // A port has a state and two strengths of each bit, and blanks between these.
            PORT => length.saturating_sub(2) / 3,
            _ if !has_levels && length == 1 => 0,
            _ => length,
        };
        if width > MOST_WIDTH {
            let reason = format!("a variable of {width} bits, expected at most {MOST_WIDTH}");
            return Err(self.bytes.wrong(reason));
        }
        let id = handle.to_le_bytes();
        let declared = Declared { id: &id, name: &name, width: width as u32, ends: None };
        self.names.declare(&declared).map_err(|reason| self.bytes.wrong(reason))
    }
}
