//! An executable or shared library: its functions and their bytes.

use super::handlers::landing_pads;
use super::names::{demangled, forms, is_part, last_name, of_module, similar};
use super::separate;
use crate::error::{Error, Result};
use gimli::{BaseAddresses, EhFrame, NativeEndian, UnwindSection};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ObjectSymbolTable, SymbolKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

type Entry<'data> = gimli::FrameDescriptionEntry<gimli::EndianSlice<'data, NativeEndian>>;

/// Longest function in bytes.
const LONGEST_FUNCTION: u64 = 4 << 20;

/// A symbol that names code.
#[derive(Debug, Clone)]
struct Symbol {
    name: String,
    address: u64,
    size: u64,
    resolver: bool,
}

/// An ELF file for x86-64.
#[derive(Debug)]
pub struct Image {
    /// Its path.
    pub path: PathBuf,
    data: Vec<u8>,
    symbols: Vec<Symbol>,
    /// Names of the functions whose addresses the loader writes to slots, by the slot's address.
    slots: HashMap<u64, String>,
    /// The file into which its names and lines were moved, and the one that this shares with
    /// others.
    pub separate: Option<(PathBuf, Option<PathBuf>)>,
}

/// A function in a file, by the addresses of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, demangled; for an address without a symbol the address.
    pub name: String,
    /// Its file.
    pub object: PathBuf,
    /// The entry, where calls begin.
    pub entry: u64,
    /// Its bytes: the range that holds the entry, then parts that the compiler moved elsewhere.
    pub ranges: Vec<Range<u64>>,
    /// Its landing pads, where exceptions return control.
    pub handlers: BTreeSet<u64>,
}

impl Image {
    /// Reads a file, and the one into which its names and lines were moved: beside it, or in a
    /// folder of such files.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not an ELF file for x86-64.
    pub fn open(path: &Path, folder: &Path) -> Result<Image> {
        let data = std::fs::read(path).map_err(|e| Error::Program {
            program: path.display().to_string(),
            reason: e.to_string(),
        })?;
        let mut image = Image::parse(path, data)?;
        let separate_file = image.file().ok().and_then(|file| separate::find(path, &file, folder));
        if let Some((path, data)) = separate_file {
            let shared = separate::common(&path, &data, folder);
            // A damaged file of names is as good as none.
            if let Ok(file) = object::File::parse(&*data) {
                let own_symbols = std::mem::take(&mut image.symbols);
                image.symbols =
                    sorted(own_symbols.into_iter().chain(code_symbols(&file)).collect());
                image.separate = Some((path, shared));
            }
        }
        Ok(image)
    }

    /// The image in the bytes of a file.
    ///
    /// # Errors
    /// Bytes that are not an ELF file for x86-64.
    pub fn parse(path: &Path, data: Vec<u8>) -> Result<Image> {
        let fail = |reason: String| Error::Program { program: path.display().to_string(), reason };
        let (symbols, slots) = {
            let file = object::File::parse(&*data).map_err(|_| {
                fail("not an ELF executable: give the program itself, not a script".into())
            })?;
            if file.architecture() != object::Architecture::X86_64
                || file.format() != object::BinaryFormat::Elf
            {
                return Err(fail(format!(
                    "this program is for {:?}: only ELF programs for x86-64 can be traced",
                    file.architecture()
                )));
            }
            (sorted(code_symbols(&file)), slots(&file))
        };
        Ok(Image { path: path.to_owned(), data, symbols, slots, separate: None })
    }

    /// Whether it imports a function of that name.
    pub fn calls_for(&self, name: &str) -> bool {
        self.slots.values().any(|known| known == name)
    }

    /// Address of its dynamic section; `None` in a static program.
    pub fn dynamic(&self) -> Option<u64> {
        self.file().ok()?.section_by_name(".dynamic").map(|section| section.address())
    }

    /// Name of the function whose address the loader writes to a slot.
    pub fn slot_name(&self, slot: u64) -> Option<&str> {
        self.slots.get(&slot).map(String::as_str)
    }

