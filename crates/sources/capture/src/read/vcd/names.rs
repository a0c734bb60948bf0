//! Variables of a dump, and the one that is meant.

use crate::error::{Error, Result, shown};
use crate::read::{choose_of, ends_in};

/// A bit of a variable.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) id: Vec<u8>,
    pub(super) name: String,
    /// 0 for strings of some simulators, of which no bit is a channel.
    pub(super) width: u32,
    /// Numbers of the leftmost and the rightmost bit of a value, in either order.
    pub(super) ends: (u32, u32),
}

impl Variable {
    /// The place of a bit in a value, counted from the right.
    fn place_of(&self, number: u32) -> Option<usize> {
        let (left, right) = self.ends;
        let place =
            if left >= right { number.checked_sub(right) } else { right.checked_sub(number) };
        place.filter(|place| *place < self.width).map(|place| place as usize)
    }

    /// Whether a name is this variable's, with all of its scopes or the last of them.
    fn is_named(&self, name: &str) -> bool {
        ends_in(&self.name, name)
    }
}

/// Chooses the variable and the bit of a channel.
///
/// # Errors
/// A missing channel, or several and none requested.
pub(super) fn channel(variables: &[Variable], wanted: Option<&str>) -> Result<(usize, usize)> {
    let of_vector = match wanted {
        Some(wanted) => vector_bit(variables, wanted)?,
        None => None,
    };
    if let Some(place) = of_vector {
        return Ok(place);
    }
    let singles: Vec<usize> = (0..variables.len()).filter(|at| variables[*at].width == 1).collect();
    let names: Vec<String> = singles.iter().map(|at| variables[*at].name.clone()).collect();
    let is_same =
        |one: usize, other: usize| variables[singles[one]].id == variables[singles[other]].id;
    let chosen = choose_of(&names, wanted, &is_same)
        .map_err(|error| with_vectors(error, variables, wanted))?;
    Ok((singles[chosen], 0))
}

/// The variable and bit of a name such as `PORTB[7]`.
///
/// # Errors
/// Several vectors end in this name.
fn vector_bit(variables: &[Variable], wanted: &str) -> Result<Option<(usize, usize)>> {
    let Some((name, number)) = indexed(wanted) else { return Ok(None) };
    let vectors: Vec<usize> = (0..variables.len()).filter(|at| variables[*at].width > 1).collect();
    let names: Vec<String> = vectors.iter().map(|at| variables[*at].name.clone()).collect();
    if !names.iter().any(|full| ends_in(full, name)) {
        return Ok(None);
    }
    let is_same =
        |one: usize, other: usize| variables[vectors[one]].id == variables[vectors[other]].id;
    let at = vectors[choose_of(&names, Some(name), &is_same)?];
    Ok(variables[at].place_of(number).map(|place| (at, place)))
}

/// The name and the number of `PORTB[7]`.
fn indexed(wanted: &str) -> Option<(&str, u32)> {
    let (name, number) = wanted.strip_suffix(']')?.rsplit_once('[')?;
    Some((name, number.parse().ok()?))
}

/// Adds to an error about a channel the vectors whose bits can be channels.
fn with_vectors(error: Error, variables: &[Variable], wanted: Option<&str>) -> Error {
    const SHOWN_VECTORS: usize = 6;
    let meant = wanted.map(|wanted| wanted.split('[').next().unwrap_or(wanted));
    let named = |variable: &&Variable| meant.is_some_and(|name| variable.is_named(name));
    let vectors = || variables.iter().filter(|variable| variable.width > 1);
    let bits = |variable: &Variable| {
        let (left, right) = variable.ends;
        let most = variable.width - 1;
        let (lowest, highest) = if left >= right {
            (right, right.saturating_add(most))
        } else {
            (right.saturating_sub(most), right)
        };
        format!("`{}[{lowest}]` to `[{highest}]`", shown(&variable.name))
    };
    let (one, all) = (vectors().find(named), vectors().count());
    match one {
        Some(vector) => {
            Error::Unusable(format!("{error}; a channel is one bit of a vector: {}", bits(vector)))
        }
        None if all > 0 => {
            let listed: Vec<String> = vectors().take(SHOWN_VECTORS).map(bits).collect();
            let more = if all > SHOWN_VECTORS {
                format!(" and {} more vectors", all - SHOWN_VECTORS)
            } else {
                String::new()
            };
            Error::Unusable(format!("{error}; and bits of vectors: {}{more}", listed.join(", ")))
        }
        None => error,
    }
}
