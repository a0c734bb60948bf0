//! Making a clock ready: enabling it where that is needed, and seeing that it counts.

use super::{Clock, Counter, os};
use crate::error::{Error, Result};

/// Time without a tick after which a counter counts as standing still, in nanoseconds of the wall clock: several ticks
/// of the slowest clock that a system offers.
const PATIENCE_NS: u64 = 60_000_000;

/// Whether a counter is there and does not count: it reads the same for 60 ms. One that counts is found to at once.
pub fn stands_still(counter: impl Into<Counter>) -> bool {
    let Counter { read, .. } = counter.into();
    let (begin, first) = (os::wall_ns(), read());
    loop {
        if read() != first {
            return false;
        }
        if os::wall_ns().saturating_sub(begin) > PATIENCE_NS {
            // The thread may have been away for all of that time.
            return read() == first;
        }
    }
}

impl Clock {
    /// Enables the clock in the calling thread where that is needed, and sees that it counts. To be called in every
    /// thread that reads the clock, before it does.
    ///
    /// # Errors
    /// [`Error::Refused`] where it cannot be enabled, or is there and does not count.
    pub fn ready(&self) -> Result<()> {
        let what = || format!("clock `{}` cannot be used", self.name);
        if let Some(enable) = self.enable {
            enable().map_err(|reason| Error::Refused { what: what(), reason })?;
        }
        if stands_still(self) {
            let reason = format!(
                "it is there, but it does not count: it read {} for {} ms; another program or the system must enable it, \
                 or it stops while the core sleeps",
                (self.read)(),
                PATIENCE_NS / 1_000_000
            );
            return Err(Error::Refused { what: what(), reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake;

    #[test]
    fn a_counter_that_is_there_and_does_not_count_is_refused() {
        fake::set(fake::Settings { per_read: 0, ..fake::Settings::default() });
        let message = fake::clock(64).ready().unwrap_err().to_string();
        assert!(message.contains("does not count") && message.contains("`fake`"), "{message}");
    }

    #[test]
    fn a_counter_that_must_be_enabled_stands_still_until_it_is() {
        fake::set(fake::Settings { needs_enabling: true, ..fake::Settings::default() });
        let clock = fake::clock(32);
        assert!(super::stands_still(&clock));
        clock.ready().unwrap();
        assert!(!super::stands_still(&clock));
    }

    #[test]
    fn a_counter_that_may_not_be_enabled_says_why() {
        fake::set(fake::Settings { needs_enabling: true, refuses: true, ..fake::Settings::default() });
        let message = fake::clock(32).ready().unwrap_err().to_string();
        assert!(message.contains("kernel does not allow"), "{message}");
    }
}
