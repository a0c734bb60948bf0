//! A compiler's messages, reduced to those about the user's own lines.

use std::path::Path;

/// Maximum number of lines shown, and of columns of each.
const MOST_LINES: usize = 40;
const MOST_COLUMNS: usize = 200;

/// Files that the instrument writes; all others are the user's.
const GENERATED_FILES: [&str; 7] =
    ["pilot.c", "few.c", "rows.c", "rows1.c", "rows2.c", "plain.c", "checked.c"];

/// Drops lines about generated functions, temporary folders, and repeated lines.
pub fn tidy(messages: &str, folder: &Path) -> String {
    let folder = format!("{}/", folder.display());
    let mut lines: Vec<String> = Vec::new();
    // A source excerpt belongs to the message before it.
    let mut shows_source = true;
    for line in messages.lines().map(|line| line.replace(&folder, "")) {
        if !is_message(&line) {
            lines.extend(shows_source.then_some(line));
            continue;
        }
        let own_message = message(&line).filter(|text| !lines.contains(text));
        shows_source = own_message.as_ref() == Some(&line);
        lines.extend(own_message);
    }
    if lines.is_empty() {
        lines = messages.lines().map(str::to_owned).collect();
    }
    shortened(lines)
}

/// Whether a line is a message rather than a source excerpt.
fn is_message(line: &str) -> bool {
    const WORDS: [&str; 7] =
        ["error", "Error", "warning:", "note:", "undefined", "compilation", "cc1"];
    !line.starts_with(' ') && (line.ends_with(':') || WORDS.iter().any(|word| line.contains(word)))
}

/// The part of a line that concerns the user: all of it, some of it, or none.
fn message(line: &str) -> Option<String> {
    const NOISE: [&str; 10] = [
        "'linker' input unused",
        "compilation terminated",
        "collect2:",
        "undefined references to",
        "more undefined references",
        "linker command failed",
        "warnings being treated as errors",
        "reported only once for each function",
        "errors generated.",
        "error generated.",
    ];
    let included_here = line.starts_with("In file included from")
        && GENERATED_FILES.iter().any(|file| line.contains(file));
    let about_functions = line.ends_with(':')
        && ["hs_check", "hs_row", "hs_setup", "in function"].iter().any(|name| line.contains(name));
    if included_here || about_functions || NOISE.iter().any(|noise| line.contains(noise)) {
        return None;
    }
    if let Some(at) = line.find("undefined reference") {
        return Some(line[at..].to_owned());
    }
    if GENERATED_FILES.iter().any(|file| line.starts_with(file)) {
        let at = line.find("error:").or_else(|| line.find("Error:"))?;
        return Some(line[at..].to_owned());
    }
    Some(line.to_owned())
}

fn shortened(mut lines: Vec<String>) -> String {
    for line in &mut lines {
        if let Some((at, _)) = line.char_indices().nth(MOST_COLUMNS) {
            line.truncate(at);
            line.push_str("...");
        }
    }
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(format!("... and {more} more lines"));
    }
    lines.join("\n")
}

/// What times a whole command.
pub const NO_COMMANDS: &str = "a whole command, with the start of its process, is timed by \
                               hyperfine or perf stat;\n\
                               `hairspring blocks PROGRAM FUNCTION` times a function in it, \
                               without the start";

/// Whether code looks like a command of a shell: a path of a program, or the name of one with words
/// behind it.
pub fn is_command(code: &str) -> bool {
    let Some(first) = code.split_whitespace().next() else { return false };
    let is_name = first.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_installed =
        || std::env::split_paths(&folders).any(|folder| folder.join(first).is_file());
    first.starts_with("./")
        || first.starts_with('/') && first.len() > 1
        || is_name && is_installed()
}

/// A hint for code of which one copy compiles but repeated copies do not.
pub fn hint(messages: &str) -> &'static str {
    if messages.contains("undefined reference") {
        "functions that the code calls must be in --file or --link"
    } else if messages.contains("label") {
        "the code is repeated, so its labels must be local to a copy: begin it with `__label__ \
         NAME;`"
    } else if messages.contains("/ld:") || messages.contains("ld.lld:") {
        "the code compiles but does not link: check --link, and look for undefined names"
    } else if messages.contains("already defined") {
        "the code is repeated, so its labels must be local: use numbers, as in `1:` and `jnz 1b`"
    } else {
        "one copy compiles but repeated copies do not: what the code defines must be local to it;\n\
         a declaration that --let does not take can be in a file (--file)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_generated_code_are_dropped() {
        let messages = "/t/f/checked.c: In function 'hs_check_0':\n\
                        /t/f/CODE:1:3: error: expected ')'\n    1 | x }\n      |  ^\n\
                        /t/f/checked.c:9:1: note: to match this\n    9 | (\ncc1: out of memory";
        let tidied = tidy(messages, Path::new("/t/f"));
        assert_eq!(
            tidied,
            "CODE:1:3: error: expected ')'\n    1 | x }\n      |  ^\ncc1: out of memory"
        );
    }

    #[test]
    fn messages_repeated_in_every_copy_appear_once() {
        let messages = "/t/rows.c:3:1: error: duplicate label 'l'\n 3 | l:\n\
                        /t/rows.c:9:1: error: duplicate label 'l'\n 9 | l:\n";
        assert_eq!(tidy(messages, Path::new("/t")), "error: duplicate label 'l'");
        let clang = "/t/rows.c:3:1: error: redefinition of label 'l'\nl: x++;\n^\n\
                     CODE:1:1: error: no\ny\n^\n1 error generated.\n";
        assert_eq!(
            tidy(clang, Path::new("/t")),
            "error: redefinition of label 'l'\nCODE:1:1: error: no\ny\n^"
        );
        assert!(hint("error: duplicate label 'l'").contains("__label__"));
        let linker = "/usr/bin/ld: /tmp/a.o: in function `hs_row_0_':\n\
                      rows.c:(.text+0x1): undefined reference to `f'\n\
                      rows.c:(.text+0x9): undefined reference to `f'\n\
                      collect2: error: ld returned 1 exit status";
        assert_eq!(tidy(linker, Path::new("/t")), "undefined reference to `f'");
    }

    #[test]
    fn commands_are_told_from_code() {
        for code in ["./a.out --x", "/bin/ls", "ls -l", "sh -c true"] {
            assert!(is_command(code), "{code}");
        }
        for code in ["x = 3", "x *= c;", "f(x)", "", "sort(a, b)", "/ 3", "no-such-program -l"] {
            assert!(!is_command(code), "{code}");
        }
    }

    #[test]
    fn long_lines_are_truncated_and_the_result_is_never_empty() {
        assert_eq!(tidy(&"x".repeat(9_000), Path::new("/t")).len(), MOST_COLUMNS + 3);
        assert_eq!(
            tidy("collect2: error: ld returned 1 exit status", Path::new("/t")),
            "collect2: error: ld returned 1 exit status"
        );
    }
}
