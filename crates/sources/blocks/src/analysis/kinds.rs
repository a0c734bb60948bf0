//! Findings about the blocks of a function, in addition to the core's findings about any table.

use hairspring_core::judge::words::{in_percent, shortened};
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Doubts about times of blocks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum BlocksFinding {
    /// The times of the parts do not add up to those of the rows.
    NotAdditive { explained_percent: Option<f64>, departure_percent: Option<f64> },
    /// Parts are surely negative, but make up little of a call.
    NegativeParts { parts: Vec<String>, share_percent: f64 },
    /// Too few rounds to show how noise lasts.
    FewRounds { rounds: u32 },
    /// Rows depart from the sum of their parts, and the time of some parts may depend on the data.
    DependsOnData { blocks: Vec<String>, departure_percent: f64, lack_of_fit_f: f64 },
    /// Calls take longer than their parts, as these were timed in place of the whole.
    TimeInNoPart { low_percent: f64, high_percent: f64 },
    /// Parts take longer than the calls that they are parts of.
    PartsBeyondCall { low_percent: f64, high_percent: f64 },
}

impl Kind for BlocksFinding {
    fn describe(self) -> Description {
        match self {
            BlocksFinding::NotAdditive { explained_percent, departure_percent } => Description {
                code: "not_additive",
                numbers: numbers! { explained_percent, departure_percent },
                message: format!(
                    "the parts do not add up: {}",
                    not_additive(explained_percent, departure_percent)
                ),
                remedy: "times of single parts are meaningless here (the core overlaps them, or \
                         the time depends on the data): use the coarser parts, or solve for edges",
            },
            BlocksFinding::FewRounds { rounds } => Description {
                code: "few_rounds",
                numbers: numbers! { rounds },
                message: format!(
                    "only {rounds} rounds: noise that lasts for some of them moves all times \
                     together, and the intervals are too narrow"
                ),
                remedy: "measure longer, or with fewer inputs",
            },
            BlocksFinding::NegativeParts { parts, share_percent } => Description {
                code: "negative_parts",
                message: format!(
                    "below zero by more than the interval at the level of all parts together: {} \
                     ({} of a call)",
                    shortened(&parts),
                    in_percent(share_percent)
                ),
                numbers: numbers! { parts, share_percent },
                remedy: "the missing time is counted to parts with the same count: read the times \
                         of short parts with this in mind",
            },
            BlocksFinding::TimeInNoPart { low_percent, high_percent } => {
                time_in_no_part(low_percent, high_percent)
            }
            BlocksFinding::PartsBeyondCall { low_percent, high_percent } => {
                parts_beyond_call(low_percent, high_percent)
            }
            BlocksFinding::DependsOnData { blocks, departure_percent, lack_of_fit_f } => {
                depends_on_data(blocks, departure_percent, lack_of_fit_f)
            }
        }
    }
}

fn not_additive(explained: Option<f64>, departure: Option<f64>) -> String {
    let explains = match explained {
        // Rounded down, so that 100 % means all of it.
        Some(share) if share > 0.0 => format!("explains {:.2} %", (share * 100.0).floor() / 100.0),
        Some(_) => "explains nothing".to_owned(),
        None => "has little to explain".to_owned(),
    };
    match departure {
        Some(departure) => format!(
            "their sum {explains} of the variation between rows and departs from them by {}",
            in_percent(departure)
        ),
        None => "the time of a part came out negative".to_owned(),
    }
}

fn time_in_no_part(low_percent: f64, high_percent: f64) -> Description {
    Description {
        code: "time_in_no_part",
        message: format!(
            "between {} and {} of the time of a whole call is in none of its parts",
            in_percent(low_percent),
            in_percent(high_percent)
        ),
        numbers: numbers! { low_percent, high_percent },
        remedy: "parts run on data that is in the caches and with branches that are predicted, \
                 and what runs rarely may be in none of them: take more parts (--parts), or look \
                 for what the whole call waits for",
    }
}

fn parts_beyond_call(low_percent: f64, high_percent: f64) -> Description {
    Description {
        code: "parts_beyond_call",
        message: format!(
            "the parts take {} to {} of the time of a whole call together, which cannot be",
            in_percent(low_percent),
            in_percent(high_percent)
        ),
        numbers: numbers! { low_percent, high_percent },
        remedy: "the rows tell a part only from rows of few trips, which show its latency: take \
                 more parts, or parts that begin at another block",
    }
}

fn depends_on_data(blocks: Vec<String>, departure_percent: f64, lack_of_fit_f: f64) -> Description {
    Description {
        code: "depends_on_data",
        message: format!(
            "calls depart from the sum of their blocks by {}, more than noise explains (F = \
             {lack_of_fit_f:.1}), and the time of some blocks may depend on the data: {}",
            in_percent(departure_percent),
            shortened(&blocks)
        ),
        numbers: numbers! { blocks, departure_percent, lack_of_fit_f },
        remedy: "time that depends on the data may be attributed to another block whose count \
                 varies with it: give these calls similar data, or end calls before such a block \
                 to measure it alone",
    }
}
