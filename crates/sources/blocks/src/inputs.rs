//! The inputs: one line for each run of the program.

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::io::BufRead;
use std::path::PathBuf;

/// One run of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The line for messages: shortened, without bytes that are not text.
    pub text: String,
    /// Arguments, of any bytes.
    pub arguments: Vec<OsString>,
    /// The file that is its standard input.
    pub stdin: Option<PathBuf>,
}

/// Most inputs.
pub const MOST_INPUTS: usize = 10_000;
/// Most bytes of all lines.
pub const MOST_BYTES: u64 = 64 << 20;

/// Reads inputs, one a line: arguments, quoted as in a shell, and `< FILE` for the standard input.
/// Empty lines and lines that begin with `#` are skipped; `--` alone is a run without arguments.
/// Nothing is read beyond the limits.
///
/// # Errors
/// A line with an unclosed quote, no line at all, more than `MOST_INPUTS` lines or `MOST_BYTES`
/// bytes, or an error of the source.
///
/// # Example
/// ```
/// let inputs = hairspring_blocks::read_inputs(&b"3 'two words' < data.bin\n--\n"[..])?;
/// assert_eq!((inputs.len(), inputs[0].arguments.len(), inputs[1].arguments.len()), (2, 2, 0));
/// # Ok::<(), hairspring_blocks::Error>(())
/// ```
pub fn read(source: impl BufRead) -> Result<Vec<Input>> {
    let mut source = source.take(MOST_BYTES + 1);
    let (mut inputs, mut line, mut number) = (Vec::new(), Vec::new(), 0);
    while source.read_until(b'\n', &mut line).map_err(|e| Error::system("read the inputs", e))? > 0
    {
        number += 1;
        if source.limit() == 0 {
            return Err(Error::BadRequest(format!(
                "the inputs are too long: {} MiB at the most, line {number} goes beyond",
                MOST_BYTES >> 20
            )));
        }
        let given_words = line.trim_ascii();
        if !given_words.is_empty() && !given_words.starts_with(b"#") {
            inputs.push(one(given_words, number)?);
        }
        if inputs.len() > MOST_INPUTS {
            return Err(Error::BadRequest(format!(
                "too many inputs: {MOST_INPUTS} at the most, line {number} goes beyond"
            )));
        }
        line.clear();
    }
    match inputs.is_empty() {
        true => Err(Error::NoLines),
        false => Ok(inputs),
    }
}

fn one(line: &[u8], number: usize) -> Result<Input> {
    let text = shortened(&String::from_utf8_lossy(line));
    let bad = |reason: &str| Error::BadRequest(format!("input line {number}: {reason}: {text}"));
    let words = shlex::bytes::split(line).ok_or_else(|| bad("a quote is not closed"))?;
    let mut input = Input { text: text.clone(), arguments: Vec::new(), stdin: None };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix(b"<") {
            Some(b"") => {
                input.stdin =
                    Some(os_string(words.next().ok_or_else(|| bad("no file behind <"))?).into())
            }
            Some(file) => input.stdin = Some(os_string(file.to_vec()).into()),
            None => input.arguments.push(os_string(word)),
        }
    }
    // This line means a run without arguments.
    if input.arguments == ["--"] {
        input.arguments.clear();
    }
    Ok(input)
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A line shortened for messages.
fn shortened(text: &str) -> String {
    const SHOWN_CHARACTERS: usize = 120;
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn error(text: &[u8]) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn lines_are_split_as_a_shell_would() {
        let inputs = read(&b"# comment\n1 'two words' < in.txt\r\n\n  3 <other\n--\n"[..]).unwrap();
        assert_eq!(inputs.len(), 3);
        assert_eq!(
            (inputs[0].arguments.clone(), inputs[0].stdin.clone()),
            (vec!["1".into(), "two words".into()], Some("in.txt".into()))
        );
        assert_eq!(
            (inputs[1].arguments.clone(), inputs[1].stdin.clone()),
            (vec!["3".into()], Some("other".into()))
        );
        assert!(inputs[2].arguments.is_empty());
    }

    #[test]
    fn errors_name_the_bad_line() {
        assert!(error(b"1\n'2").contains("input line 2: a quote is not closed"));
        assert!(error(b"1 <").contains("no file behind <"));
        assert!(error(b"# nothing\n").contains("no inputs"));
    }

    #[cfg(unix)]
    #[test]
    fn arguments_may_be_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let inputs = read(&b"1\n\xff\xfe '\x80 x'\n"[..]).unwrap();
        assert_eq!(
            (inputs[1].arguments[0].as_bytes(), inputs[1].arguments[1].as_bytes()),
            (&b"\xff\xfe"[..], &b"\x80 x"[..])
        );
        assert!(inputs[1].text.contains('\u{fffd}'));
        assert!(error(b"1\n'\xff").contains("input line 2"));
    }

    #[test]
    fn nothing_is_read_beyond_the_limits() {
        let lines = std::io::BufReader::new(Endless { line: b"7\n", at: 0 });
        assert!(
            read(lines)
                .unwrap_err()
                .to_string()
                .contains("too many inputs: 10000 at the most, line 10001")
        );
        let one_line = std::io::BufReader::with_capacity(1 << 20, Endless { line: b"\0", at: 0 });
        assert!(read(one_line).unwrap_err().to_string().contains("64 MiB at the most"));
        let comments = std::io::BufReader::with_capacity(1 << 20, Endless { line: b"#\n", at: 0 });
        assert!(read(comments).unwrap_err().to_string().contains("64 MiB at the most"));
        assert_eq!(read(&b"1\n".repeat(MOST_INPUTS)[..]).unwrap().len(), MOST_INPUTS);
    }

    /// Repeats the same bytes without end.
    struct Endless {
        line: &'static [u8],
        at: usize,
    }

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            for byte in into.iter_mut() {
                *byte = self.line[self.at];
                self.at = (self.at + 1) % self.line.len();
            }
            Ok(into.len())
        }
    }
}
