//! Files of logic analysers and oscilloscopes, each made here in the layout that is published or
//! that its public readers agree on.

mod analysers;
mod archives;
mod files;
mod hostile;
mod scopes;

use files::{Bits, Scope};
use hairspring_capture::edge::Edge;
use hairspring_capture::read::{Recording, Request, read_csv};
use hairspring_capture::{Input, read_edges};
use std::io::Cursor;

type Read = Result<(Vec<Edge>, Recording), String>;

fn read_input(input: Input, channel: Option<&str>) -> Read {
    let request = Request { channel: channel.map(str::to_owned), ..Request::default() };
    let mut edges = Vec::new();
    let recording = read_edges(input, None, &request, &mut |edge| edges.push(edge));
    let recording = recording.map_err(|error| error.to_string());
    assert_ne!(recording, Err(String::new()));
    Ok((edges, recording?))
}

fn read_file(bytes: &[u8], channel: Option<&str>) -> Read {
    read_input(Input::File(Box::new(Cursor::new(bytes.to_vec()))), channel)
}

/// Reads a file by its content, as a file and from a pipe, which give the same.
fn read(bytes: &[u8], channel: Option<&str>) -> Read {
    let file = read_file(bytes, channel);
    let pipe = read_input(Input::Pipe(Box::new(Cursor::new(bytes.to_vec()))), channel);
    assert_eq!(file, pipe);
    file
}

/// Places of the edges.
fn places(edges: &[Edge]) -> Vec<f64> {
    edges.iter().map(|edge| edge.at).collect()
}

/// The edges of samples in a table.
fn by_table(values: &[f64], hz: f64) -> Vec<Edge> {
    let mut table = "Time [s],CH\n".to_owned();
    for (n, value) in values.iter().enumerate() {
        table += &format!("{:.9e},{value:.9}\n", n as f64 / hz);
    }
    let mut edges = Vec::new();
    let request = Request { channel: Some("CH".into()), ..Request::default() };
    read_csv(table.as_bytes(), &request, &mut |edge| edges.push(edge)).unwrap();
    edges
}

/// Whether edges are the same but for the rounding of volts.
fn same(first_edges: &[Edge], second_edges: &[Edge]) -> bool {
    first_edges.len() == second_edges.len()
        && first_edges
            .iter()
            .zip(second_edges)
            .all(|(a, b)| a.rising == b.rising && (a.at - b.at).abs() < 1e-3)
}

/// Asserts that a file has the edges of its samples in a table, and the rate.
fn assert_like_table(name: &str, file: &[u8], channel: Option<&str>, scope: &Scope) {
    let (edges, recording) =
        read(file, channel).unwrap_or_else(|error| panic!("{name} {channel:?}: {error}"));
    let table = by_table(&scope.volts(), scope.hz);
    assert!(table.len() > 6, "{name}: {table:?}");
    assert!(same(&edges, &table), "{name} {channel:?}:\n{edges:?}\n{table:?}");
    let hz = recording.hz.unwrap();
    assert!((hz / scope.hz - 1.0).abs() < 1e-12, "{name}: {hz}");
    assert!(recording.remarks.is_empty(), "{name}: {:?}", recording.remarks);
}

/// Asserts that a file has the edges of bits.
fn assert_bits(name: &str, file: &[u8], channel: Option<&str>, bits: &Bits) {
    let (edges, recording) =
        read(file, channel).unwrap_or_else(|error| panic!("{name} {channel:?}: {error}"));
    assert_eq!(places(&edges), bits.changes(), "{name} {channel:?}");
    assert_eq!(recording.hz, Some(bits.hz), "{name}");
    assert!(recording.remarks.is_empty(), "{name}: {:?}", recording.remarks);
}
