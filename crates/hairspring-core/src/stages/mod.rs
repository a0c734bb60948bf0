//! The stages of the pipeline, a file each: its question, what it needs, its limits, what it does
//! at each of its steps, its words, its tests. [`crate::pipeline`] has their order.

mod stage;
mod state;

pub(crate) mod blocks;
pub(crate) mod controls;
pub(crate) mod core_clock;
pub(crate) mod denormals;
pub(crate) mod departure;
pub(crate) mod ends;
pub(crate) mod express;
pub(crate) mod fence;
pub(crate) mod flags;
pub(crate) mod layouts;
pub(crate) mod line;
pub(crate) mod negative;
pub(crate) mod neighbour;
pub(crate) mod noise;
pub(crate) mod order;
pub(crate) mod origin;
pub(crate) mod overlap;
pub(crate) mod pauses;
pub(crate) mod placements;
pub(crate) mod ports;
pub(crate) mod quantum;
pub(crate) mod quickest;
pub(crate) mod readings;
pub(crate) mod reference;
pub(crate) mod regression;
pub(crate) mod rows;
pub(crate) mod settling;
pub(crate) mod slow;
pub(crate) mod spikes;
pub(crate) mod threads;
pub(crate) mod undone;
pub(crate) mod visits;
pub(crate) mod widths;

pub use controls::shared_finding;
pub use core_clock::stepped_finding;
pub use flags::disturbed as disturbed_finding;
pub use negative::negative_finding;
pub use origin::{carry, clock_finding};
pub(crate) use stage::{Did, Step, need};
pub use stage::{Need, Phase, Stage};
pub use state::BY_REQUEST;
pub(crate) use state::{State, once};
pub use widths::{below_finding, wide_finding};
