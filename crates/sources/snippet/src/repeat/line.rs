//! Lines of assembly text of x86-64 and the words in them.

/// Text of the comment where a copy begins. It has to survive a compiler, which may write comments
/// its own way.
pub const BORDER: &str = "hs border";

/// The line without comments and the blanks around it.
pub fn plain(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with("/*") && line.find("*/") == Some(line.len().saturating_sub(2)) {
        return "";
    }
    let (mut quoted, mut escaped) = (false, false);
    let comment = line.find(|c: char| {
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        c == '#' && !quoted
    });
    line[..comment.unwrap_or(line.len())].trim_end()
}

/// The first word of a line.
pub fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or("")
}

/// How labels begin that are the compiler's own: those of every assembler, and those of clang for
/// tables of exceptions.
const OWN_LABELS: [&str; 2] = [".L", "GCC_except_table"];

/// The name of a label of the compiler's own that a line defines, and nothing else.
pub fn label(line: &str) -> Option<&str> {
    line.strip_suffix(':').filter(|name| {
        OWN_LABELS.iter().any(|begin| name.starts_with(begin)) && name.chars().all(is_of_word)
    })
}

/// Whether a character may be a part of a symbol.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@')
}

/// The line with each of its words that is a label of the compiler replaced where there is
/// something to replace it with.
pub fn with_labels(line: &str, of: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = OWN_LABELS.iter().filter_map(|begin| rest.find(begin)).min() {
        // A word that only contains these letters is another symbol.
        let is_begin = !rest[..at].ends_with(is_of_word);
        let end =
            rest[at..].find(|c: char| !is_of_word(c)).map_or(rest.len(), |length| at + length);
        let (word, suffix) = rest[at..end]
            .split_once('@')
            .map_or((&rest[at..end], ""), |(word, _)| (word, &rest[at + word.len()..end]));
        text += &rest[..at];
        text += &of(word).filter(|_| is_begin).unwrap_or_else(|| word.to_owned());
        text += suffix;
        rest = &rest[end..];
    }
    text + rest
}

/// The labels of the compiler that a line names.
pub fn labels_in(line: &str) -> Vec<String> {
    let mut found_labels = Vec::new();
    with_labels(line, &mut |label| {
        found_labels.push(label.to_owned());
        None
    });
    found_labels
}

/// Whether a line may be repeated: an instruction, a label of the compiler, a number as a label, or
/// a directive that holds for its place alone.
pub fn may_be_repeated(line: &str) -> bool {
    let is_plain = |part: &str| {
        let word = first_word(part);
        let is_number = word
            .strip_suffix(':')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()));
        match word {
            _ if is_number || label(part).is_some() => true,
            _ if word.starts_with('.') => word == ".p2align" || word.starts_with(".cfi_"),
            _ => !word.contains([':', '=', '"']) && !part.contains('='),
        }
    };
    line.split(';').map(str::trim).all(is_plain)
}

/// The section that a line goes on in.
pub fn section(line: &str) -> Option<&str> {
    matches!(first_word(line), ".text" | ".data" | ".bss" | ".section").then_some(line)
}

/// The row of a symbol, and whether its function is the one with the copies.
pub fn row_of(symbol: &str) -> Option<(usize, bool)> {
    let (_, rest) = symbol.split_once("hs_row_")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((rest[..end].parse().ok()?, rest[end..].starts_with('_')))
}