    fn file(&self) -> Result<object::File<'_>> {
        object::File::parse(&*self.data).map_err(|e| Error::system("read the program again", e))
    }

    /// Names and addresses of all its functions.
    pub fn functions(&self) -> Vec<(String, u64)> {
        self.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.address)).collect()
    }

    /// All its functions, by name or by the unwind table, which stripped programs have too:
    /// address, bytes and name.
    pub fn all_functions(&self) -> BTreeMap<u64, (u64, Option<String>)> {
        let unwound = self.file().map(|file| unwind_ranges(&file)).unwrap_or_default();
        let mut all_functions: BTreeMap<u64, (u64, Option<String>)> = unwound
            .into_iter()
            .map(|range| (range.start, (range.end - range.start, None)))
            .collect();
        for symbol in &self.symbols {
            let known_entry = all_functions.entry(symbol.address).or_insert((symbol.size, None));
            known_entry.1.get_or_insert_with(|| demangled(&symbol.name));
        }
        all_functions
    }

    /// Whether it names any function.
    pub fn has_symbols(&self) -> bool {
        !self.symbols.is_empty()
    }

    /// Names that resemble one.
    pub fn similar(&self, wanted_name: &str) -> Vec<String> {
        similar(wanted_name, self.symbols.iter().map(|symbol| symbol.name.as_str()))
    }

    /// Symbols of that name, else those with that name in a namespace or type. Parts that the
    /// compiler moved elsewhere are no functions.
    fn named(&self, wanted_name: &str) -> Vec<&Symbol> {
        let whole = |symbol: &&Symbol| !is_part(&symbol.name) || symbol.name == wanted_name;
        let all_symbols = || self.symbols.iter().filter(whole);
        let symbols: Vec<&Symbol> = all_symbols()
            .filter(|symbol| forms(&symbol.name).iter().any(|form| form == wanted_name))
            .collect();
        if !symbols.is_empty() {
            return symbols;
        }
        let symbols: Vec<&Symbol> = all_symbols()
            .filter(|symbol| forms(&symbol.name).iter().any(|form| last_name(form) == wanted_name))
            .collect();
        if !symbols.is_empty() {
            return symbols;
        }
        // Fortran does not tell capital letters from small ones.
        let wanted_name = wanted_name.to_ascii_lowercase();
        let is_named = |symbol: &&Symbol| {
            of_module(&symbol.name)
                .is_some_and(|name| name == wanted_name || last_name(&name) == wanted_name)
        };
        all_symbols().filter(is_named).collect()
    }

    /// The function of that name; `None` if there is none.
    ///
    /// # Errors
    /// Several functions of that name, one that is chosen when the program starts, or one without
    /// bytes.
    pub fn find(&self, wanted_name: &str) -> Result<Option<Function>> {
        let found_symbols = self.named(wanted_name);
        let Some(first) = found_symbols.first() else { return Ok(None) };
        if found_symbols.iter().any(|symbol| symbol.address != first.address) {
            let list: Vec<String> = found_symbols
                .iter()
                .map(|symbol| format!("{} at {:#x}", demangled(&symbol.name), symbol.address))
                .collect();
            let file = self.path.file_name().unwrap_or_default().to_string_lossy();
            return Err(Error::Function(format!(
                "several functions are named `{wanted_name}`: {}; give the address, as \
                 `{file}:{:#x}`",
                list.join(", "),
                first.address
            )));
        }
        if first.resolver {
            let file = self.path.file_name().unwrap_or_default().to_string_lossy();
            return Err(Error::Function(format!(
                "`{wanted_name}` only chooses one of several functions when the program starts (an \
                 indirect function); name the one that is chosen, or its address, as \
                 `{file}:0x1149`"
            )));
        }
        self.function(first.address, Some(first)).map(Some)
    }

    /// The function that begins at an address of the file, for programs without symbols.
    ///
    /// # Errors
    /// An address outside of the code.
    pub fn at(&self, address: u64) -> Result<Function> {
        let named = self.symbols.iter().find(|symbol| symbol.address == address);
        self.function(address, named)
    }

    fn function(&self, entry: u64, symbol: Option<&Symbol>) -> Result<Function> {
        let end = match symbol.map_or(0, |symbol| symbol.size) {
            0 => self.end_of(entry)?,
            size => entry.saturating_add(size.min(LONGEST_FUNCTION)),
        };
        let name = symbol.map_or_else(|| format!("{entry:#x}"), |symbol| demangled(&symbol.name));
        let mut ranges: Vec<Range<u64>> = std::iter::once(entry..end).collect();
        if let Some(symbol) = symbol {
            let cold = format!("{}.cold", symbol.name);
            let parts = self.symbols.iter().filter(|part| {
                part.size > 0 && (part.name == cold || part.name.starts_with(&(cold.clone() + ".")))
            });
            ranges.extend(parts.map(|part| part.address..part.address.saturating_add(part.size)));
        }
        let handlers = ranges
            .iter()
            .flat_map(|range| self.handlers(range.start).unwrap_or_default())
            .collect();
        Ok(Function { name, object: self.path.clone(), entry, ranges, handlers })
    }

    /// Landing pads of the code that begins at an address.
    fn handlers(&self, start: u64) -> Option<BTreeSet<u64>> {
        let file = self.file().ok()?;
        let (function, table) = described(&file, start, |entry| match entry.lsda() {
            Some(gimli::Pointer::Direct(table)) => Some((entry.initial_address(), table)),
            _ => None,
        })?;
        let rest = file.segments().find_map(|segment| {
            let from = usize::try_from(table.checked_sub(segment.address())?).ok()?;
            segment.data().ok()?.get(from..)
        });
        Some(landing_pads(rest?, table, function))
    }

    /// Where the code that begins at an address ends: by the unwind table, which stripped programs
    /// have too, else by the next symbol or the end of the section.
    fn end_of(&self, entry: u64) -> Result<u64> {
        let file = self.file()?;
        let outside =
            || Error::Function(format!("{}: there is no code at {entry:#x}", self.path.display()));
        let within = |section: &object::Section<'_, '_>| {
            (section.address()..section_end(section)).contains(&entry)
        };
        let section = file
            .sections()
            .find(|section| section.kind() == object::SectionKind::Text && within(section))
            .ok_or_else(outside)?;
        if let Some(range) = unwind_range(&file, entry) {
            if range.start != entry {
                return Err(Error::Function(format!(
                    "{entry:#x} lies inside a function that begins at {:#x}: give that address",
                    range.start
                )));
            }
            return Ok(range.end);
        }
        let next =
            self.symbols.iter().map(|symbol| symbol.address).find(|address| *address > entry);
        let end = section_end(&section);
        Ok(next.map_or(end, |next| next.min(end)).min(entry.saturating_add(LONGEST_FUNCTION)))
    }

    /// Bytes of the file that are loaded to a range of addresses.
    ///
    /// # Errors
    /// Addresses that the file does not load.
    pub fn bytes(&self, range: &Range<u64>) -> Result<Vec<u8>> {
        let file = self.file()?;
        let found_bytes = file.segments().find_map(|segment| {
            let data = segment.data().ok()?;
            let from = range.start.checked_sub(segment.address())? as usize;
            let length = range.end.checked_sub(range.start)? as usize;
            data.get(from..from.checked_add(length)?).map(<[u8]>::to_vec)
        });
        found_bytes.ok_or_else(|| {
            Error::Function(format!(
                "{}: no bytes at {:#x}..{:#x}",
                self.path.display(),
                range.start,
                range.end
            ))
        })
    }

    /// File offset, size and address of each part that is loaded as code, to compute addresses from
    /// a mapping's offset.
    pub fn loads(&self) -> Result<Vec<(u64, u64, u64)>> {
        let is_code = |segment: &object::Segment<'_, '_>| match segment.flags() {
            object::SegmentFlags::Elf { p_flags } => p_flags & object::elf::PF_X != 0,
            _ => true,
        };
        let file = self.file()?;
        let code = file.segments().filter(is_code);
        Ok(code
            .map(|segment| (segment.file_range().0, segment.file_range().1, segment.address()))
            .collect())
    }

    /// Name of the function that contains an address.
    pub fn name_of(&self, address: u64) -> Option<String> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        (address - symbol.address < symbol.size.max(1)).then(|| demangled(&symbol.name))
    }
}

