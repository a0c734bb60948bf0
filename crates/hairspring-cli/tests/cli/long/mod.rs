//! `hairspring blocks` on programs that are hard to follow. Each call of these is stepped through,
//! which takes minutes: `./test all` runs them, `./test` does not.

mod calls;
mod ends;
mod harm;
mod names;
mod parts;
mod paths;
