//! All clocks of the machine, by name.

use super::{Clock, arch, os};
use crate::error::{Error, Result};

/// Every known clock; a clock that is not available here has the reason.
pub fn catalogue() -> Vec<(Clock, std::result::Result<(), String>)> {
    arch::clocks().into_iter().chain(os::clocks()).collect()
}

/// The clock of that name, enabled in the calling thread and checked to count.
///
/// # Errors
/// [`Error::ClockUnavailable`] with the reason and the available clocks, or an error of
/// [`Clock::ready`].
pub fn find(name: &str) -> Result<Clock> {
    let all_clocks = catalogue();
    let available: Vec<&str> = all_clocks
        .iter()
        .filter(|(_, available)| available.is_ok())
        .map(|(clock, _)| clock.name)
        .collect();
    let reason = match all_clocks.iter().find(|(clock, _)| clock.name == name) {
        Some((clock, Ok(()))) => return clock.ready().map(|()| *clock),
        Some((_, Err(reason))) => reason.clone(),
        None => "there is no clock of this name".to_owned(),
    };
    Err(Error::ClockUnavailable { name: name.to_owned(), reason, available: available.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_available_clock_counts() {
        for (clock, available) in catalogue() {
            if available.is_ok() {
                clock.ready().unwrap();
                let (first, second) = ((clock.read)(), (clock.read)());
                assert!(second >= first, "{}", clock.name);
            }
        }
    }

    #[test]
    fn error_for_an_unknown_clock_lists_the_available_ones() {
        let message = find("sundial").unwrap_err().to_string();
        assert!(message.contains("sundial") && message.contains("monotonic"), "{message}");
    }
}
