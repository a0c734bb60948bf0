//! What an event costs over time: events per second against the share of the CPU that they take (Muller, Figure 21).

use crate::estimate::Estimate;

/// The cost of events of one kind at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Events per second.
    pub per_second: f64,
    /// Time that they take in every second, in nanoseconds.
    pub ns_per_second: Estimate,
    /// That time as a share of one CPU; above 1 the CPU cannot serve them.
    pub share: Estimate,
}

impl Load {
    /// The cost of so many events per second, each of which takes this time in nanoseconds.
    ///
    /// ```
    /// use hairspring_core::{Estimate, load::Load};
    /// let switch = Estimate { value: 10_000.0, low: 9_000.0, high: 11_000.0, level: 0.95 };
    /// assert_eq!(Load::new(&switch, 5_000.0).share.value, 0.05);
    /// ```
    pub fn new(event_ns: &Estimate, per_second: f64) -> Load {
        let ns_per_second = event_ns.scaled(per_second);
        Load { per_second, ns_per_second, share: ns_per_second.scaled(1e-9) }
    }
}

/// A table of loads: a row for each rate, in it a load for each event.
pub fn table(events_ns: &[Estimate], rates: &[f64]) -> Vec<Vec<Load>> {
    let row = |rate: &f64| events_ns.iter().map(|event| Load::new(event, *rate)).collect();
    rates.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(value: f64) -> Estimate {
        Estimate { value, low: value, high: value, level: 0.95 }
    }

    /// The cells as Figure 21 prints them.
    fn cells(row: &[Load]) -> Vec<String> {
        row.iter().flat_map(|load| [format!("{}ms", load.ns_per_second.value * 1e-6), format!("{}%", load.share.value * 100.0)]).collect()
    }

    #[test]
    fn figure_21_is_made_again_to_the_digit() {
        let table = table(&[exactly(10_000.0), exactly(2_000.0)], &[500.0, 5_000.0, 50_000.0]);
        let printed: Vec<Vec<String>> = table.iter().map(|row| cells(row)).collect();
        assert_eq!(printed, [["5ms", "0.5%", "1ms", "0.1%"], ["50ms", "5%", "10ms", "1%"], ["500ms", "50%", "100ms", "10%"]]);
    }

    #[test]
    fn interval_of_the_event_becomes_that_of_the_share() {
        let load = Load::new(&Estimate { value: 10_000.0, low: 8_000.0, high: 12_000.0, level: 0.9 }, 200_000.0);
        assert_eq!((load.share.low, load.share.value, load.share.high, load.share.level), (1.6, 2.0, 2.4000000000000004, 0.9));
    }
}
