//! The compiled library for the follower: bytes at addresses, names, and the notes that mark the
//! copies.

use crate::error::{Error, Result, io};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use std::collections::BTreeMap;
use std::path::Path;

/// The section that holds the notes; it is not loaded with the code.
const NOTES: &str = ".hairspring";

/// A note that the generated source left at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The address.
    pub address: u64,
    /// Its number, as made by [`crate::source::NoteId`].
    pub number: u64,
    /// The operand as the compiler prints it; empty where there is none.
    pub operand: String,
}

/// Bytes of a section at the address where they are loaded.
#[derive(Debug)]
struct Section {
    address: u64,
    bytes: Vec<u8>,
    code: bool,
    constant: bool,
}

/// A compiled library.
#[derive(Debug, Default)]
pub struct Image {
    sections: Vec<Section>,
    /// Start, end and name of everything that has a name.
    symbols: Vec<(u64, u64, String)>,
    /// Names of functions of other libraries, by the slot that holds their address.
    imports: BTreeMap<u64, String>,
    /// The notes in source order.
    pub notes: Vec<Note>,
}

impl Image {
    /// Reads a library.
    ///
    /// # Errors
    /// If the file cannot be read or is no object file.
    pub fn read(path: &Path) -> Result<Image> {
        let data = std::fs::read(path).map_err(io("reading the compiled rows"))?;
        let file = object::File::parse(&*data)
            .map_err(|e| Error::Child(format!("the compiled rows cannot be read: {e}")))?;
        let mut image = Image {
            notes: file
                .section_by_name(NOTES)
                .map_or_else(Vec::new, |s| notes(s.data().unwrap_or_default())),
            ..Image::default()
        };
        image.sections = file.sections().filter_map(section).collect();
        for symbol in file.symbols().filter(|symbol| symbol.is_definition() && symbol.address() > 0)
        {
            let name = symbol.name().unwrap_or_default();
            if !name.is_empty() && !name.starts_with('$') {
                image.symbols.push((
                    symbol.address(),
                    symbol.address() + symbol.size(),
                    name.to_owned(),
                ));
            }
        }
        image.symbols.sort();
        let names: BTreeMap<usize, String> = file
            .dynamic_symbols()
            .map(|symbol| (symbol.index().0, symbol.name().unwrap_or_default().to_owned()))
            .collect();
        for (slot, relocation) in file.dynamic_relocations().into_iter().flatten() {
            if let RelocationTarget::Symbol(index) = relocation.target() {
                image.imports.insert(slot, names.get(&index.0).cloned().unwrap_or_default());
            }
        }
        Ok(image)
    }

    /// An image of bare code, for tests.
    #[cfg(test)]
    pub fn of_code(address: u64, bytes: &[u8], notes: Vec<Note>) -> Image {
        Image {
            sections: vec![Section { address, bytes: bytes.to_vec(), code: true, constant: true }],
            symbols: vec![(address, address + bytes.len() as u64, "row".to_owned())],
            notes,
            ..Image::default()
        }
    }

    /// The code from an address on; empty where there is none.
    pub fn code(&self, address: u64) -> &[u8] {
        let holds = |section: &&Section| {
            section.code
                && address
                    .checked_sub(section.address)
                    .is_some_and(|at| at < section.bytes.len() as u64)
        };
        self.sections
            .iter()
            .find(holds)
            .map_or(&[], |section| &section.bytes[(address - section.address) as usize..])
    }

    /// Whether nothing writes to an address.
    pub fn is_constant(&self, address: u64) -> bool {
        let holds = |section: &&Section| {
            section.constant
                && (section.address..section.address + section.bytes.len() as u64)
                    .contains(&address)
        };
        self.sections.iter().any(|section| holds(&section))
    }

    /// The symbol that contains an address.
    pub fn symbol(&self, address: u64) -> Option<&(u64, u64, String)> {
        let before = self.symbols.partition_point(|(start, _, _)| *start <= address);
        self.symbols[..before]
            .iter()
            .rev()
            .take(16)
            .find(|(start, end, _)| address < *end || address == *start)
    }

    /// Start and end of everything with a name and a size.
    pub fn objects(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.symbols
            .iter()
            .filter(|(start, end, _)| end > start)
            .map(|(start, end, _)| (*start, *end))
    }

    /// Names by their addresses; the rows themselves are the instrument's.
    pub fn names(&self) -> BTreeMap<u64, String> {
        let imports = self.imports.iter().map(|(slot, name)| (*slot, name.clone()));
        let own_names = self
            .symbols
            .iter()
            .filter(|(_, _, name)| !name.starts_with("hs_"))
            .map(|(start, _, name)| (*start, name.clone()));
        imports.chain(own_names).collect()
    }

    /// The function of another library whose address a slot holds.
    pub fn import(&self, slot: u64) -> Option<&str> {
        self.imports.get(&slot).map(String::as_str)
    }
}

fn section(section: object::Section<'_, '_>) -> Option<Section> {
    let code = section.kind() == SectionKind::Text;
    let name = section.name().unwrap_or_default();
    // The linker's tables are written before the code runs.
    let constant = code
        || section.kind() == SectionKind::ReadOnlyData
        || section.kind() == SectionKind::ReadOnlyString
        || name.starts_with(".got")
        || name.starts_with(".data.rel.ro");
    let bytes = section.data().ok()?;
    (section.address() > 0 && !bytes.is_empty()).then(|| Section {
        address: section.address(),
        bytes: bytes.to_vec(),
        code,
        constant,
    })
}

/// Notes are an address, a number, a space, the operand, and a NUL.
fn notes(mut data: &[u8]) -> Vec<Note> {
    let mut ranges = Vec::new();
    while let Some((address, rest)) = data.split_first_chunk::<8>() {
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        let text = String::from_utf8_lossy(&rest[..end]);
        let (number, operand) = text.split_once(' ').unwrap_or((&text, ""));
        if let Ok(number) = number.parse() {
            ranges.push(Note {
                address: u64::from_le_bytes(*address),
                number,
                operand: operand.trim().to_owned(),
            });
        }
        data = rest.get(end + 1..).unwrap_or_default();
    }
    ranges
}
