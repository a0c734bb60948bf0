//! Findings about the circumstances and the times of a fleet.

use crate::fleet::tell::MOST_HOURS;
use hairspring_core::judge::words::{counted, shortened};
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Circumstances that are not the same in all documents.
pub struct FleetMixed {
    pub what: String,
    pub values: Vec<String>,
}

impl Kind for FleetMixed {
    fn describe(self) -> Description {
        let FleetMixed { what, values } = self;
        Description {
            code: "fleet_mixed",
            message: format!(
                "the documents differ in {what} (with the number of each): {}",
                shortened(&values)
            ),
            numbers: numbers! { what, values },
            remedy: "the spread between machines contains this difference: use the same on all \
                     machines",
        }
    }
}

/// Names under which documents have other code.
pub struct CodeDiffers {
    pub series: Vec<String>,
}

impl Kind for CodeDiffers {
    fn describe(self) -> Description {
        let CodeDiffers { series } = self;
        Description {
            code: "code_differs",
            message: format!(
                "documents have other code under one name, and other code is not averaged: {}",
                shortened(&series)
            ),
            numbers: numbers! { series },
            remedy: "build one version for all machines, or give other code another name",
        }
    }
}

/// Documents that were made hours apart.
pub struct CreatedApart {
    pub documents: usize,
    pub hours: f64,
    pub file: String,
}

impl Kind for CreatedApart {
    fn describe(self) -> Description {
        let CreatedApart { documents, hours, file } = self;
        Description {
            code: "created_apart",
            message: format!(
                "{} made more than {MOST_HOURS} hours from the middle of all; the farthest by \
                 {hours:.0} hours: {file}",
                counted(documents as u64, "document was", "documents were")
            ),
            numbers: numbers! { documents, hours, file },
            remedy: "look at the clock of that machine; for jobs that waited there is nothing to \
                     do",
        }
    }
}

/// Machines without some of the series of their group.
pub struct SeriesMissing {
    pub machines: usize,
    pub file: String,
    pub series: Vec<String>,
}

impl Kind for SeriesMissing {
    fn describe(self) -> Description {
        let SeriesMissing { machines, file, series } = self;
        Description {
            code: "series_missing",
            message: format!(
                "{} series that others of the same shard have; the machine of {file} lacks: {}",
                counted(machines as u64, "machine lacks", "machines lack"),
                shortened(&series)
            ),
            numbers: numbers! { machines, file, series },
            remedy: "run the jobs of these machines again: their documents may be cut short",
        }
    }
}

/// Machines that have no time in the unit of a mean.
pub struct WithoutUnit {
    pub times: usize,
    pub series: Vec<String>,
}

impl Kind for WithoutUnit {
    fn describe(self) -> Description {
        let WithoutUnit { times, series } = self;
        Description {
            code: "without_unit",
            message: format!(
                "{} no interval in the unit of the mean, and the mean is without: {}",
                counted(times as u64, "time has", "times have"),
                shortened(&series)
            ),
            numbers: numbers! { times, series },
            remedy: "measure these machines again: without the reference chain there are no core \
                     cycles",
        }
    }
}

/// Times that are left out because they are not to be trusted.
pub struct UntrustedLeftOut {
    pub left_out: usize,
    pub times: usize,
}

impl Kind for UntrustedLeftOut {
    fn describe(self) -> Description {
        let UntrustedLeftOut { left_out, times } = self;
        Description {
            code: "untrusted_left_out",
            message: format!("{left_out} of {times} times are not to be trusted and are left out"),
            numbers: numbers! { left_out, times },
            remedy: "measure these machines again while nothing else runs there",
        }
    }
}

/// A machine that lies too far from the others.
pub struct OddMachine {
    pub family: String,
    pub file: String,
    pub reason: String,
    pub series: Vec<String>,
}

impl Kind for OddMachine {
    fn describe(self) -> Description {
        let OddMachine { family, file, reason, series } = self;
        Description {
            code: "odd_machine",
            message: format!(
                "the machine of {file} lies too far from the others of {family}: {reason}{}",
                among(&series)
            ),
            numbers: numbers! { family, file, reason, series },
            remedy: "look at its clock (governor, power limit, temperature) and its memory; leave \
                     it out where the mean is to be that of the others",
        }
    }
}

fn among(series: &[String]) -> String {
    if series.is_empty() { String::new() } else { format!("; in {}", shortened(series)) }
}
