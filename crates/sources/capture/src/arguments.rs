//! Texts of options, which the command and the page read in the same way.

use crate::OVERHEAD;

/// Largest number of counts in a list.
const MOST_COUNTS: usize = 10_000;

/// `pattern`, which is `None`, or counts and ranges of them, separated by commas.
///
/// # Errors
/// What is not a count or a range.
///
/// ```
/// use hairspring_capture::arguments::counts;
/// assert_eq!(counts("1..3,10"), Ok(Some(vec![1.0, 2.0, 3.0, 10.0])));
/// assert_eq!(counts("pattern"), Ok(None));
/// ```
pub fn counts(text: &str) -> Result<Option<Vec<f64>>, String> {
    if text == "pattern" {
        return Ok(None);
    }
    let number = |text: &str| match text.trim().parse::<u32>() {
        Ok(number) if number <= 1_000_000 => Ok(number),
        _ => Err(format!(
            "`{text}` is not a whole number up to 1000000; expected `pattern` or a list such as \
             1..20 or 1,10,55"
        )),
    };
    let mut list = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once("..") {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if last < first || (last - first) as usize >= MOST_COUNTS - list.len() {
            return Err(format!(
                "`{part}` is not an ascending range, or the list has more than {MOST_COUNTS} counts"
            ));
        }
        list.extend((first..=last).map(f64::from));
    }
    Ok(Some(list))
}

/// The name of a component, with the characters that a column of a table may have.
///
/// # Errors
/// The name is reserved, or has other characters.
pub fn component(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name == OVERHEAD {
        return Err(format!(
            "`{name}` is reserved for the overhead of a pulse: choose another name"
        ));
    }
    let begins = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if begins && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ')) {
        return Ok(name.to_owned());
    }
    Err(format!(
        "`{text}` is not a component name: expected a letter or _ first, then letters, digits, _, \
         -, . or spaces"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_parsed() {
        assert_eq!(counts("1..3,10"), Ok(Some(vec![1.0, 2.0, 3.0, 10.0])));
        for wrong in ["", "x", "3..1", "-1", "1..", "1..99999", "1.5"] {
            assert!(counts(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_of_components_are_those_of_columns() {
        assert_eq!(component(" mul_add "), Ok("mul_add".into()));
        for wrong in ["", "1st", "a,b", "a\"", OVERHEAD] {
            assert!(component(wrong).is_err(), "{wrong}");
        }
    }
}
