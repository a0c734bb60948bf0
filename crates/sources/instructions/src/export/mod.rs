//! The table in the formats of other tools.

mod csv;
mod osaca;

pub use self::csv::csv;
pub use self::osaca::osaca;
