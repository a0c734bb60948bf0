//! Landing pads of a function, where exceptions return control, from the tables that the unwinder
//! reads.

use gimli::{EndianSlice, NativeEndian, Reader};
use std::collections::BTreeSet;

type Slice<'data> = EndianSlice<'data, NativeEndian>;

/// Encodings of pointers (Linux Standard Base, Core Generic, 10.5.1): absent, variable length, and
/// four bytes.
const OMITTED_POINTER: u8 = 0xff;
const VARIABLE: u8 = 0x01;
const FOUR_BYTES: u8 = 0x03;
const FOUR_BYTES_SIGNED: u8 = 0x0b;
const FROM_HERE: u8 = 0x10;

/// The landing pads in the language-specific data of a function (Itanium C++ ABI, exception
/// handling tables): the bytes from the table's address on, that address, and where the function
/// begins. An unknown table has none.
pub fn landing_pads(table: &[u8], address: u64, function: u64) -> BTreeSet<u64> {
    let mut found_pads = BTreeSet::new();
    // Entries read before the damage of a table are valid.
    let _ = read(
        &mut EndianSlice::new(table, NativeEndian),
        table.len(),
        address,
        function,
        &mut found_pads,
    );
    found_pads
}

fn read(
    table: &mut Slice<'_>,
    length: usize,
    address: u64,
    function: u64,
    handlers: &mut BTreeSet<u64>,
) -> gimli::Result<()> {
    let here = |table: &Slice<'_>| address.wrapping_add((length - table.len()) as u64);
    let base = match table.read_u8()? {
        OMITTED_POINTER => function,
        encoding => {
            let at = if encoding & 0x70 == FROM_HERE { here(table) } else { 0 };
            at.wrapping_add(number(table, encoding)?)
        }
    };
    if table.read_u8()? != OMITTED_POINTER {
        table.read_uleb128()?;
    }
    let encoding = table.read_u8()?;
    let size = table.read_uleb128()? as usize;
    let mut sites = table.split(size)?;
    while !sites.is_empty() {
        let [_start, _length, pad] = [
            number(&mut sites, encoding)?,
            number(&mut sites, encoding)?,
            number(&mut sites, encoding)?,
        ];
        sites.read_uleb128()?;
        if pad != 0 {
            handlers.insert(base.wrapping_add(pad));
        }
    }
    Ok(())
}

fn number(table: &mut Slice<'_>, encoding: u8) -> gimli::Result<u64> {
    match encoding & 0x0f {
        VARIABLE => table.read_uleb128(),
        FOUR_BYTES => Ok(u64::from(table.read_u32()?)),
        FOUR_BYTES_SIGNED => Ok(i64::from(table.read_i32()?) as u64),
        _ => table.read_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landing_pads_are_read_from_whole_and_damaged_tables() {
        // No base, no types, sites of variable length: two sites, one of them with a pad at 0x85.
        let table = [0xff, 0xff, 0x01, 9, 0x10, 0x05, 0, 0, 0x20, 0x05, 0x85, 0x01, 1];
        assert_eq!(landing_pads(&table, 0x5000, 0x1000), BTreeSet::from([0x1085]));
        // Four bytes each, relative to the position of the base.
        let four =
            [0x1b, 0xff, 0xef, 0xff, 0xff, 0xff, 0x03, 13, 0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 0];
        let shifted: Vec<u8> =
            [&four[..1], &[0xff, 0xef, 0xff, 0xff], &four[1..2], &four[6..]].concat();
        assert_eq!(landing_pads(&shifted, 0x5000, 0), BTreeSet::from([0x4008]));
        (0..table.len()).for_each(|length| drop(landing_pads(&table[..length], 0x5000, 0x1000)));
        assert!(landing_pads(&[], 0, 0).is_empty());
    }
}
