//! Whether two readings of a clock belong together, where every core has a counter of its own and
//! perf can take it.

use super::module::Loss;
use super::{Clock, CounterWatch, CountsWhen, ReadFn};
use crate::interference::all_switches;
use crate::thread::{allowed_cpus, current_cpu};

/// Watches the counter of a core between two readings by one thread.
#[derive(Debug)]
pub struct CoreWatch {
    counter: Watched,
}

#[derive(Debug)]
enum Watched {
    /// The counter of the core itself, on which the thread must stay.
    OfCore { place: Place, module: Option<CounterWatch> },
    /// perf's, which follows the thread and reads 0 while something else has the counter.
    OfThread { read: ReadFn },
}

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    cpu: usize,
    /// How often it was switched out before and after this look at the CPU.
    switches: [u64; 2],
    /// It may run on this CPU alone.
    is_bound: bool,
}

impl Place {
    fn now() -> Place {
        let before = all_switches();
        let cpu = current_cpu();
        Place { cpu, switches: [before, all_switches()], is_bound: allowed_cpus().len() == 1 }
    }

    /// Whether all readings between two looks were on one CPU. A thread changes its CPU only while
    /// it is switched out, so that it takes two switches to go to another one and come back.
    ///
    /// # Errors
    /// It was on two CPUs, or may have been.
    fn stayed(self, now: Place) -> Result<(), String> {
        const REMEDY: &str =
            "each core has a counter of its own: bind the thread to a CPU, or choose another clock";
        let switches = now.switches[1].saturating_sub(self.switches[0]);
        if self.cpu != now.cpu {
            return Err(format!(
                "the thread went from CPU {} to CPU {}, and {REMEDY}",
                self.cpu, now.cpu
            ));
        }
        if switches < 2 || self.is_bound && now.is_bound {
            return Ok(());
        }
        Err(format!(
            "the thread was switched out {switches} times and may have read on another CPU than \
             CPU {}, and {REMEDY}",
            now.cpu
        ))
    }
}

impl CoreWatch {
    /// Begins to watch; `None` for a clock that nothing can take from the thread.
    pub fn start(clock: &Clock) -> Option<CoreWatch> {
        let counter = match clock.counts {
            CountsWhen::WhileCoreRuns => {
                Watched::OfCore { place: Place::now(), module: CounterWatch::start() }
            }
            CountsWhen::WhileThreadRuns => Watched::OfThread { read: clock.read },
            CountsWhen::Always | CountsWhen::WhileProcessRuns => return None,
        };
        Some(CoreWatch { counter })
    }

    /// Watches from now on, on the CPU that the thread is on now.
    pub fn restart(&mut self) {
        if let Watched::OfCore { place, module } = &mut self.counter {
            loss(module); // first: if the thread moves here, the move is seen
            *place = Place::now();
        }
    }

    /// What came between a reading now and one at the start, or at the call before.
    ///
    /// # Errors
    /// The reason why the two readings have nothing to do with each other, with what to do.
    pub fn belongs(&mut self) -> Result<(), String> {
        match &mut self.counter {
            Watched::OfCore { place, module } => same_core(place, module),
            Watched::OfThread { read } => still_there(*read),
        }
    }
}

fn same_core(place: &mut Place, module: &mut Option<CounterWatch>) -> Result<(), String> {
    let now = Place::now();
    let before = std::mem::replace(place, now);
    let loss = loss(module); // after a move it is the other counter's, which is seen from now on
    before.stayed(now)?;
    match loss {
        None => Ok(()),
        Some(Loss::Taken) => {
            Err("something else, such as perf, took or changed the cycle counter meanwhile: end \
                 it, or choose another clock"
                .to_owned())
        }
        Some(Loss::PoweredDown) => {
            Err("the core was switched off meanwhile, in a deep idle state or as a CPU that went \
                 offline, and its cycle counter with it: time code that does not wait, keep the \
                 core awake (cpupower idle-set -D 0), or choose another clock"
                .to_owned())
        }
    }
}

fn loss(module: &mut Option<CounterWatch>) -> Option<Loss> {
    module.as_mut().and_then(CounterWatch::loss)
}

