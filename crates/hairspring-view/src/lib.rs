//! Results for people and for other tools: text of 80 columns, plots of characters, Markdown, and
//! files in other tools' formats.
//!
//! Everything is made from a document (`hairspring-result`), so text and JSON agree. Only this
//! crate formats numbers. Instruments and sources with a report of their own build it from the same
//! parts: [`page`], [`cells`], [`format`](mod@format), [`clean`], [`plot`].
//!
//! ```
//! use hairspring_result::read::read;
//! use hairspring_view::{Style, text};
//!
//! let document = read(r#"{"schema": "hairspring/result/2", "command": "run", "results": [
//!     {"name": "multiply", "components":
//!     {"body": {"time_ns": {"value": 0.812, "low": 0.811, "high": 0.813,
//!     "level": 0.95}}}}]}"#).unwrap();
//! assert!(text::table(&document, &Style::default()).contains("0.81200 ns +- 0.00100"));
//! ```

pub mod cells;
pub mod clean;
pub mod export;
pub mod format;
pub mod keys;
pub mod markdown;
pub mod node;
pub mod page;
pub mod plot;
mod source;
pub mod text;

pub use page::Style;
pub use source::source_name;
