//! Names that resemble a wrong one, for messages that ask "did you mean ...?".

/// Longest names that are compared, in bytes: the cost of a comparison is the product of both
/// lengths.
const LONGEST_NAME: usize = 80;
/// Shortest wrong name that is looked for inside of others.
const SHORTEST_PART: usize = 3;

/// The names that resemble a wrong one, the most similar first: a few letters differ, or the wrong
/// name is a part of it. Case does not matter. Equally similar names keep their order.
///
/// ```
/// use hairspring_core::alike::alike;
/// assert_eq!(alike("adler23", ["main", "adler32", "crc32"]), ["adler32"]);
/// assert_eq!(alike("sort", ["sort_all", "resort", "main"]), ["resort", "sort_all"]);
/// ```
pub fn alike<N: AsRef<str>>(wrong: &str, names: impl IntoIterator<Item = N>) -> Vec<N> {
    if wrong.len() > LONGEST_NAME {
        return Vec::new();
    }
    let wrong = wrong.to_lowercase();
    let short = names.into_iter().filter(|name| name.as_ref().len() <= LONGEST_NAME);
    let mut near: Vec<(usize, N)> = short
        .filter_map(|name| Some((distance(&wrong, &name.as_ref().to_lowercase())?, name)))
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, name)| name).collect()
}

/// The most similar name, if one is similar.
pub fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    alike(wrong, names).into_iter().next()
}

/// How many letters differ, if the two resemble each other.
fn distance(wrong: &str, name: &str) -> Option<usize> {
    let distance = strsim::damerau_levenshtein(wrong, name);
    let length = name.chars().count();
    let is_near = distance <= 1 + length / 4 && distance < length;
    let is_part = wrong.chars().count() >= SHORTEST_PART && name.contains(wrong);
    (is_near || is_part).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: [&str; 6] = ["s", "ms", "ns", "cycles", "ticks", "kHz"];

    #[test]
    fn nearest_name_is_found_and_far_ones_are_not() {
        assert_eq!(nearest("cycels", UNITS), Some("cycles"));
        assert_eq!((nearest("NS", UNITS), nearest("m", UNITS)), (Some("ns"), Some("ms")));
        assert_eq!(
            (nearest("elephant", UNITS), nearest("e", UNITS), nearest("", UNITS)),
            (None, None, None)
        );
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn part_of_a_name_finds_it_behind_nearer_names() {
        assert_eq!(alike("crc", ["a::crc32_of_all", "crc2", "main"]), ["crc2", "a::crc32_of_all"]);
        assert_eq!(alike("cr", ["a::crc32_of_all"]), Vec::<&str>::new());
    }

    #[test]
    fn long_names_are_not_compared() {
        let long = "x".repeat(LONGEST_NAME + 1);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(nearest("xxx", [long.as_str()]), None);
    }
}