/// A pinned event that has lost the counter does not get it back.
fn still_there(read: ReadFn) -> Result<(), String> {
    if read() != 0 {
        return Ok(());
    }
    Err("the counter of this thread reads 0: something else, such as perf or a watchdog, has taken \
         it, or it was not enabled in this thread: end what took it and begin anew, or choose \
         another clock"
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::fake;
    use crate::thread::{allowed_cpus, pin};

    #[test]
    fn only_a_counter_that_can_be_taken_is_watched() {
        assert!(CoreWatch::start(&fake::clock(64)).is_none());
    }

    #[test]
    fn counter_of_the_thread_that_reads_nothing_makes_readings_worthless() {
        fake::set(fake::Settings::default());
        let mut watch =
            CoreWatch::start(&Clock { counts: CountsWhen::WhileThreadRuns, ..fake::clock(64) })
                .unwrap();
        fake::advance(100);
        assert_eq!(watch.belongs(), Ok(()));
        // The fake clock reads 0 until it is enabled.
        fake::set(fake::Settings { needs_enabling: true, ..fake::Settings::default() });
        watch.restart();
        assert!(watch.belongs().unwrap_err().contains("reads 0"));
    }

    #[test]
    fn readings_on_two_cpus_do_not_belong_together() {
        let _alone = crate::thread::alone();
        let (Some(first), Some(last)) =
            (allowed_cpus().first().copied(), allowed_cpus().last().copied())
        else {
            return;
        };
        // A thread of its own, because it is bound.
        let watching_thread = std::thread::spawn(move || {
            pin(first).unwrap();
            let mut watch =
                CoreWatch::start(&Clock { counts: CountsWhen::WhileCoreRuns, ..fake::clock(64) })
                    .unwrap();
            let same = watch.belongs();
            pin(last).unwrap();
            [same, watch.belongs(), watch.belongs()]
        });
        let [same, moved, again] = watching_thread.join().unwrap();
        assert_eq!((same, again), (Ok(()), Ok(())));
        let expected = format!("from CPU {first} to CPU {last}");
        assert!(first == last || moved.unwrap_err().contains(&expected));
    }

    #[test]
    fn thread_that_may_have_been_elsewhere_between_is_not_trusted() {
        let at = |cpu, switches, is_bound| Place { cpu, switches: [switches; 2], is_bound };
        assert_eq!(
            at(2, 7, false).stayed(at(2, 8, false)),
            Ok(()),
            "one switch brings it away or back, not both"
        );
        let away = at(2, 7, false).stayed(at(2, 9, false)).unwrap_err();
        assert!(
            away.contains("switched out 2 times")
                && away.contains("CPU 2")
                && away.contains("bind the thread"),
            "{away}"
        );
        assert_eq!(at(2, 7, true).stayed(at(2, 900, true)), Ok(()));
        assert!(at(2, 7, true).stayed(at(2, 9, false)).is_err(), "it was let go meanwhile");
        assert!(at(2, 7, true).stayed(at(3, 7, true)).unwrap_err().contains("from CPU 2 to CPU 3"));
    }

    #[test]
    fn thread_that_went_away_and_came_back_is_seen() {
        let _alone = crate::thread::alone();
        let cpus = allowed_cpus();
        let &[first, .., last] = cpus.as_slice() else { return };
        let watching_thread = std::thread::spawn(move || {
            let mut watch =
                CoreWatch::start(&Clock { counts: CountsWhen::WhileCoreRuns, ..fake::clock(64) })
                    .unwrap();
            let back = current_cpu();
            let away = if back == last { first } else { last };
            pin(away).and_then(|()| pin(back)).unwrap();
            watch.belongs()
        });
        assert!(watching_thread.join().unwrap().is_err());
    }

    #[test]
    fn counter_that_something_else_took_makes_readings_worthless() {
        let _alone = crate::thread::alone();
        let path = std::env::temp_dir().join(format!("hairspring-watch-{}", std::process::id()));
        let cpu = allowed_cpus()[0];
        let says = |disturbed: &str, powered: &str| {
            std::fs::write(
                &path,
                format!(
                    "cpu {cpu}: on, disturbed {disturbed} times, powered down {powered} times\n"
                ),
            )
            .unwrap();
        };
        let path = &path;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                pin(cpu).unwrap();
                says("0", "0");
                let mut watch = CoreWatch {
                    counter: Watched::OfCore {
                        place: Place::now(),
                        module: CounterWatch::of(path),
                    },
                };
                assert_eq!(watch.belongs(), Ok(()));
                says("1", "0");
                assert!(watch.belongs().unwrap_err().contains("such as perf"));
                says("2", "0");
                watch.restart();
                assert_eq!(watch.belongs(), Ok(()));
                says("2", "1");
                let asleep = watch.belongs().unwrap_err();
                assert!(asleep.contains("idle state") && !asleep.contains("perf"), "{asleep}");
            });
        });
        std::fs::remove_file(path).unwrap();
    }
}
