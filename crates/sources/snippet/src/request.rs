//! A request to time code.

use crate::declaration::Declaration;
use crate::error::{Error, Result, io};
use crate::text::{assigns, is_empty, returns};
use hairspring_measure::Seating;
use hairspring_measure::limits::DEFAULT_PRECISION;
use std::path::PathBuf;
use std::time::Duration;

/// Language of the code under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// C, as the compiler's default dialect.
    #[default]
    C,
    /// C++.
    Cpp,
    /// Assembly in the compiler's inline form: AT&T, or Intel where no register carries a `%`.
    Asm,
}

/// Code to be timed with all settings of the measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The alternatives; the others are compared with the first.
    pub codes: Vec<String>,
    /// Their places among the codes of a longer list, of which these are a part: names of series
    /// tell the places. Empty if this is the whole list.
    pub places: Vec<usize>,
    /// Variables that are opaque to the compiler before every copy.
    pub lets: Vec<Declaration>,
    /// Runs before every evaluation, as a separate component.
    pub init: Option<String>,
    /// Runs once.
    pub setup: Option<String>,
    /// Data flushed from the caches before every evaluation: `name` or `pointer:bytes`.
    pub cold: Vec<String>,
    /// Whether every evaluation is fenced: it starts after all earlier instructions are done, and
    /// later ones start after it is done. The fences are part of the init.
    pub fence: bool,
    /// Language of all code.
    pub language: Language,
    /// Files with functions that the code may call.
    pub files: Vec<PathBuf>,
    /// Headers to include, such as `<math.h>` or `my.h`.
    pub includes: Vec<String>,
    /// Compiler to use.
    pub compiler: Option<String>,
    /// Flags for the compiler, shell-quoted.
    pub flags: String,
    /// Flags for the linker, shell-quoted.
    pub link: String,
    /// Whether the process has started a thread before, which ends the faster ways of libraries for
    /// processes with one thread.
    pub multithreaded: bool,
    /// Whether scalars are left in memory between copies: code that takes references to them would
    /// load and store each in every copy.
    pub in_memory: bool,
    /// Pointers that are walked: their values go on from row to row. [`crate::measure`] finds them.
    pub walks: Vec<String>,
    /// Clock by name.
    pub clock: Option<String>,
    /// CPU to run on.
    pub cpu: Option<usize>,
    /// Whether the timed thread is bound to a CPU.
    pub seating: Seating,
    /// Time for the whole measurement, compilation included; at least 100 ms of it are measuring.
    pub budget: Duration,
    /// Whether the budget is kept even while something else uses the core.
    pub is_firm: bool,
    /// Half-width of the interval at which the rounds end, as a share of the value.
    pub precision: f64,
    /// Confidence level.
    pub level: f64,
    /// Time without a reply after which the code counts as hanging.
    pub timeout: Duration,
    /// Whether to run the rows of the methods beside the line fit too.
    pub all_methods: bool,
    /// Whether what was compiled is kept in the user's cache folder, and taken from there.
    pub is_cached: bool,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            codes: Vec::new(),
            places: Vec::new(),
            lets: Vec::new(),
            init: None,
            setup: None,
            cold: Vec::new(),
            fence: false,
            language: Language::C,
            files: Vec::new(),
            includes: Vec::new(),
            compiler: None,
            flags: "-O2".into(),
            link: String::new(),
            multithreaded: false,
            in_memory: false,
            walks: Vec::new(),
            clock: None,
            cpu: None,
            seating: Seating::Pinned,
            budget: Duration::from_millis(800),
            is_firm: false,
            precision: DEFAULT_PRECISION,
            level: 0.95,
            timeout: Duration::from_secs(10),
            all_methods: false,
            is_cached: true,
        }
    }
}

/// Alternatives that one request may hold.
pub const MOST_CODES: usize = 16;
/// Longest piece of code, in bytes.
pub const MOST_CODE_BYTES: usize = 256 * 1024;

impl Request {
    /// The integers that an alternative changes by their names, as far as its text shows, and that
    /// only the start of a row sets.
    pub fn changed_integers(&self, at: usize) -> Vec<String> {
        let is_shown = self.language != Language::Asm && self.init.is_none();
        let is_changed =
            |one: &&Declaration| one.is_integer() && assigns(&self.codes[at], &one.name);
        self.lets
            .iter()
            .filter(|_| is_shown)
            .filter(is_changed)
            .map(|one| one.name.clone())
            .collect()
    }

