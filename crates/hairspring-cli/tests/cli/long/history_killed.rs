//! `history add` is killed while it writes: what was said to be added is there, and the file is
//! sound.

use crate::history::{Place, document};
use std::process::{Command, Stdio};
use std::time::Duration;

const KILLS: usize = 200;

#[test]
fn two_hundred_kills_lose_nothing() {
    let place = Place::new();
    let names: Vec<String> = (0..200).map(|at| format!("series {at}")).collect();
    let mut added = Vec::new();
    for at in 0..KILLS {
        let times: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 5.0)).collect();
        place.write("now.json", document(at, &times));
        let mut process = Command::new(env!("CARGO_BIN_EXE_hairspring"))
            .args(["history", "add", "now.json", "--db", "history.db"])
            .current_dir(place.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From before the file is opened to after it is closed.
        std::thread::sleep(Duration::from_micros(200 * (at as u64 % 150)));
        let _ = process.kill();
        if process.wait().unwrap().success() {
            added.push(at);
        }
    }
    place.write("now.json", document(KILLS, &[("last", 5.0)]));
    place.history("add", &["now.json"]).succeeds().says("1 added");
    place.history("export", &["out"]).succeeds();
    let texts: Vec<String> = std::fs::read_dir(place.path("out"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for at in &added {
        let commit = format!("{at:040x}");
        assert!(texts.iter().any(|text| text.contains(&commit)), "{at} of {}", added.len());
    }
    place.history("check", &[]).succeeds();
}
