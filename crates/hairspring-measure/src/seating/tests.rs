use super::*;
use hairspring_core::judge::Severity;
use hairspring_host::clock::default_clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A home in a process that is otherwise quiet, whatever other tests do meanwhile.
fn home(seating: Seating) -> Home {
    Home { usual: 0.0, ..Home::find(seating, None, default_clock()).unwrap() }
}

/// Held by tests that seat their thread: leaving a seat frees all threads of the process that are
/// bound to its CPU.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Another thread works for some time.
fn others_work() {
    let work = || {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
    };
    std::thread::spawn(work).join().unwrap();
}

#[test]
fn clock_that_every_cpu_has_for_itself_needs_a_seat() {
    let of_core = Clock { counts: CountsWhen::WhileCoreRuns, ..default_clock() };
    assert!(counts_alike(&default_clock()).is_ok());
    let message = counts_alike(&of_core).unwrap_err().to_string();
    assert!(
        message.contains(of_core.name) && message.contains("every CPU has its own"),
        "{message}"
    );
    let name = default_clock().name;
    assert_eq!(Seating::Unpinned.named_clock(Some(name)).unwrap().name, name);
    assert_eq!(Seating::Unpinned.named_clock(None).unwrap().name, name);
    assert!(
        Seating::Pinned.named_clock(Some("sundial")).unwrap_err().to_string().contains("sundial")
    );
}

#[test]
fn code_with_threads_gets_no_seat() {
    let _alone = alone();
    let mut thread = TimedThread::begin(home(Seating::Pinned), &OtherThreadsMeter::start());
    others_work();
    let before = allowed_cpus();
    thread.sit().unwrap();
    let seated = thread.seated();
    assert!(seated.cpu.is_none() && !seated.priority_raised && allowed_cpus() == before);
    let finding = seated.finding().unwrap();
    assert!(
        finding.is(code::THREADS)
            && finding.severity == Severity::Note
            && finding.number("cpus_used").is_some_and(|used| used > 0.0)
    );
    assert_eq!(seated.no_cycles(), Some(finding::NO_CYCLES));
    others_work();
    assert!(thread.has_changed().is_none(), "it is known");
}

#[test]
fn seat_is_left_when_threads_are_seen_late() {
    let _alone = alone();
    let before = allowed_cpus();
    // Other tests of this process may run meanwhile: the share of others is ignored until the seat
    // is taken.
    let mut thread = TimedThread::begin(
        Home { usual: f64::MAX, ..home(Seating::Pinned) },
        &OtherThreadsMeter::start(),
    );
    thread.sit().unwrap();
    assert_eq!(allowed_cpus(), [thread.seated().cpu.unwrap()]);
    thread.home.usual = 0.0;
    others_work();
    assert!(thread.has_changed().is_some_and(|threads| threads.late));
    assert_eq!(allowed_cpus(), before);
    let finding = thread.seated().finding().unwrap();
    assert!(
        finding.is(code::THREADS)
            && finding.severity == Severity::Warning
            && finding.message.contains("late"),
        "{finding:?}"
    );
}

#[test]
fn thread_stays_on_the_cpu_that_was_asked_for() {
    let _alone = alone();
    let cpu = allowed_cpus()[0];
    let mut thread = TimedThread::begin(
        Home::find(Seating::Pinned, Some(cpu), default_clock()).unwrap(),
        &OtherThreadsMeter::start(),
    );
    others_work();
    thread.sit().unwrap();
    let seated = thread.seated();
    assert_eq!((seated.cpu, seated.priority_raised, seated.no_cycles()), (Some(cpu), false, None));
    assert!(seated.finding().unwrap().is(code::THREADS_BOUND));
}

#[test]
fn what_was_asked_for_is_done_and_said() {
    let _alone = alone();
    let before = allowed_cpus();
    for (seating, cycles) in [(Seating::Threads, false), (Seating::Unpinned, true)] {
        let mut thread = TimedThread::begin(
            Home { usual: f64::MAX, ..home(seating) },
            &OtherThreadsMeter::start(),
        );
        thread.sit().unwrap();
        assert!(allowed_cpus() == before && thread.has_changed().is_none());
        let seated = thread.seated();
        assert!(seated.cpu.is_none() && seated.no_cycles().is_none() == cycles);
        assert!(seated.finding().unwrap().is(code::UNBOUND));
        assert!(!seated.priority_raised || seating == Seating::Unpinned);
        let error = Home::find(seating, Some(before[0]), default_clock()).unwrap_err().to_string();
        assert!(error.contains("one of the two"), "{error}");
    }
    assert!(
        Home::find(Seating::Pinned, Some(100_000), default_clock())
            .unwrap_err()
            .to_string()
            .contains("100000")
    );
}

/// What other threads took while the calling one worked for a time, and a time passed, in
/// microseconds.
fn taken(processor: u64, own_time: u64, elapsed: u64) -> OtherThreadsTime {
    let time = Duration::from_micros;
    OtherThreadsTime {
        processor: time(processor),
        own_time: time(own_time),
        elapsed: time(elapsed),
    }
}

#[test]
fn threads_that_worked_before_are_not_the_codes() {
    let home = Home { usual: 0.5, cpus: 2, ..home(Seating::Pinned) };
    let is_seen = |ms: u64| home.sees(&taken(1_000 * ms, 100_000, 100_000));
    assert!(!is_seen(100) && is_seen(102));
    let quiet = Home { usual: 0.0, ..home.clone() };
    let is_seen = |ms: u64| quiet.sees(&taken(1_000 * ms, 100_000, 100_000));
    assert!(!is_seen(1) && is_seen(2));
    assert!(is_seen(200) && !is_seen(201), "two CPUs have no more time");
    assert!(!quiet.sees(&taken(9, 11, 20)) && quiet.sees(&taken(11, 9, 20)));
}

#[test]
fn threads_that_waited_for_a_cpu_are_seen() {
    let quiet = home(Seating::Pinned);
    assert!(quiet.sees(&taken(150, 30, 20_000)), "both threads waited for most of 20 ms");
    assert!(!quiet.is_unclear(&taken(9, 30, 20_000)), "no thread has begun");
    assert!(quiet.is_unclear(&taken(150, 19_000, 20_000)), "a thread took little beside the code");
}

#[test]
fn code_runs_once_where_threads_are_declared() {
    let _alone = alone();
    let mut thread = TimedThread::begin(home(Seating::Threads), &OtherThreadsMeter::start());
    let mut runs = 0;
    let longest = thread.first_runs(|| {
        runs += 1;
        others_work();
        Ok::<(), String>(())
    });
    assert!(
        longest.unwrap() >= Duration::from_millis(5) && runs == 1,
        "threads are declared: {runs} runs"
    );
    assert_eq!(thread.first_runs(|| Err("refused")), Err("refused"));
}

#[test]
fn threads_of_the_code_are_freed() {
    let _alone = alone();
    let before = allowed_cpus();
    let mut thread = TimedThread::begin(
        Home { usual: f64::MAX, ..home(Seating::Pinned) },
        &OtherThreadsMeter::start(),
    );
    thread.sit().unwrap();
    let (go, cpus) = (std::sync::Arc::new(AtomicBool::new(false)), thread.seated().cpu);
    let wait = go.clone();
    let other_thread = std::thread::spawn(move || {
        while !wait.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        allowed_cpus()
    });
    thread.has_changed();
    go.store(true, Ordering::Release);
    assert_eq!(other_thread.join().unwrap(), before);
    assert_eq!(
        thread.seated().cpu,
        cpus,
        "the timed thread stays: nothing was measured of the other one"
    );
}
