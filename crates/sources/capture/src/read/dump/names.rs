//! Variables of a dump, and the one that is meant.

use crate::error::{Error, Result, shown};
use crate::read::{choose_of, ends_in};

/// Most variables, and most bytes of their names with all scopes.
const MOST_VARIABLES: usize = 1 << 20;
const MOST_NAMES: usize = 256 << 20;

/// A variable, one bit of which may be the channel.
#[derive(Debug, Clone)]
pub(in crate::read) struct Variable {
    /// What the changes of the variable are found by; several names may have the same.
    pub(in crate::read) id: Vec<u8>,
    pub(in crate::read) name: String,
    /// 0 for strings of some simulators, of which no bit is a channel.
    pub(in crate::read) width: u32,
    /// Numbers of the leftmost and the rightmost bit of a value, in either order.
    ends: (i64, i64),
}

/// A declaration of a variable.
#[derive(Debug, Clone, Copy)]
pub(in crate::read) struct Declared<'a> {
    pub(in crate::read) id: &'a [u8],
    /// Its name, and its range such as `[7:0]` behind it, without blanks.
    pub(in crate::read) name: &'a str,
    pub(in crate::read) width: u32,
    /// The ends of a range that is stated elsewhere.
    pub(in crate::read) ends: Option<(i64, i64)>,
}

/// The variables that were declared so far, and the scope of the next ones.
#[derive(Debug, Default)]
pub(in crate::read) struct Names {
    scope: Vec<String>,
    variables: Vec<Variable>,
    bytes: usize,
}

impl Names {
    /// Enters a scope.
    ///
    /// # Errors
    /// Too many names.
    pub(in crate::read) fn enter(&mut self, name: &str) -> std::result::Result<(), String> {
        self.scope.push(name.to_owned());
        self.count(name.len())
    }

    /// Leaves the innermost scope.
    pub(in crate::read) fn leave(&mut self) {
        self.scope.pop();
    }

    /// Takes a variable of the innermost scope.
    ///
    /// # Errors
    /// Too many variables or names.
    pub(in crate::read) fn declare(
        &mut self,
        declared: &Declared,
    ) -> std::result::Result<(), String> {
        if self.variables.len() == MOST_VARIABLES {
            return Err(format!("more than {MOST_VARIABLES} variables"));
        }
        // The range of a vector is not part of its name.
        let (name, range) = match declared.name.rsplit_once('[') {
            Some((name, range)) if range.contains(':') => (name, range),
            _ => (declared.name, ""),
        };
        let scoped: usize = self.scope.iter().map(|scope| scope.len() + 1).sum();
        self.count(scoped + name.len())?;
        let scoped: Vec<&str> = self.scope.iter().map(String::as_str).chain([name]).collect();
        self.variables.push(Variable {
            id: declared.id.to_vec(),
            name: scoped.join("."),
            width: declared.width,
            ends: ends_of(range).or(declared.ends).unwrap_or((i64::MAX, 0)),
        });
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> std::result::Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MOST_NAMES {
            return Err(format!("names of more than {MOST_NAMES} bytes with their scopes"));
        }
        Ok(())
    }

    /// Chooses the variable and the bit of a channel, counted from the right.
    ///
    /// # Errors
    /// A missing channel, or several and none requested.
    pub(in crate::read) fn choose(
        &self,
        wanted_channel: Option<&str>,
    ) -> Result<Option<(&Variable, usize)>> {
        let (at, bit) = channel(&self.variables, wanted_channel)?;
        Ok(self.variables.get(at).map(|variable| (variable, bit)))
    }

    /// All variables.
    pub(in crate::read) fn variables(&self) -> &[Variable] {
        &self.variables
    }
}

/// The numbers of a range such as `7:0]`; those of VHDL's fixed point may be below 0.
pub(in crate::read) fn ends_of(range: &str) -> Option<(i64, i64)> {
    let (left, right) = range.trim_end_matches(']').split_once(':')?;
    Some((left.trim().parse().ok()?, right.trim().parse().ok()?))
}

impl Variable {
    /// The place of a bit in a value, counted from the right.
    fn place_of(&self, number: i64) -> Option<usize> {
        let (left, right) = self.ends;
        let place =
            if left >= right { number.checked_sub(right) } else { right.checked_sub(number) };
        place.filter(|place| (0..i64::from(self.width)).contains(place)).map(|at| at as usize)
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
fn channel(variables: &[Variable], wanted_channel: Option<&str>) -> Result<(usize, usize)> {
    let of_vector = match wanted_channel {
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
    let chosen = choose_of(&names, wanted_channel, &is_same)
        .map_err(|error| with_vectors(error, variables, wanted_channel))?;
    Ok((singles[chosen], 0))
}

/// The variable and bit of a name such as `PORTB[7]`.
///
/// # Errors
/// Several vectors end in this name.
fn vector_bit(variables: &[Variable], wanted_bit: &str) -> Result<Option<(usize, usize)>> {
    let Some((name, number)) = indexed(wanted_bit) else { return Ok(None) };
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
fn indexed(wanted_bit: &str) -> Option<(&str, i64)> {
    let (name, number) = wanted_bit.strip_suffix(']')?.rsplit_once('[')?;
    Some((name, number.parse().ok()?))
}

/// Adds to an error about a channel the vectors whose bits can be channels.
fn with_vectors(error: Error, variables: &[Variable], wanted_channel: Option<&str>) -> Error {
    const SHOWN_VECTORS: usize = 6;
    let meant = wanted_channel.map(|wanted| wanted.split('[').next().unwrap_or(wanted));
    let named = |variable: &&Variable| meant.is_some_and(|name| variable.is_named(name));
    let vectors = || variables.iter().filter(|variable| variable.width > 1);
    let bits = |variable: &Variable| {
        let (left, right) = variable.ends;
        let most_bits = i64::from(variable.width) - 1;
        let (lowest, highest) = if left >= right {
            (right, right.saturating_add(most_bits))
        } else {
            (right.saturating_sub(most_bits), right)
        };
        format!("`{}[{lowest}]` to `[{highest}]`", shown(&variable.name))
    };
    let (named_vector, number_of_vectors) = (vectors().find(named), vectors().count());
    match named_vector {
        Some(vector) => {
            Error::Unusable(format!("{error}; a channel is one bit of a vector: {}", bits(vector)))
        }
        None if number_of_vectors > 0 => {
            let listed: Vec<String> = vectors().take(SHOWN_VECTORS).map(bits).collect();
            let more = if number_of_vectors > SHOWN_VECTORS {
                format!(" and {} more vectors", number_of_vectors - SHOWN_VECTORS)
            } else {
                String::new()
            };
            Error::Unusable(format!("{error}; and bits of vectors: {}{more}", listed.join(", ")))
        }
        None => error,
    }
}
