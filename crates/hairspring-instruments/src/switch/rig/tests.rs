use super::*;
use crate::switch::mechanism::{ALL, Mechanism};
use hairspring_host::clock::default_clock;
use hairspring_host::thread::{allowed_cpus, pin};

/// Runs something on a thread that is bound to the last CPU.
fn bound<T: Send>(run: impl FnOnce(usize) -> T + Send) -> T {
    let cpu = *allowed_cpus().last().unwrap();
    let bound = move || {
        pin(cpu).unwrap();
        run(cpu)
    };
    std::thread::scope(|scope| scope.spawn(bound).join().unwrap())
}

fn threads(mechanism: Mechanism, cpu: usize) -> Wanted {
    Wanted { mechanism, program: None, bytes: 4_096, cpu }
}

const TURN: Turn = Turn { units: 1, passes: 2, flush: true };
const WINDOWS: [Window; 3] = [
    Window::Switches { pairs: 5, turn: TURN },
    Window::Calls { times: 5 },
    Window::Turns { times: 5, turn: TURN },
];

#[test]
fn every_mechanism_switches_and_its_partner_ends() {
    for mechanism in ALL {
        bound(|cpu| {
            let mut pair = Pair::start(&threads(mechanism, cpu), default_clock().read).unwrap();
            for window in WINDOWS.into_iter().cycle().take(12) {
                assert!(pair.window(window).0 > 0, "{mechanism:?} {window:?} {:?}", pair.failure);
            }
            pair.renew().unwrap();
            let exact = (0..200).any(|_| pair.window(WINDOWS[0]).1);
            assert!(
                exact && !pair.has_failed(),
                "{mechanism:?}: no window had its own switches only, {:?}",
                pair.failure
            );
            assert!(pair.pilot(1e9).unwrap().pair_ns > 0.0);
        });
    }
}

#[test]
fn the_counter_loses_what_switches_take() {
    bound(|cpu| {
        let pair = Pair::start(&threads(Mechanism::Futex, cpu), default_clock().read).unwrap();
        let all_periods =
            vec![Period { pairs: 0, ns: 1_000_000 }, Period { pairs: 3, ns: 500_000 }];
        let mut table = Table::new(vec!["passed".into(), "switches".into()]);
        all_periods.iter().for_each(|period| table.add_row("counter", &period.counts()));
        let mut clock = Table::new(vec!["switches".into()]);
        clock.add_row("clock", &[0.0]);
        let mut periods = match Periods::start(pair, all_periods) {
            Ok(periods) => periods,
            Err(reason) => return assert!(reason.contains("the CPU is never idle"), "{reason}"),
        };
        periods
            .run(
                Batch { time: Duration::ZERO, fewest: 10, most: 10 },
                &|| Duration::ZERO,
                &mut table,
                &mut clock,
            )
            .unwrap();
        assert_eq!(clock.rounds(), 10);
        let readings = table.observations().readings();
        let most_ticks = |row: u32| {
            readings.iter().filter(|one| one.row == row).map(|one| one.ticks).fold(0.0, f64::max)
        };
        assert_eq!(readings.len(), 20);
        // On a CPU that is never idle the counter has nothing to lose.
        assert!(
            most_ticks(0) > most_ticks(1) || most_ticks(1) == 0.0,
            "{} {}",
            most_ticks(0),
            most_ticks(1)
        );
    });
}

#[test]
fn a_partner_on_another_cpu_is_refused() {
    bound(|cpu| {
        let error =
            Pair::start(&threads(Mechanism::Pipe, cpu + 1), default_clock().read).unwrap_err();
        assert!(error.contains(&format!("not bound to CPU {}", cpu + 1)), "{error}");
    });
}

#[test]
fn a_program_that_is_no_partner_is_an_error_with_its_status() {
    bound(|cpu| {
        let wanted_pair = |program: &str| Wanted {
            program: Some(program.into()),
            ..threads(Mechanism::Futex, cpu)
        };
        let error = Pair::start(&wanted_pair("/bin/false"), default_clock().read).unwrap_err();
        assert!(error.contains("ended (exit status: 1) before it was ready"), "{error}");
        let missing =
            Pair::start(&wanted_pair("/no/such/program"), default_clock().read).unwrap_err();
        assert!(missing.contains("cannot start the partner process"), "{missing}");
    });
}

#[test]
fn only_windows_with_other_switches_are_flagged() {
    let raw = |flags| Raw::new(7, flags);
    let flags =
        flagged(&[raw(Flags::SWITCHED), raw(Flags::GAP), raw(Flags::NONE)], &[false, false, true]);
    assert_eq!(
        flags.iter().map(|raw| raw.flags).collect::<Vec<_>>(),
        [Flags::NONE, Flags::GAP, Flags::SWITCHED]
    );
}
