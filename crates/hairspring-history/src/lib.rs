//! Results of many commits: kept in a database ([`store`]), and searched for steps ([`change`]).
//!
//! [`take`] takes the figures out of a document; [`order`] puts runs into the order of their
//! commits; [`judge`] finds the steps of all series, and makes the [`document`] that is shown
//! ([`text`]).
//! Nothing here prints, or calls git.

pub mod change;
pub mod document;
pub mod judge;
pub mod order;
pub mod store;
pub mod take;
pub mod text;
