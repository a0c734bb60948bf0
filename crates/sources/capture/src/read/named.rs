//! Files of other programs that are not read: what they are, and which export of their program is.

/// The beginnings of files, what they are, and the way out.
const NAMED: [(&[u8], &str, &str); 16] = [
    (
        b"22 serialization::archive",
        "a capture of Saleae Logic 1 (.logicdata)",
        "export it as CSV or VCD by Options > Export data",
    ),
    (
        b"GHDLwave\n",
        "a GHW dump",
        "convert it to VCD by `ghw2vcd FILE`, or run the simulation with `--vcd=FILE`",
    ),
    (b"LLWFM", "a waveform of an old Tektronix oscilloscope", "save it as CSV or as .isf"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (.h5)", EXPORT_CSV),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file (.mat)", EXPORT_CSV),
    (b"\x93NUMPY", "a NumPy array (.npy)", "write it as CSV, with a column of times"),
    (b"TDSm", "a TDMS file of LabVIEW", EXPORT_CSV),
    (b"jlsfmt\r\n", "a recording of Joulescope (.jls)", "export it as CSV by `pyjls export`"),
    (b"SQLite format 3\0", "an SQLite database", EXPORT_CSV),
    (b"%PDF", "a PDF document", EXPORT_CSV),
    (b"\x89PNG", "a picture", "save the waveform itself as CSV or in binary"),
    (b"BZh", "a file compressed by bzip2", DECOMPRESS),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", DECOMPRESS),
    (b"Rar!\x1a\x07", "a RAR archive", DECOMPRESS),
    (b"\x04\x22\x4d\x18", "a file compressed by LZ4", DECOMPRESS),
    (b"\x1f\x9d", "a file compressed by compress (.Z)", DECOMPRESS),
];
const EXPORT_CSV: &str = "export the waveform as CSV";
const DECOMPRESS: &str = "decompress it; gzip, xz and Zstandard are read as they are";

/// What a file is and the way out, if it is one of these.
pub(super) fn message(head: &[u8]) -> Option<String> {
    let begins = |(begin, _, _): &&(&[u8], &str, &str)| head.starts_with(begin);
    let told =
        |format_name: &str, way: &str| format!("this is {format_name}, which is not read: {way}");
    let by_text = || {
        let text = String::from_utf8_lossy(head);
        if text.starts_with("<?xml") && text.contains("<Database") {
            let what = "the description of a Rohde & Schwarz waveform";
            return Some(told(what, "its samples are in a file of their own; export as CSV"));
        }
        let is_yokogawa = text.contains("$PublicInfo");
        is_yokogawa.then(|| told("the header of a Yokogawa waveform (.hdr)", EXPORT_CSV))
    };
    // Its blocks are compressed by zlib.
    if let ([2, 0, 0, 0, ..], Some([0x78, 0x9c])) = (head, head.get(36..38)) {
        let what = "a waveform of Rigol DHO (.wfm)";
        return Some(told(what, "save it as .bin, which is read, or as CSV"));
    }
    NAMED.iter().find(begins).map(|(_, what, way)| told(what, way)).or_else(by_text)
}
