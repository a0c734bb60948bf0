//! What a file holds: what a page shows of it, and what can be switched off.

use crate::kind::Kind;
use crate::open::Opened;
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::optional_stages;
use serde::Serialize;

/// Most rows that a page gets switches for.
const MOST_ROWS: usize = 2_000;

/// What a file holds.
#[derive(Debug, Serialize)]
pub struct Contents {
    kind: Kind,
    /// What was left out of the file.
    remarks: Vec<String>,
    /// `None` for a result, which is not solved.
    table: Option<Readings>,
}

#[derive(Debug, Serialize)]
struct Readings {
    components: Vec<String>,
    series: Vec<String>,
    /// The first rows.
    rows: Vec<Row>,
    /// Number of all rows.
    all_rows: usize,
    rounds: u32,
    readings: usize,
    stages: Vec<Stage>,
}

#[derive(Debug, Serialize)]
struct Row {
    series: u16,
    counts: Vec<f64>,
    readings: usize,
}

#[derive(Debug, Serialize)]
struct Stage {
    name: &'static str,
    question: &'static str,
}

impl Contents {
    /// The contents of a file.
    pub fn of(opened: &Opened) -> Contents {
        match opened {
            Opened::Result(_, remarks) => {
                Contents { kind: Kind::Result, remarks: remarks.clone(), table: None }
            }
            Opened::Table(table) => Contents {
                kind: table.kind,
                remarks: table.remarks.clone(),
                table: Some(Readings::of(&table.observations)),
            },
        }
    }
}

impl Readings {
    fn of(table: &Observations) -> Readings {
        let mut readings = vec![0; table.rows().len()];
        table.readings().iter().for_each(|one| readings[one.row as usize] += 1);
        let rows = table.rows().iter().zip(readings).take(MOST_ROWS);
        let row = |(row, readings): (&hairspring_core::observations::Row, usize)| Row {
            series: row.series,
            counts: row.counts.clone(),
            readings,
        };
        Readings {
            components: table.components().to_vec(),
            series: table.series_names().to_vec(),
            rows: rows.map(row).collect(),
            all_rows: table.rows().len(),
            rounds: table.rounds(),
            readings: table.readings().len(),
            stages: optional_stages()
                .into_iter()
                .map(|stage| Stage { name: stage.name, question: stage.question })
                .collect(),
        }
    }
}
