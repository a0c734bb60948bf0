//! The result of a measurement as a document; the same types write it and read it.
//!
//! A source fills a [`Measurement`]; [`ResultDocument::new`] makes the document of it,
//! [`json::print`] writes it and [`read::read`] reads it again. [`compare::compare`] compares two
//! documents, [`runs::between`] merges those of several processes, [`fleet`] those of several
//! machines, [`ab`] judges two builds by pairs of documents. Text for people is made from
//! documents by `hairspring-view`. Nothing here measures, prints or opens a file.
//!
//! ```
//! use hairspring_core::judge::{Question, assess};
//! use hairspring_core::observations::read_csv;
//! use hairspring_result::{Environment, Measurement, ResultDocument, json, read::read};
//!
//! let text = "# rate_hz: 1e9\nbody,ticks\n1,59\n2,99\n4,180\n8,341\n16,660\n";
//! let table = read_csv(text.as_bytes()).unwrap();
//! let document = ResultDocument::new(&Measurement {
//!     command: "fit".into(),
//!     environment: Environment::unknown("the file holds no reference chain"),
//!     assessment: assess(&table, &Question::default()).unwrap(),
//!     ns_per_unit: table.origin.ns_per_unit(),
//!     subjects: Vec::new(),
//!     methods: Vec::new(),
//!     run: None,
//! });
//! assert_eq!(read(&json::print(&document)).unwrap(), document);
//! ```

pub mod ab;
pub mod compare;
pub mod complexity;
pub mod document;
pub mod fleet;
pub mod identity;
pub mod json;
pub mod read;
pub mod runs;
pub mod throughput;

mod argument;
mod kinds;
mod measurement;
mod tool_kinds;

pub use document::{
    Clock, Comparison, Component, Cpu, Environment, Figure, Mode, Reference, ResultDocument, Run,
    Series, Unit,
};
pub use hairspring_core::judge::Finding;
pub use hairspring_core::named::Named;
pub use identity::Identity;
pub use kinds::ResultFinding;
pub use measurement::{Measurement, Subject};
pub use tool_kinds::ToolFinding;
