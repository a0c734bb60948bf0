//! The inputs: one line for each run of the program.

use crate::error::{Error, Result};
use std::path::PathBuf;

/// One run of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The line as it was given.
    pub text: String,
    /// Arguments.
    pub arguments: Vec<String>,
    /// The file that is its standard input.
    pub stdin: Option<PathBuf>,
}

/// Most inputs.
pub const MOST_INPUTS: usize = 10_000;

/// Reads inputs, one a line: arguments, quoted as in a shell, and `< FILE` for the standard input. Empty lines and lines that
/// begin with `#` are left out; `--` alone is a run without arguments.
///
/// # Errors
/// A line whose quotes do not match, or no line at all.
pub fn parse(text: &str) -> Result<Vec<Input>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let inputs: Vec<Input> = lines.map(|(at, line)| one(line.trim(), at + 1)).collect::<Result<_>>()?;
    match inputs.len() {
        0 => Err(Error::BadRequest("there are no inputs: give one line of arguments for each run of the program (`--` for none)".into())),
        1..=MOST_INPUTS => Ok(inputs),
        many => Err(Error::BadRequest(format!("{many} inputs are too many: {MOST_INPUTS} at the most"))),
    }
}

fn one(line: &str, number: usize) -> Result<Input> {
    let bad = |reason: &str| Error::BadRequest(format!("input line {number}: {reason}: {line}"));
    let words = shlex::split(line).ok_or_else(|| bad("a quote is not closed"))?;
    let mut input = Input { text: line.to_owned(), arguments: Vec::new(), stdin: None };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('<') {
            Some("") => input.stdin = Some(words.next().ok_or_else(|| bad("no file behind <"))?.into()),
            Some(file) => input.stdin = Some(file.into()),
            None => input.arguments.push(word),
        }
    }
    // A line of its own for a run without arguments.
    if input.arguments == ["--"] {
        input.arguments.clear();
    }
    Ok(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_would() {
        let all = parse("# comment\n1 'two words' < in.txt\n\n  3 <other\n--\n").unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].arguments.clone(), all[0].stdin.clone()), (vec!["1".into(), "two words".into()], Some("in.txt".into())));
        assert_eq!((all[1].arguments.clone(), all[1].stdin.clone()), (vec!["3".into()], Some("other".into())));
        assert!(all[2].arguments.is_empty());
    }

    #[test]
    fn bad_lines_say_which() {
        assert!(parse("1\n'2").unwrap_err().to_string().contains("input line 2: a quote is not closed"));
        assert!(parse("1 <").unwrap_err().to_string().contains("no file behind <"));
        assert!(parse("# nothing\n").unwrap_err().to_string().contains("no inputs"));
    }
}
