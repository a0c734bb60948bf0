//! Measurements of the machine itself: its core clock ([`mhz`]), its clocks ([`clocks`]), cyclic tasks ([`period`]), context
//! switches ([`switch`]), and the certificate that Hairspring measures correctly on it ([`verify`]).

pub mod clocks;
pub mod mhz;
pub mod period;
pub mod switch;
pub mod verify;

mod budget;
mod lines;
mod timer;
