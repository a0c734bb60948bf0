//! Whether two readings of a clock belong together, where every core has a counter of its own and perf can take it.

use super::{Clock, CounterWatch, CountsWhen};
use crate::thread::current_cpu;

/// Watches the counter of a core between two readings by one thread.
#[derive(Debug)]
pub struct CoreWatch {
    cpu: usize,
    counter: Option<CounterWatch>,
}

impl CoreWatch {
    /// Begins to watch; `None` for a clock that is the same on all CPUs.
    pub fn start(clock: &Clock) -> Option<CoreWatch> {
        (clock.counts == CountsWhen::WhileCoreRuns).then(|| CoreWatch { cpu: current_cpu(), counter: CounterWatch::start() })
    }

    /// Watches from now on, on the CPU that the thread is on now.
    pub fn restart(&mut self) {
        self.cpu = current_cpu();
        self.is_counter_lost();
    }

    /// What came between a reading now and one at the start, or at the call before.
    ///
    /// # Errors
    /// The reason why the two readings have nothing to do with each other, with what to do.
    pub fn belongs(&mut self) -> Result<(), String> {
        let before = std::mem::replace(&mut self.cpu, current_cpu());
        if before != self.cpu {
            let _ = self.is_counter_lost(); // the other counter's
            return Err(format!(
                "the thread went from CPU {before} to CPU {}, and each core has a counter of its own: bind the thread to a CPU, or choose \
                 another clock",
                self.cpu
            ));
        }
        if self.is_counter_lost() {
            return Err(
                "something else, such as perf, took or changed the cycle counter meanwhile: end it, or choose another clock".to_owned()
            );
        }
        Ok(())
    }

    fn is_counter_lost(&mut self) -> bool {
        self.counter.as_mut().is_some_and(|counter| !counter.is_intact())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::fake;
    use crate::thread::{allowed_cpus, pin};

    #[test]
    fn only_a_counter_of_the_core_is_watched() {
        assert!(CoreWatch::start(&fake::clock(64)).is_none());
    }

    #[test]
    fn readings_on_two_cpus_do_not_belong_together() {
        let (Some(first), Some(last)) = (allowed_cpus().first().copied(), allowed_cpus().last().copied()) else { return };
        // A thread of its own, because it is bound.
        let seen = std::thread::spawn(move || {
            pin(first).unwrap();
            let mut watch = CoreWatch::start(&Clock { counts: CountsWhen::WhileCoreRuns, ..fake::clock(64) }).unwrap();
            let same = watch.belongs();
            pin(last).unwrap();
            [same, watch.belongs(), watch.belongs()]
        });
        let [same, moved, again] = seen.join().unwrap();
        assert_eq!((same, again), (Ok(()), Ok(())));
        let expected = format!("from CPU {first} to CPU {last}");
        assert!(first == last || moved.unwrap_err().contains(&expected));
    }

    #[test]
    fn counter_that_something_else_took_makes_readings_worthless() {
        let path = std::env::temp_dir().join(format!("hairspring-watch-{}", std::process::id()));
        let cpu = allowed_cpus()[0];
        let says = |what: &str| std::fs::write(&path, format!("cpu {cpu}: on, disturbed {what} times, powered down 0 times\n")).unwrap();
        let path = &path;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                pin(cpu).unwrap();
                says("0");
                let mut watch = CoreWatch { cpu, counter: CounterWatch::of(path) };
                assert_eq!(watch.belongs(), Ok(()));
                says("1");
                assert!(watch.belongs().unwrap_err().contains("such as perf"));
                says("2");
                watch.restart();
                assert_eq!(watch.belongs(), Ok(()));
            });
        });
        std::fs::remove_file(path).unwrap();
    }
}
