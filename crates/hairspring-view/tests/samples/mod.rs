//! Invented observations and the measurements made of them. No clock is read: the noise is a fixed
//! sequence.
#![allow(dead_code, reason = "each test uses its part")]

use hairspring_core::judge::methods::methods;
use hairspring_core::judge::{Finding, Question, Severity, assess};
use hairspring_core::machine::Machine;
use hairspring_core::observations::{Observations, Rate};
use hairspring_result::{
    Clock, Environment, Identity, Measurement, Mode, Reference, ResultDocument, Run, Subject,
};
use std::time::{Duration, UNIX_EPOCH};

/// Numbers between -1 and 1 that are the same every time (a linear congruential generator).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Counts of each row, and its true ticks.
pub type Rows = Vec<(Vec<f64>, f64)>;

pub const ROUNDS: u32 = 96;

/// A table of rows for each series: counts and true ticks, with noise of a number of ticks.
pub fn table(components: &[&str], series: &[(&str, Rows)], noise: f64) -> Observations {
    let mut table = Observations::new(components.iter().map(|name| (*name).to_owned()).collect());
    let mut random = Noise(7);
    for round in 0..ROUNDS {
        for (name, rows) in series {
            let id = table.series(name);
            for (counts, ticks) in rows {
                let row = table.row(id, counts);
                table.push(row, round, ticks + noise * random.next());
            }
        }
    }
    table.origin.rate = Some(Rate {
        hz: 2.596_144e9,
        uncertainty_ppm: 0.1,
        provenance: "measured against a quartz over 211 ms".into(),
    });
    table.origin.granularity = Some(2.0);
    table
}

/// Rows of one component on a line.
pub fn rows(slope: f64, overhead: f64) -> Rows {
    [16, 32, 48, 64, 96, 128, 160, 192, 256]
        .iter()
        .map(|k| (vec![f64::from(*k)], slope * f64::from(*k) + overhead))
        .collect()
}

pub fn environment() -> Environment {
    let machine = Machine {
        cpu_model: "Invented 9000".into(),
        family: Some("6-999".into()),
        cpus: 2,
        architecture: "x86_64".into(),
        system: "Linux 6.18".into(),
        hypervisor: true,
    };
    let rate = Rate {
        hz: 2.596_144e9,
        uncertainty_ppm: 0.1,
        provenance: "measured against a quartz over 211 ms".into(),
    };
    let provenance = "integer lattice of dependent chains (imul 3.00, add 1.00)".into();
    let commit = "0123456789abcdef0123456789abcdef01234567".to_owned();
    Environment {
        identity: Some(Identity::new(
            UNIX_EPOCH + Duration::from_secs(1_700_000_000),
            Some("0011223344556677".into()),
            Some(commit),
        )),
        clock: Some(
            Clock::named("tsc", "time stamp counter, lfence before and after")
                .with_rate(&rate)
                .with_reading(2, 62.0),
        ),
        compiler: Some("gcc 12.2.0".into()),
        compiler_flags: Some("-O2".into()),
        pinned_cpu: Some(1),
        priority_raised: Some(true),
        memory_locked: Some(false),
        ..Environment::unknown("")
            .on(&machine)
            .with_reference(Ok(Reference { cycles: 3.0, provenance }))
    }
}

/// A measurement.
pub fn timed(table: &Observations, subjects: Vec<Subject>) -> Measurement {
    let run = Run {
        rounds: ROUNDS,
        measured_ms: Some(211.4),
        budget_spent_ms: None,
        elapsed_ms: Some(402.9),
        stop: "precision reached".into(),
        stolen_ms: Some(0.0),
        quiet_percent: None,
        processes: None,
        placements: None,
    };
    let question = Question { stolen_ms: Some(0.0), ..Question::default() };
    Measurement {
        command: "time".into(),
        environment: environment(),
        assessment: assess(table, &question).unwrap(),
        ns_per_unit: table.origin.ns_per_unit(),
        subjects,
        methods: Vec::new(),
        run: Some(run),
    }
}

/// A measurement made from a file.
pub fn fitted(table: &Observations) -> Measurement {
    let timed = timed(table, Vec::new());
    Measurement {
        command: "fit".into(),
        environment: Environment::unknown("the observations hold no reference chain")
            .with_origin(&table.origin),
        assessment: assess(table, &Question { ..Question::default() }).unwrap(),
        run: None,
        ..timed
    }
}

pub fn subject(name: &str, code: &str, mode: Mode) -> Subject {
    let mode_reason =
        if mode == Mode::Latency { "chained through x" } else { "copies are independent" };
    Subject {
        name: name.into(),
        code: Some(code.into()),
        mode: Some(mode),
        mode_reason: mode_reason.into(),
        bytes_per_copy: Some(4.0),
        disassembly: Vec::new(),
        findings: Vec::new(),
    }
}

fn with_ruler(components: &[&str], mut series: Vec<(&str, Rows)>, noise: f64) -> Observations {
    let mut ruler = rows(2.1, 61.0);
    ruler.iter_mut().for_each(|(counts, _)| counts.resize(components.len(), 0.0));
    series.push(("reference", ruler));
    let mut table = table(components, &series, noise);
    table.origin.reference = Some(("reference".into(), 3.0));
    table
}

pub fn line() -> Measurement {
    let observations = with_ruler(&["body"], vec![("main", rows(2.1, 58.9))], 3.0);
    let document = timed(&observations, vec![subject("main", "x = x * c", Mode::Latency)]);
    Measurement { methods: methods(&observations, &document.assessment), ..document }
}

