//! Making a clock ready: enabling it if necessary, and checking that it counts.

use super::{Clock, Counter, arch, os};
use crate::error::{Error, Result};

/// Time without a tick after which a counter counts as standing still, in nanoseconds of the wall
/// clock: several ticks of the slowest clock that a system offers.
const PATIENCE_NS: u64 = 60_000_000;

/// Whether a counter does not count: its reading does not change for 60 ms. Returns at the first
/// change.
pub fn stands_still(counter: impl Into<Counter>) -> bool {
    let Counter { read, .. } = counter.into();
    let (begin, first) = (os::wall_ns(), read());
    loop {
        if read() != first {
            return false;
        }
        if os::wall_ns().saturating_sub(begin) > PATIENCE_NS {
            // The thread may have been switched out for all of that time.
            return read() == first;
        }
    }
}

impl Clock {
    /// Enables the clock in the calling thread if necessary, and checks that it counts. Call this
    /// in every thread before it reads the clock.
    ///
    /// # Errors
    /// [`Error::Refused`] if it cannot be enabled or does not count.
    pub fn ready(&self) -> Result<()> {
        let failure = || format!("clock `{}` cannot be used", self.name);
        if let Some(enable) = self.enable {
            enable().map_err(|reason| Error::Refused { what: failure(), reason })?;
        }
        let refused = |reason| Error::Refused { what: failure(), reason };
        if arch::attempt(|| stands_still(self)).map_err(refused)? {
            let reason = format!(
                "it exists, but it does not count: it read {} for {} ms; another program or the \
                 system must enable it, or it stops while the core sleeps",
                (self.read)(),
                PATIENCE_NS / 1_000_000
            );
            return Err(Error::Refused { what: failure(), reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake;

    #[test]
    fn counter_that_does_not_count_is_refused() {
        fake::set(fake::Settings { per_read: 0, ..fake::Settings::default() });
        let message = fake::clock(64).ready().unwrap_err().to_string();
        assert!(message.contains("does not count") && message.contains("`fake`"), "{message}");
    }

    #[test]
    fn counter_stands_still_until_it_is_enabled() {
        fake::set(fake::Settings { needs_enabling: true, ..fake::Settings::default() });
        let clock = fake::clock(32);
        assert!(super::stands_still(&clock));
        clock.ready().unwrap();
        assert!(!super::stands_still(&clock));
    }

    #[test]
    fn error_states_why_a_counter_cannot_be_enabled() {
        fake::set(fake::Settings {
            needs_enabling: true,
            refuses: true,
            ..fake::Settings::default()
        });
        let message = fake::clock(32).ready().unwrap_err().to_string();
        assert!(message.contains("kernel does not allow"), "{message}");
    }
}
