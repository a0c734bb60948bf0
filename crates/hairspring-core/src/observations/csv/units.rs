//! Keys of the head that say what copies of a series do to the core.

use super::{Occupancy, Origin, Uses, bad};
use crate::error::{Error, Result};

/// Adds what the copies of a series do to the core.
pub fn add_occupancy(
    origin: &mut Origin,
    series: &str,
    occupancy: Occupancy,
    line: u64,
) -> Result<()> {
    if origin.occupancy_of(series).is_some() {
        return Err(twice(occupancy.key(), series, line));
    }
    origin.occupancy.push((series.to_owned(), occupancy));
    Ok(())
}

/// Adds the kinds of units that a copy of a series uses, such as `code = multiply 2, simple 1`.
pub fn add_uses(origin: &mut Origin, value: &str, line: u64) -> Result<()> {
    let needed = || {
        bad(
            line,
            "`uses` needs a series, and kinds of units with the number of instructions for each, \
             as in `a = multiply 2, simple 1`",
        )
    };
    let (series, list) = value.split_once('=').ok_or_else(needed)?;
    let unit = |text: &str| {
        let (name, number) = text.trim().rsplit_once(' ')?;
        Some((name.trim().to_owned(), number.parse().ok()?)).filter(|(name, _)| !name.is_empty())
    };
    let uses = list.split(',').map(unit).collect::<Option<Uses>>().ok_or_else(needed)?;
    let series = series.trim();
    if origin.uses_of(series).is_some() {
        return Err(twice("uses", series, line));
    }
    origin.uses.push((series.to_owned(), uses));
    Ok(())
}

fn twice(key: &str, series: &str, line: u64) -> Error {
    bad(
        line,
        &format!("`{key}` names the series `{series}` a second time: which of the two holds?"),
    )
}