fn code_symbols(file: &object::File<'_>) -> Vec<Symbol> {
    file.symbols().chain(file.dynamic_symbols()).filter_map(|symbol| code_symbol(&symbol)).collect()
}

fn sorted(mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    symbols.dedup_by(|a, b| a.address == b.address && a.name == b.name);
    symbols
}

/// Names by the slots that relocations fill with the address of a symbol of another file.
fn slots(file: &object::File<'_>) -> HashMap<u64, String> {
    let (Some(relocations), Some(symbols)) =
        (file.dynamic_relocations(), file.dynamic_symbol_table())
    else {
        return HashMap::new();
    };
    let named = relocations.filter_map(|(slot, relocation)| {
        let object::RelocationTarget::Symbol(index) = relocation.target() else { return None };
        let symbol = symbols.symbol_by_index(index).ok()?;
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        Some((slot, demangled(name)))
    });
    named.collect()
}

fn code_symbol<'data>(symbol: &impl ObjectSymbol<'data>) -> Option<Symbol> {
    // The library has no kind for STT_GNU_IFUNC.
    let resolver =
        matches!(symbol.flags(), object::SymbolFlags::Elf { st_info, .. } if st_info & 15 == 10);
    let is_wanted = (symbol.kind() == SymbolKind::Text || resolver) && symbol.is_definition()
        || resolver && symbol.address() != 0;
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    (is_wanted && symbol.address() != 0).then(|| Symbol {
        name: name.to_owned(),
        address: symbol.address(),
        size: symbol.size(),
        resolver,
    })
}

