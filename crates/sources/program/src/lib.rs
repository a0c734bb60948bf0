//! Benchmarks inside a user's own program. A binding of some language declares them as
//! [`Benchmark`]s, rows of straight-line copies between two reads of a clock; everything else is
//! here, once for all languages: choice of the rows, rounds, assessment, the command line of such a
//! program, its text and its JSON.
//!
//! ```
//! use hairspring_program::{Benchmark, Group, Order, Row, Session, Settings};
//!
//! // A body is one turn of a loop here; bindings write the copies out.
//! let row = |bodies: u32| Row::new(bodies, 0, Order::AtEnd, move |now| {
//!     let begin = now();
//!     (0..bodies).for_each(|turn| { std::hint::black_box(turn); });
//!     Some(now().wrapping_sub(begin))
//! });
//! let mut group = Group::from(Benchmark::new("turn", [64, 128, 192, 256].map(row).into()));
//! let settings = Settings { budget: std::time::Duration::from_millis(20), ..Settings::default() };
//! let measured = Session::new(&settings).unwrap().measure(&mut group).unwrap();
//! assert!(measured.run.table.find_series("turn").is_some());
//! ```

pub mod circumstances;
pub mod output;
pub mod turns;
pub mod values;

mod arguments;
mod benchmark;
mod choose;
mod command;
mod error;
mod exit_watch;
mod remedies;
mod report;
mod rows;
mod session;

pub use arguments::{Arguments, ChoiceArguments, seating};
pub use benchmark::{Benchmark, FLUSH, Group, Order, Row, RunRow};
pub use command::{Manner, main, nothing_chosen};
pub use error::{Error, Result};
pub use hairspring_measure::{Seating, Stop};
pub use remedies::PROGRAM;
pub use report::{assessed, document};
pub use session::{MeasuredGroup, Session, Settings};
