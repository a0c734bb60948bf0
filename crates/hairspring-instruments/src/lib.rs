//! Measurements of the machine itself: its core clock ([`mhz`]), its clocks ([`clocks`]), cyclic
//! tasks ([`period`]), context switches ([`switch`]), the certificate that Hairspring measures
//! correctly on it ([`verify`]), and what it can give ([`doctor`]).

pub mod clocks;
pub mod doctor;
pub mod mhz;
pub mod period;
pub mod switch;
pub mod verify;

mod budget;
mod lines;
mod timer;
