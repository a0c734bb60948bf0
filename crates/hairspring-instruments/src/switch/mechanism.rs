//! The ways in which two sides hand the CPU to each other.

/// A way to wake the other side and to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// A word in shared memory.
    Futex,
    /// Two pipes.
    Pipe,
    /// Two event descriptors.
    Eventfd,
    /// Two signals that are waited for.
    Signal,
    /// The CPU is given up and no one is woken.
    Yield,
}

/// All mechanisms, in the order in which they are shown.
pub const ALL: [Mechanism; 5] =
    [Mechanism::Futex, Mechanism::Pipe, Mechanism::Eventfd, Mechanism::Signal, Mechanism::Yield];

impl Mechanism {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Futex => "futex",
            Mechanism::Pipe => "pipe",
            Mechanism::Eventfd => "eventfd",
            Mechanism::Signal => "signal",
            Mechanism::Yield => "yield",
        }
    }

    /// The system calls of one side for one switch. The baseline makes the same calls in one
    /// process, where nobody waits.
    pub fn calls(self) -> &'static str {
        match self {
            Mechanism::Futex => "futex wake, futex wait",
            Mechanism::Pipe | Mechanism::Eventfd => "write, read",
            Mechanism::Signal => "tgkill, sigwait",
            Mechanism::Yield => "sched_yield",
        }
    }

    /// The mechanism of that name.
    ///
    /// # Errors
    /// A message with the known names.
    pub fn from_name(name: &str) -> Result<Mechanism, String> {
        let name = if name == "sched_yield" { "yield" } else { name };
        let names = || ALL.map(Mechanism::name).join(", ");
        ALL.into_iter()
            .find(|one| one.name() == name)
            .ok_or_else(|| format!("unknown mechanism; known are {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_is_found_by_its_name() {
        assert!(
            ALL.into_iter()
                .all(|one| Mechanism::from_name(one.name()) == Ok(one) && !one.calls().is_empty())
        );
        assert_eq!(Mechanism::from_name("sched_yield"), Ok(Mechanism::Yield));
        let message = Mechanism::from_name("smoke").unwrap_err();
        assert!(ALL.iter().all(|one| message.contains(one.name())), "{message}");
    }
}
