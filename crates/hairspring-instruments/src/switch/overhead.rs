//! The share of the CPU that switches take at a rate (Muller, Figure 21): `n * t`.

use hairspring_core::Estimate;

/// The rates of Muller's Figure 21, in switches per second.
pub const RATES: [f64; 3] = [500.0, 5_000.0, 50_000.0];

/// What switches take at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overhead {
    /// Switches per second.
    pub per_second: f64,
    /// Time of all switches of a second, in nanoseconds. More than a second means that the rate cannot be reached.
    pub ns: Estimate,
}

impl Overhead {
    /// The share of the CPU in percent.
    pub fn percent(&self) -> Estimate {
        // Divided, because 1e-7 is no exact number, and 0.1 % would not be 0.1.
        const ONE: f64 = 1e7;
        Estimate { value: self.ns.value / ONE, low: self.ns.low / ONE, high: self.ns.high / ONE, ..self.ns }
    }

    /// Whether a second has time for so many switches.
    pub fn fits(&self) -> bool {
        self.ns.low <= 1e9
    }
}

/// The table for a switch that takes this time in nanoseconds.
pub fn overhead(switch_ns: &Estimate, rates: &[f64]) -> Vec<Overhead> {
    rates.iter().map(|rate| Overhead { per_second: *rate, ns: switch_ns.scaled(*rate) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(us: f64) -> Estimate {
        Estimate { value: us * 1e3, low: us * 1e3, high: us * 1e3, level: 0.95 }
    }

    /// Milliseconds in a second and percent, as the figure prints them.
    fn printed(us: f64) -> Vec<(String, String)> {
        let cells = |one: &Overhead| (format!("{}ms", one.ns.value / 1e6), format!("{}%", one.percent().value));
        overhead(&exactly(us), &RATES).iter().map(cells).collect()
    }

    #[test]
    fn figure_21_to_the_digit() {
        let figure = |cells: [(&str, &str); 3]| cells.map(|(ms, percent)| (ms.to_owned(), percent.to_owned())).to_vec();
        assert_eq!(printed(10.0), figure([("5ms", "0.5%"), ("50ms", "5%"), ("500ms", "50%")]));
        assert_eq!(printed(2.0), figure([("1ms", "0.1%"), ("10ms", "1%"), ("100ms", "10%")]));
    }

    #[test]
    fn intervals_follow_and_rates_that_no_second_has_time_for_show() {
        let switch = Estimate { value: 30e3, low: 25e3, high: 35e3, level: 0.95 };
        let table = overhead(&switch, &[1_000.0, 50_000.0]);
        assert_eq!((table[0].percent().low, table[0].percent().high), (2.5, 3.5));
        assert_eq!((table[0].fits(), table[1].fits()), (true, false));
    }
}
