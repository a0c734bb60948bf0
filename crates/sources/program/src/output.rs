//! Writes to the terminal, a file or a pipe that may be closed.

use hairspring_view::Style;
use std::io::{IsTerminal, Write};

/// The style of text for standard output and its environment.
pub fn style() -> Style {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let terminal = std::io::stdout().is_terminal();
    let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let ascii = !utf8.is_some_and(|name| name.to_lowercase().replace('-', "").contains("utf8"));
    let width = hairspring_host::terminal::width(&std::io::stdout());
    Style { color: terminal && !plain, ascii, width: width.unwrap_or(Style::default().width) }
}

/// Writes to standard output. A closed pipe (`| head`) is not an error.
///
/// # Errors
/// The system's error, for instance a full disk.
pub fn print(text: &str) -> Result<(), String> {
    print_while_read(text).map(|_| ())
}

/// Writes to standard output; returns whether there is still a reader.
///
/// # Errors
/// The system's error, for instance a full disk.
pub fn print_while_read(text: &str) -> Result<bool, String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true).map_err(|error| format!("writing the result: {error}")),
    }
}

/// Shows what is running, only on a terminal; the next line overwrites it, and an empty text
/// removes it.
pub fn status_line(text: &str) {
    const WIDTH: usize = 78;
    let mut out = std::io::stderr().lock();
    if out.is_terminal() {
        let text: String = text.chars().filter(|c| !c.is_control()).take(WIDTH).collect();
        // Blanks erase what was there, also where no escape sequences are wanted.
        let _ = write!(out, "\r{text:<WIDTH$}\r").and_then(|()| out.flush());
    }
}

/// Writes an error to standard error, if that is open. Code, file names and compilers may put any
/// character into it: control characters are shown as `?`.
pub fn complain(error: &str) {
    let _ = writeln!(std::io::stderr(), "hairspring: {}", harmless(error));
}

/// Text without control characters.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '?' } else { c }).collect()
}
