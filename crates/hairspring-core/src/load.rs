//! What an event costs over time: events per second against the share of the CPU that they take
//! (Muller, Figure 21).

use crate::estimate::Estimate;

/// The rates of Muller's Figure 21, in events per second.
pub const RATES: [f64; 3] = [500.0, 5_000.0, 50_000.0];

/// The cost of events of one kind at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Events per second.
    pub per_second: f64,
    /// Time that they take in every second, in nanoseconds.
    pub ns_per_second: Estimate,
}

impl Load {
    /// The cost of so many events per second, each of which takes this time in nanoseconds.
    ///
    /// ```
    /// use hairspring_core::{Estimate, load::Load};
    /// let switch = Estimate { value: 10_000.0, low: 9_000.0, high: 11_000.0, level: 0.95 };
    /// let load = Load::new(&switch, 5_000.0);
    /// assert_eq!((load.percent().low, load.percent().value, load.fits()), (4.5, 5.0, true));
    /// ```
    pub fn new(event_ns: &Estimate, per_second: f64) -> Load {
        Load { per_second, ns_per_second: event_ns.scaled(per_second) }
    }

    /// The share of one CPU in percent.
    pub fn percent(&self) -> Estimate {
        // Divided, because 1e-7 is no exact number, and 0.1 % would not be 0.1.
        const UNITS_OF_ONE: f64 = 1e7;
        let Estimate { value, low, high, level } = self.ns_per_second;
        Estimate {
            value: value / UNITS_OF_ONE,
            low: low / UNITS_OF_ONE,
            high: high / UNITS_OF_ONE,
            level,
        }
    }

    /// Whether a second has time for so many events.
    pub fn fits(&self) -> bool {
        self.ns_per_second.low <= 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds in a second and percent at each rate, as Figure 21 prints them.
    fn printed(event_ns: f64) -> [String; 3] {
        let event = Estimate { value: event_ns, low: event_ns, high: event_ns, level: 0.95 };
        RATES.map(|rate| {
            let load = Load::new(&event, rate);
            format!("{}ms {}%", load.ns_per_second.value / 1e6, load.percent().value)
        })
    }

    #[test]
    fn figure_21_is_made_again_to_the_digit() {
        assert_eq!(printed(10_000.0), ["5ms 0.5%", "50ms 5%", "500ms 50%"]);
        assert_eq!(printed(2_000.0), ["1ms 0.1%", "10ms 1%", "100ms 10%"]);
    }

    #[test]
    fn intervals_follow_and_rates_that_no_second_has_time_for_show() {
        let switch = Estimate { value: 30e3, low: 25e3, high: 35e3, level: 0.9 };
        let [seldom, often] = [1_000.0, 50_000.0].map(|rate| Load::new(&switch, rate));
        assert_eq!(
            (seldom.percent().low, seldom.percent().high, seldom.percent().level),
            (2.5, 3.5, 0.9)
        );
        assert_eq!((seldom.fits(), often.fits()), (true, false));
    }
}