/// Where a section ends; a damaged file may put that beyond the last address.
fn section_end(section: &object::Section<'_, '_>) -> u64 {
    section.address().saturating_add(section.size())
}

/// The range of code that the unwind table has around an address.
fn unwind_range(file: &object::File<'_>, address: u64) -> Option<Range<u64>> {
    described(file, address, |entry| {
        Some(entry.initial_address()..entry.initial_address().saturating_add(entry.len()))
    })
}

/// The ranges of code in the unwind table.
fn unwind_ranges(file: &object::File<'_>) -> Vec<Range<u64>> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(data) = section.uncompressed_data() else { return Vec::new() };
    let frames = EhFrame::new(&data, NativeEndian);
    let bases = bases(file, &section);
    let (mut entries, mut found_ranges) = (frames.entries(&bases), Vec::new());
    // Entries before the damage of a table are valid.
    while let Ok(Some(entry)) = entries.next() {
        if let gimli::CieOrFde::Fde(partial) = entry {
            if let Ok(entry) = partial.parse(EhFrame::cie_from_offset) {
                found_ranges.push(
                    entry.initial_address()..entry.initial_address().saturating_add(entry.len()),
                );
            }
        }
    }
    found_ranges
}

fn bases(file: &object::File<'_>, frames: &object::Section<'_, '_>) -> BaseAddresses {
    let bases = BaseAddresses::default().set_eh_frame(frames.address());
    file.section_by_name(".text").map_or(bases.clone(), |text| bases.set_text(text.address()))
}

/// A property of the unwind table's entry for an address.
fn described<T>(
    file: &object::File<'_>,
    address: u64,
    property: impl Fn(&Entry<'_>) -> Option<T>,
) -> Option<T> {
    let section = file.section_by_name(".eh_frame")?;
    let data = section.uncompressed_data().ok()?;
    let frames = EhFrame::new(&data, NativeEndian);
    let bases = bases(file, &section);
    property(&frames.fde_for_address(&bases, address, EhFrame::cie_from_offset).ok()?)
}
