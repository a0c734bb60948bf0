//! The bench in a page: files become tables and results, tables are solved, and results become
//! documents and text, in a browser and without a server.
//!
//! A page makes a [`Bench`], gives it a file and asks. Everything that is asked for is JSON or
//! text, and an error is a sentence. The module of WebAssembly (`binding`) exposes the same; a page
//! calls it from a worker. A file is read in pieces where the reader needs them ([`mod@file`]), so
//! that a large one is never in memory as a whole.
//!
//! ```
//! use hairspring_wasm::Bench;
//! let mut bench = Bench::default();
//! let file = b"body,ticks\n1,108\n2,208\n3,308\n4,408\n".to_vec();
//! let contents = bench.open(Box::new(file), "{}").unwrap();
//! assert!(contents.contains(r#""kind":"observations""#));
//! let document = bench.solve(r#"{"rows": [0]}"#, None).unwrap();
//! assert!(document.contains(r#""schema": "hairspring/result/2""#));
//! assert!(bench.solve(r#"{"confidence": 2}"#, None).is_err_and(|error| error.contains("0.9999")));
//! ```

mod ask;
mod bench;
mod contents;
pub mod file;
mod kind;
mod open;
pub mod points;
mod solve;

pub use bench::Bench;

#[cfg(target_arch = "wasm32")]
mod binding;
