//! Code that starts threads. It is the only test of its process, because threads of other tests
//! would count as the code's.

use hairspring::{Seating, Settings, measure_with, opaque};
use std::time::Duration;

#[test]
fn threads_of_the_code_are_said() {
    let spawn = || std::thread::scope(|scope| scope.spawn(|| opaque(3u64)).join());
    for (seating, code) in [(Seating::Pinned, "threads"), (Seating::Threads, "unbound")] {
        let settings =
            Settings { seating, budget: Duration::from_millis(30), ..Settings::default() };
        let measurement = measure_with(&settings, "thread", spawn).unwrap();
        let found_codes: Vec<&str> =
            measurement.findings().iter().map(|finding| finding.code.as_ref()).collect();
        assert!(found_codes.contains(&code), "{found_codes:?}");
        assert!(measurement.cycles().is_none() && measurement.ns().is_some());
    }
}
