//! The report: an assessment and its circumstances as text for people and as JSON for programs.
//!
//! Numbers become text only here. A caller fills a [`Document`] and asks for [`text::report`] or [`json::result`]; the
//! certificate of the instrument has [`text::certificate`] and [`json::certificate`]. Nothing here measures, prints or
//! opens a file.
//!
//! ```
//! use hairspring_core::judge::{Question, assess};
//! use hairspring_core::observations::read_csv;
//! use hairspring_report::{Document, Environment, Style, json, text};
//!
//! let table = read_csv("# rate_hz: 1e9\nbody,ticks\n1,59\n2,99\n4,180\n8,341\n16,660\n".as_bytes()).unwrap();
//! let document = Document {
//!     command: "fit".into(),
//!     environment: Environment::unknown("the file holds no reference chain"),
//!     assessment: assess(&table, &Question::default()).unwrap(),
//!     ns_per_unit: table.origin.ns_per_unit(),
//!     subjects: Vec::new(),
//!     methods: Vec::new(),
//!     run: None,
//! };
//! assert!(text::report(&document, &Style::default()).contains("body"));
//! assert!(json::print(&json::result(&document)).contains("\"time_ns\""));
//! ```

pub mod compare;
pub mod document;
pub mod export;
pub mod format;
pub mod json;
pub mod methods;
pub mod period;
pub mod saved;
pub mod text;

mod clean;
mod kinds;
mod plot;

pub use document::{ClockInfo, Document, Environment, MethodRow, MethodTable, Mode, Ruler, Run, Subject};
pub use kinds::ResultFinding;
pub use text::Style;
