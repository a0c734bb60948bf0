//! What a page calls.

#![allow(missing_docs, reason = "the attribute makes items of its own")]

use crate::file::Pieces;
use js_sys::{Array, Date, Float64Array, Function, Uint8Array};
use std::io::{Error, Result};
use std::time::{Duration, SystemTime};
use wasm_bindgen::prelude::*;

/// A file of the page: a function gives the bytes from a place on.
struct PageFile {
    size: u64,
    read: Function,
}

impl Pieces for PageFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn piece(&mut self, at: u64, most: usize) -> Result<Vec<u8>> {
        let most = (self.size - at).min(most as u64);
        let called = self.read.call2(&JsValue::NULL, &(at as f64).into(), &(most as f64).into());
        let refused = |_| Error::other("the browser cannot read the file (any more)");
        let bytes = Uint8Array::new(&called.map_err(refused)?);
        if bytes.length() as u64 == most { Ok(bytes.to_vec()) } else { Err(refused(JsValue::NULL)) }
    }
}

/// The bench of a page. Options and contents are JSON; errors are sentences.
#[wasm_bindgen]
#[derive(Default)]
pub struct Bench(crate::Bench);

#[wasm_bindgen]
impl Bench {
    /// A bench without a file.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Bench {
        Bench::default()
    }

    /// Opens a file of so many bytes that `read(place, bytes)` gives, and says what it holds.
    pub fn open(
        &mut self,
        size: f64,
        read: Function,
        how: &str,
    ) -> std::result::Result<String, String> {
        self.0.open(Box::new(PageFile { size: size as u64, read }), how)
    }

    /// The document of the file.
    pub fn solve(&mut self, asked: &str) -> std::result::Result<String, String> {
        self.0.solve(asked, Some(now()))
    }

    /// The last document as text.
    pub fn report(&self) -> std::result::Result<String, String> {
        self.0.report()
    }

    /// The last document as HTML: an array of its title, what is said below it and its contents.
    pub fn fragment(&self, asked: &str, level: u8) -> std::result::Result<Array, String> {
        let found = self.0.fragment(asked, level)?;
        Ok([found.title, found.about, found.html].into_iter().map(JsValue::from).collect())
    }

    /// The readings of a row, or of all rows for a negative number, between two places: places,
    /// readings, which stage left each out, their names, the unit, and how many there are.
    pub fn points(
        &self,
        asked: &str,
        row: f64,
        from: f64,
        to: f64,
    ) -> std::result::Result<Array, String> {
        let found = self.0.points(asked, (row >= 0.0).then_some(row as u32), from..to)?;
        let names: Array = found.stages.iter().map(|name| JsValue::from(*name)).collect();
        Ok(Array::of(&[
            Float64Array::from(&found.at[..]).into(),
            Float64Array::from(&found.ticks[..]).into(),
            Uint8Array::from(&found.left_out[..]).into(),
            names.into(),
            found.unit.into(),
            (found.all as f64).into(),
        ]))
    }

    /// What each stage did.
    pub fn explain(&self) -> std::result::Result<String, String> {
        self.0.explain()
    }

    /// Its times as CSV.
    pub fn times(&self) -> std::result::Result<String, String> {
        self.0.times()
    }

    /// The readings as an observation file, without what the page leaves out.
    pub fn observations(&self, asked: &str) -> std::result::Result<String, String> {
        self.0.observations(asked)
    }

    /// Every reading with the stage that left it out, as CSV.
    pub fn readings(&self, asked: &str) -> std::result::Result<String, String> {
        self.0.readings(asked)
    }
}

/// The time by the browser.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(Date::now().max(0.0) as u64)
}
