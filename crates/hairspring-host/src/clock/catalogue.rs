//! All clocks of the machine by name.

use super::{Clock, arch, os};
use crate::error::{Error, Result};

/// Every clock known for this system; one that is not available comes with the reason.
pub fn catalogue() -> Vec<(Clock, std::result::Result<(), String>)> {
    arch::clocks().into_iter().chain(os::clocks()).collect()
}

/// The best clock here: the ordered time stamp counter where there is one, else the system's monotonic clock.
pub fn default_clock() -> Clock {
    let first = |all: Vec<(Clock, std::result::Result<(), String>)>| all.into_iter().find(|(_, available)| available.is_ok());
    // The system is asked only where the CPU offers nothing: some of its clocks are costly to look for.
    let found = first(arch::clocks()).or_else(|| first(os::clocks())).map(|(clock, _)| clock);
    found.unwrap_or(Clock { nominal_hz: Some(1e9), ..Clock::new("wall", "the system's monotonic clock", os::wall_ns) })
}

/// The clock of that name, enabled in the calling thread and seen to count.
///
/// # Errors
/// Says why it is not available, and which are.
pub fn find(name: &str) -> Result<Clock> {
    let all = catalogue();
    let available: Vec<&str> = all.iter().filter(|(_, available)| available.is_ok()).map(|(clock, _)| clock.name).collect();
    let reason = match all.iter().find(|(clock, _)| clock.name == name) {
        Some((clock, Ok(()))) => return clock.ready().map(|()| *clock),
        Some((_, Err(reason))) => reason.clone(),
        None => "no clock has that name".to_owned(),
    };
    Err(Error::ClockUnavailable { name: name.to_owned(), reason, available: available.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_available_clock_can_be_read_and_does_not_stand_still_forever() {
        for (clock, available) in catalogue() {
            if available.is_ok() {
                clock.ready().unwrap();
                let (first, second) = ((clock.read)(), (clock.read)());
                assert!(second >= first, "{}", clock.name);
            }
        }
    }

    #[test]
    fn a_clock_that_is_not_there_is_answered_with_those_that_are() {
        let message = find("sundial").unwrap_err().to_string();
        assert!(message.contains("sundial") && message.contains("monotonic"), "{message}");
    }
}