    /// Checks the request as far as possible without a compiler.
    ///
    /// # Errors
    /// [`Error::BadRequest`] with the option and what is expected.
    pub fn check(&self) -> Result<()> {
        if self.codes.is_empty() || self.codes.len() > MOST_CODES {
            return Err(bad(
                "CODE",
                format!("{} alternatives given, 1 to {MOST_CODES} are allowed", self.codes.len()),
            ));
        }
        for (option, text) in self.texts() {
            if text.len() > MOST_CODE_BYTES {
                return Err(bad(
                    option,
                    format!(
                        "is {} bytes long, the limit is {MOST_CODE_BYTES}: put it in a file \
                         (--file)",
                        text.len()
                    ),
                ));
            }
            if text.contains('\0') {
                return Err(bad(option, "contains a NUL character".into()));
            }
        }
        let empty = |code: &String| {
            code.trim().is_empty() || self.language != Language::Asm && is_empty(code)
        };
        if let Some(empty) = self.codes.iter().position(empty) {
            return Err(bad(
                option_of(empty),
                format!(
                    "alternative {} is empty: give an expression, an assignment or statements",
                    empty + 1
                ),
            ));
        }
        let runs = self.named_codes().chain(self.init.iter().map(|init| ("--init", init)));
        if let Some((option, _)) =
            runs.filter(|_| self.language != Language::Asm).find(|(_, code)| returns(code))
        {
            return Err(bad(
                option,
                "`return` would leave the measurement: give code that runs to its end".into(),
            ));
        }
        if let Some(missing) = self.files.iter().find(|file| !file.is_file()) {
            return Err(io(format!("--file {}", missing.display()))(std::io::Error::other(
                "is not a file",
            )));
        }
        self.cpu.map_or(Ok(()), hairspring_host::thread::check_cpu)?;
        if self.language == Language::Asm && !self.cold.is_empty() {
            return Err(bad(
                "--cold",
                "works with --lang c and c++; in assembly put the flush in --init".into(),
            ));
        }
        if !self.cold.is_empty() {
            hairspring_host::fence::can_flush().map_err(|reason| bad("--cold", reason))?;
        }
        Ok(())
    }

    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let codes = self.named_codes().map(|(what, code)| (what, code.as_str()));
        let parts = [("--init", &self.init), ("--setup", &self.setup)];
        let lets = self.lets.iter().map(|declaration| ("--let", declaration.text.as_str()));
        codes
            .chain(
                parts
                    .into_iter()
                    .filter_map(|(what, part)| part.as_deref().map(|text| (what, text))),
            )
            .chain(lets)
    }

    fn named_codes(&self) -> impl Iterator<Item = (&'static str, &String)> {
        self.codes.iter().enumerate().map(|(at, code)| (option_of(at), code))
    }

    /// Names of the components in the order of the counts of a row.
    pub fn components(&self) -> Vec<String> {
        let mut names = vec!["body".to_owned()];
        names.extend(self.init.as_ref().map(|init| self.name_of(init).to_owned()));
        names.extend((!self.cold.is_empty()).then(|| "flush".to_owned()));
        names
    }

    /// Name of the component before an evaluation: fences surround the init and count with it, or
    /// run alone without one.
    fn name_of(&self, init: &str) -> &'static str {
        match (self.fence || !self.cold.is_empty(), init.is_empty()) {
            (true, true) => "fence",
            (true, false) => "init+fence",
            (false, _) => "init",
        }
    }
}

/// The option that gave an alternative.
fn option_of(alternative: usize) -> &'static str {
    if alternative == 0 { "CODE" } else { "--vs" }
}

/// Splits the text of an option into arguments as a shell does: at blanks, with quotes and
/// backslashes. Variables and patterns are not expanded.
///
/// # Errors
/// [`Error::BadRequest`] with the option's name if a quote is open or a backslash is the last
/// character.
pub fn shell_words(option: &str, text: &str) -> Result<Vec<String>> {
    shlex::split(text).ok_or_else(|| {
        bad(option, format!("`{text}` has an open quote, or a backslash at its end"))
    })
}

pub(crate) fn bad(option: &str, reason: String) -> Error {
    Error::BadRequest { what: option.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_split_as_a_shell_splits_them() {
        let split = |text| shell_words("--cflags", text).unwrap();
        assert_eq!(split(" -O2\t -DA='1 + 2'\n"), ["-O2", "-DA=1 + 2"]);
        assert_eq!(
            split("-DNAME='\"a b\"' -Ia\\ b \"\" $HOME *"),
            ["-DNAME=\"a b\"", "-Ia b", "", "$HOME", "*"]
        );
        assert_eq!(split(""), [""; 0]);
    }

    #[test]
    fn unclosed_quotes_are_an_error_of_the_option() {
        for text in ["'", "-O2 \"-DA", "-DA=\\"] {
            let error = shell_words("--cflags", text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--cflags: `{text}` has an open quote")), "{error}");
        }
    }
}
