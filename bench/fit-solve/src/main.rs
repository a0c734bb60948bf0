//! `fit-solve FILE`: reads observations, solves their first series, and prints both times and the
//! solution as JSON.

use hairspring_core::estimate::{Options, solve};
use hairspring_core::observations::read_csv;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: fit-solve FILE")?;
    let begin = Instant::now();
    let table = read_csv(std::fs::File::open(path)?)?;
    let read = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let solution = solve(&table, 0, &Options::default())?;
    let solved = begin.elapsed().as_secs_f64();
    let unknowns: Vec<f64> =
        solution.components.iter().map(|component| component.ticks.value).collect();
    let overhead = solution.overhead.map(|overhead| overhead.value);
    let used = solution.readings_used;
    println!(
        "{}",
        serde_json::json!({ "read_s": read, "solve_s": solved, "unknowns": unknowns,
        "overhead": overhead, "used": used })
    );
    Ok(())
}
