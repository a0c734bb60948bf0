//! Findings about the documents of a fleet.

mod documents;
mod times;

pub use documents::{
    FamilyByName, Interrupted, MachineUnknown, MergedTwice, MoreNotMerged, NotMerged,
};
pub use times::{
    CodeDiffers, CreatedApart, FleetMixed, OddMachine, SeriesMissing, UntrustedLeftOut, WithoutUnit,
};
