//! Invented observations and the documents made of them. No clock is read: the noise is a fixed sequence.
#![allow(dead_code, reason = "each test uses its part")]

use hairspring_core::estimate::Estimate;
use hairspring_core::judge::{Finding, FindingKind, Question, Severity, assess};
use hairspring_core::observations::{Observations, Rate};
use hairspring_host::clock::Reading;
use hairspring_host::environment::Machine;
use hairspring_instruments::verify::coverage::Coverage;
use hairspring_instruments::verify::{Certificate, ChainResult, PairResult};
use hairspring_report::methods::methods;
use hairspring_report::{ClockInfo, Document, Environment, Mode, Ruler, Run, Subject};

/// Numbers between -1 and 1 that are the same every time (a linear congruential generator).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Counts of each row, and the ticks that it truly takes.
pub type Rows = Vec<(Vec<f64>, f64)>;

pub const ROUNDS: u32 = 96;

/// A table of rows for each series: counts and true ticks, with noise of so many ticks.
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
    table.origin.rate = Some(Rate { hz: 2.596_144e9, uncertainty_ppm: 0.1, provenance: "measured against a quartz over 211 ms".into() });
    table.origin.granularity = Some(2.0);
    table
}

/// Rows of one component on a line.
pub fn rows(slope: f64, overhead: f64) -> Rows {
    [16, 32, 48, 64, 96, 128, 160, 192, 256].iter().map(|k| (vec![f64::from(*k)], slope * f64::from(*k) + overhead)).collect()
}

pub fn environment() -> Environment {
    Environment {
        machine: Some(Machine {
            cpu_model: "Invented 9000".into(),
            cpus: 2,
            architecture: "x86_64".into(),
            system: "Linux 6.18".into(),
            hypervisor: true,
        }),
        clock: Some(ClockInfo {
            name: "tsc".into(),
            description: "time stamp counter, lfence before and after".into(),
            rate: Some(Rate { hz: 2.596_144e9, uncertainty_ppm: 0.1, provenance: "measured against a quartz over 211 ms".into() }),
            granularity_ticks: Some(2.0),
            read_cost_ticks: Some(62.0),
        }),
        ruler: Ok(Ruler { cycles: 3.0, provenance: "integer lattice of dependent chains (imul 3.00, add 1.00)".into() }),
        compiler: Some("gcc 12.2.0".into()),
        compiler_flags: Some("-O2".into()),
        pinned_cpu: Some(1),
        priority_raised: Some(true),
        memory_locked: Some(false),
    }
}

/// The document of a measurement.
pub fn timed(table: &Observations, subjects: Vec<Subject>) -> Document {
    let run = Run { rounds: ROUNDS, measured_ms: 211.4, elapsed_ms: 402.9, stop: "precision reached".into(), stolen_ms: Some(0.0) };
    let question = Question { stolen_ms: Some(0.0), ..Question::default() };
    Document {
        command: "time".into(),
        environment: environment(),
        assessment: assess(table, &question).unwrap(),
        ns_per_unit: table.origin.ns_per_unit(),
        subjects,
        methods: Vec::new(),
        run: Some(run),
    }
}

/// The document of a file from elsewhere.
pub fn fitted(table: &Observations) -> Document {
    let timed = timed(table, Vec::new());
    Document {
        command: "fit".into(),
        environment: Environment::unknown("the observations hold no reference chain").with_origin(&table.origin),
        assessment: assess(table, &Question { ..Question::default() }).unwrap(),
        run: None,
        ..timed
    }
}

