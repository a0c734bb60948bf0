//! All clocks of the machine by name.

use super::{Clock, arch, os};
use crate::error::{Error, Result};

/// Every clock known for this system; one that is not available comes with the reason.
pub fn catalogue() -> Vec<(Clock, std::result::Result<(), String>)> {
    arch::clocks().into_iter().chain(os::clocks()).collect()
}

/// The best clock here: the ordered time stamp counter where there is one, else the system's monotonic clock.
pub fn default_clock() -> Clock {
    let mut usable = catalogue().into_iter().filter(|(_, available)| available.is_ok()).map(|(clock, _)| clock);
    let first = usable.next();
    first.unwrap_or(Clock { name: "wall", description: "the system's monotonic clock", read: os::wall_ns, nominal_hz: Some(1e9) })
}

/// The clock of that name.
///
/// # Errors
/// Says why it is not available, and which are.
pub fn find(name: &str) -> Result<Clock> {
    let all = catalogue();
    let available: Vec<&str> = all.iter().filter(|(_, available)| available.is_ok()).map(|(clock, _)| clock.name).collect();
    let reason = match all.iter().find(|(clock, _)| clock.name == name) {
        Some((clock, Ok(()))) => return Ok(*clock),
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