pub fn init_and_body() -> Measurement {
    let grid = [(0, 8), (8, 8), (16, 16), (4, 16), (32, 32), (16, 64), (64, 64), (0, 64), (32, 48)];
    let rows = grid
        .iter()
        .map(|(n, m)| {
            (vec![f64::from(*n), f64::from(*m)], 10.5 * f64::from(*n) + 84.0 * f64::from(*m) + 59.0)
        })
        .collect();
    let table = with_ruler(&["body", "init"], vec![("main", rows)], 3.0);
    timed(&table, vec![subject("main", "y = sqrt(x)", Mode::Latency)])
}

/// A body behind a small init that serves; the rows depart from their plane.
pub fn small_init() -> Measurement {
    let off = [1.0, -1.0, -1.0, 1.0, 0.5, -0.5, -1.0, 1.0, 1.0, -1.0];
    let grid =
        [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16), (16, 32)];
    let ticks =
        |n: i32, m: i32, off: f64| 500.0 * f64::from(n) + 6.0 * f64::from(m) + 90.0 + 12.0 * off;
    let rows = grid
        .iter()
        .zip(off)
        .map(|((n, m), off)| (vec![f64::from(*n), f64::from(*m)], ticks(*n, *m, off)))
        .collect();
    let mut table = with_ruler(&["body", "init"], vec![("main", rows)], 3.0);
    table.origin.serving = vec!["init".into()];
    timed(&table, vec![subject("main", "sort(v)", Mode::Latency)])
}

/// Two alternatives beside something that uses the core: both have the same findings.
pub fn disturbed() -> Measurement {
    let mut series = vec![("a", rows(2.1, 58.9)), ("b", rows(0.7, 58.7))];
    let mut control = rows(0.71, 61.0);
    control.iter_mut().for_each(|(counts, _)| counts.resize(1, 0.0));
    series.push(("control", control));
    let mut table = with_ruler(&["body"], series, 3.0);
    table.origin.controls = vec![("control".into(), 1.0)];
    timed(
        &table,
        [("a", "x = x * c"), ("b", "x = x + c")]
            .iter()
            .map(|(name, code)| subject(name, code, Mode::Latency))
            .collect(),
    )
}

pub fn alternatives() -> Measurement {
    let table = with_ruler(
        &["body"],
        vec![("a", rows(2.1, 58.9)), ("b", rows(0.7, 58.7)), ("c", rows(2.1, 58.9))],
        3.0,
    );
    let codes = [("a", "x = x * c"), ("b", "x = x + c"), ("c", "x = c * x")];
    timed(&table, codes.iter().map(|(name, code)| subject(name, code, Mode::Latency)).collect())
}

/// A finding of a kind that neither the core nor the view knows.
fn optimised_away() -> Finding {
    Finding {
        code: "optimised_away".into(),
        severity: Severity::Warning,
        message: "optimised away: the compiler left 0.0 bytes of code for each copy".into(),
        remedy: "use a --let variable for every input, and make the code an expression or an \
                 assignment to a --let variable"
            .into(),
        keeps_remedy: false,
        numbers: [("bytes_per_copy", 0.0.into())].into(),
    }
}

pub fn below_resolution() -> Measurement {
    let mut subject = subject("main", "x", Mode::Throughput);
    subject.bytes_per_copy = Some(0.0);
    subject.findings.push(optimised_away());
    timed(&with_ruler(&["body"], vec![("main", rows(0.0, 58.9))], 3.0), vec![subject])
}

pub fn rank_deficient() -> Measurement {
    let row = |i: u32| {
        let (a, c) = (f64::from(1 + i * 7 % 11), f64::from(1 + i * 5 % 13));
        (vec![a, a, c], 30.0 * a + 12.5 * a + 7.0 * c + 40.0)
    };
    let mut table = table(&["B4", "B6", "B8"], &[("main", (0..14).map(row).collect())], 2.0);
    table.origin.rate = None;
    Measurement { ns_per_unit: None, ..fitted(&table) }
}

pub fn bent() -> Measurement {
    let rows = (1..=12)
        .map(|k| {
            (
                vec![f64::from(k * 16)],
                2.1 * f64::from(k * 16) + 0.02 * f64::from(k * k * k) * 16.0 + 58.9,
            )
        })
        .collect();
    timed(
        &with_ruler(&["body"], vec![("main", rows)], 3.0),
        vec![subject("main", "d = sqrt(d)", Mode::Latency)],
    )
}

pub fn many() -> Measurement {
    let names: Vec<String> = (0..200).map(|block| format!("B{block}")).collect();
    let mut table = Observations::new(names);
    let series = table.series("main");
    let mut random = Noise(3);
    for run in 0..700 {
        let counts: Vec<f64> = (0..200).map(|_| (10.0 * (1.0 + random.next())).round()).collect();
        let ticks: f64 =
            counts.iter().enumerate().map(|(block, n)| n * (1.0 + block as f64 % 17.0)).sum();
        let row = table.row(series, &counts);
        table.push(row, run, ticks + 300.0 + 4.0 * random.next());
    }
    table.origin.rate =
        Some(Rate { hz: 16e6, uncertainty_ppm: 0.0, provenance: "stated in the file".into() });
    fitted(&table)
}

/// The document of a measurement.
pub fn result(measurement: &Measurement) -> ResultDocument {
    ResultDocument::new(measurement)
}

/// All measurements by name.
pub fn all() -> Vec<(&'static str, Measurement)> {
    vec![
        ("line", line()),
        ("init-and-body", init_and_body()),
        ("small-init", small_init()),
        ("disturbed", disturbed()),
        ("alternatives", alternatives()),
        ("below-resolution", below_resolution()),
        ("rank-deficient", rank_deficient()),
        ("bent", bent()),
        ("many", many()),
    ]
}