pub fn subject(name: &str, code: &str, mode: Mode) -> Subject {
    let mode_reason = if mode == Mode::Latency { "chained through x" } else { "copies are independent" };
    Subject {
        name: name.into(),
        code: Some(code.into()),
        mode: Some(mode),
        mode_reason: mode_reason.into(),
        bytes_per_copy: Some(4.0),
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

pub fn line() -> Document {
    let observations = with_ruler(&["body"], vec![("main", rows(2.1, 58.9))], 3.0);
    let document = timed(&observations, vec![subject("main", "x = x * c", Mode::Latency)]);
    Document { methods: methods(&observations, &document.assessment), ..document }
}

pub fn init_and_body() -> Document {
    let grid = [(0, 8), (8, 8), (16, 16), (4, 16), (32, 32), (16, 64), (64, 64), (0, 64), (32, 48)];
    let rows = grid.iter().map(|(n, m)| (vec![f64::from(*n), f64::from(*m)], 10.5 * f64::from(*n) + 84.0 * f64::from(*m) + 59.0)).collect();
    let table = with_ruler(&["body", "init"], vec![("main", rows)], 3.0);
    timed(&table, vec![subject("main", "y = sqrt(x)", Mode::Latency)])
}

pub fn alternatives() -> Document {
    let table = with_ruler(&["body"], vec![("a", rows(2.1, 58.9)), ("b", rows(0.7, 58.7)), ("c", rows(2.1, 58.9))], 3.0);
    let codes = [("a", "x = x * c"), ("b", "x = x + c"), ("c", "x = c * x")];
    timed(&table, codes.iter().map(|(name, code)| subject(name, code, Mode::Latency)).collect())
}

/// A finding of a kind that this crate does not know.
fn optimised_away() -> Finding {
    Finding {
        code: "optimised_away".into(),
        severity: Severity::Warning,
        message: "optimised away: the compiler left 0.0 bytes of code for each copy".into(),
        remedy: "use a --let variable for every input, and make the code an expression or an assignment to a --let variable".into(),
        numbers: [("bytes_per_copy".into(), 0.0.into())].into(),
    }
}

pub fn below_resolution() -> Document {
    let mut subject = subject("main", "x", Mode::Throughput);
    subject.bytes_per_copy = Some(0.0);
    subject.findings.push(optimised_away());
    timed(&with_ruler(&["body"], vec![("main", rows(0.0, 58.9))], 3.0), vec![subject])
}

pub fn rank_deficient() -> Document {
    let row = |i: u32| {
        let (a, c) = (f64::from(1 + i * 7 % 11), f64::from(1 + i * 5 % 13));
        (vec![a, a, c], 30.0 * a + 12.5 * a + 7.0 * c + 40.0)
    };
    let mut table = table(&["B4", "B6", "B8"], &[("main", (0..14).map(row).collect())], 2.0);
    table.origin.rate = None;
    Document { ns_per_unit: None, ..fitted(&table) }
}

pub fn bent() -> Document {
    let rows = (1..=12).map(|k| (vec![f64::from(k * 16)], 2.1 * f64::from(k * 16) + 0.02 * f64::from(k * k * k) * 16.0 + 58.9)).collect();
    timed(&with_ruler(&["body"], vec![("main", rows)], 3.0), vec![subject("main", "d = sqrt(d)", Mode::Latency)])
}

pub fn many() -> Document {
    let names: Vec<String> = (0..200).map(|block| format!("B{block}")).collect();
    let mut table = Observations::new(names);
    let series = table.series("main");
    let mut random = Noise(3);
    for run in 0..700 {
        let counts: Vec<f64> = (0..200).map(|_| (10.0 * (1.0 + random.next())).round()).collect();
        let ticks: f64 = counts.iter().enumerate().map(|(block, n)| n * (1.0 + block as f64 % 17.0)).sum();
        let row = table.row(series, &counts);
        table.push(row, run, ticks + 300.0 + 4.0 * random.next());
    }
    table.origin.rate = Some(Rate { hz: 16e6, uncertainty_ppm: 0.0, provenance: "stated in the file".into() });
    fitted(&table)
}

/// All documents by name.
pub fn all() -> Vec<(&'static str, Document)> {
    vec![
        ("line", line()),
        ("init-and-body", init_and_body()),
        ("alternatives", alternatives()),
        ("below-resolution", below_resolution()),
        ("rank-deficient", rank_deficient()),
        ("bent", bent()),
        ("many", many()),
    ]
}

fn e(value: f64, half: f64) -> Estimate {
    Estimate { value, low: value - half, high: value + half, level: 0.95 }
}

fn chain(name: &str, cycles: Estimate, integer: u32, hits: Option<u32>) -> ChainResult {
    let coverage = hits.map(|hits| Coverage { hits, runs: 40 });
    let distance_percent = 100.0 * (cycles.value / f64::from(integer) - 1.0);
    ChainResult { name: name.into(), cycles, integer, distance_percent, coverage }
}

/// A certificate that passes, and one that fails.
pub fn certificates() -> Vec<(&'static str, Certificate)> {
    let good = Certificate {
        clock: "tsc".into(),
        reading: Reading { quantum: 2, back_to_back_min: 60, back_to_back_mean: 62.3, steps: 2_000, backward: 0 },
        rate: Rate { hz: 2.596_144e9, uncertainty_ppm: 0.1, provenance: "measured against a quartz over 211 ms".into() },
        overhead_ticks: e(58.94, 0.12),
        core_hz: e(3.6941e9, 2.1e5),
        chains: vec![
            chain("imul", e(3.0, 0.0), 3, None),
            chain("add", e(0.9996, 0.0011), 1, Some(39)),
            chain("divsd", e(13.996, 0.012), 14, Some(38)),
        ],
        pairs: vec![PairResult { name: "imul10/imul40".into(), body: (e(30.01, 0.06), 30.0), init: (e(119.99, 0.05), 120.0) }],
        findings: Vec::new(),
    };
    let mut bad = good.clone();
    bad.chains[1] = chain("add", e(1.02, 0.03), 1, Some(28));
    bad.findings.push(Finding::new(Severity::Note, FindingKind::FrequencyStepped { low_percent: -8.0, high_percent: 3.0 }));
    vec![("certificate", good), ("certificate-failed", bad)]
}
