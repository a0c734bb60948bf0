//! From a request to observations: pilot, design, compilation, rounds until the interval is narrow enough.

use crate::child::{Child, HostProgram, Printed, unexpected, used_up};
use crate::cleanup::Folder;
use crate::compile::{Compiler, Library, compile, find};
use crate::error::{Result, io};
use crate::mode::{Judged, judge};
use crate::plan;
use crate::protocol::{Command, Ended, Load, Ready, Reply};
use crate::request::Request;
use crate::source::{Arrangement, RowSpec, SHADOW_COPIES};
use hairspring_engine::acquire::Raw;
use hairspring_engine::design::Pilot;
use hairspring_engine::judge::precise_enough;
use hairspring_engine::observations::{Observations, Rate, Role, RowId, Variant};
use hairspring_machine::beside::{Beside, beside};
use hairspring_machine::unit::Ruler;
use std::time::{Duration, Instant};

/// Name of the series of the reference chain, and what the names of those of the control chains begin with.
pub const REFERENCE: &str = "reference";
pub const CONTROL_SERIES: &str = "control";
/// Name of the series that shows how much a fence hides.
pub const SHADOW_SERIES: &str = "shadow";
/// First batch; each further one doubles what there is.
const FIRST_BATCH: Duration = Duration::from_millis(60);
/// Measuring time that is spent in any case, however long the compiler took.
const SHORTEST_RUN: Duration = Duration::from_millis(100);
/// Rounds below which the intervals are not asked for, if the budget allows more.
const FEWEST_ROUNDS: u32 = 32;
/// Rounds of one batch at the most, so that a message stays small.
const MOST_ROUNDS: u32 = 100_000;
/// Readings kept at the most: memory stays bounded for any budget.
const MOST_READINGS: usize = 8_000_000;

/// Why the rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The interval asked for was reached.
    Precise,
    /// The budget was spent.
    Budget,
}

/// What a session brings back.
#[derive(Debug)]
pub struct Measured {
    /// The raw table, the reference chain included.
    pub table: Observations,
    /// Mode of each alternative.
    pub modes: Vec<Judged>,
    /// Code size of one copy of each alternative, in bytes, where it can be known.
    pub copy_bytes: Vec<Option<f64>>,
    /// The compiler.
    pub compiler: Compiler,
    /// What the host found at the start.
    pub ready: Ready,
    /// Core cycles of the reference chain and how they are known, or why there are none.
    pub ruler: std::result::Result<Ruler, String>,
    /// What the host found at the end.
    pub ended: Ended,
    /// What the code wrote.
    pub printed: Option<Printed>,
    /// Rounds.
    pub rounds: u32,
    /// Time spent measuring.
    pub measuring: Duration,
    /// Why the rounds ended.
    pub stop: Stop,
}

/// Names of the series of a request: the code itself where there is one, letters before it where there are more.
pub fn series_names(request: &Request) -> Vec<String> {
    let letter = |at: usize| char::from(b'a' + at as u8).to_string();
    if request.codes.len() == 1 { vec!["code".into()] } else { (0..request.codes.len()).map(letter).collect() }
}

/// Measures a request.
///
/// # Errors
/// What is wrong with the request, what the compiler said, how the code ended its process, or that a clock or CPU is
/// not to be had.
pub fn measure(request: &Request, host: &HostProgram) -> Result<Measured> {
    measure_unexplained(request, host).map_err(|error| crate::registers::explain(request, error))
}

fn measure_unexplained(request: &Request, host: &HostProgram) -> Result<Measured> {
    let begin = Instant::now();
    request.check()?;
    if let Some(name) = &request.clock {
        hairspring_engine::clock::find(name)?;
    }
    let compiler = find(request)?;
    let folder = Folder::new().map_err(io("making a temporary folder"))?;
    let (pilots, ruler) = pilot(request, &compiler, host, &folder)?;
    let rows = plan::rows(request, &pilots, ruler.is_ok());
    let library = compile(request, &compiler, &rows, folder.path(), "rows")?;
    let beside = ruler.as_ref().map_or_else(|_| Vec::new(), beside);
    let load = Load {
        chains: beside.iter().flat_map(Beside::names).collect(),
        prove_ruler: false,
        clock: request.clock.clone(),
        ..load(request, &library, rows.len())
    };
    let (child, ready) = Child::start(host, load, request.timeout)?;
    drop(folder);
    let table = Table::new(request, &rows, &beside, &ready);
    let run = Run { child, table, request, deadline: begin + request.budget, measuring: Duration::ZERO, rounds: 0 };
    let (mut run, stop) = run.until_precise()?;
    let ended = run.end()?;
    used_up(&ended)?;
    Ok(Measured {
        modes: request.codes.iter().map(|code| judge(request, code)).collect(),
        copy_bytes: (0..request.codes.len()).map(|subject| copy_bytes(&rows, &library, subject)).collect(),
        compiler,
        printed: run.child.printed(&ended),
        rounds: run.rounds,
        measuring: run.measuring,
        table: run.table.finished(ended.rate.clone()),
        ready,
        ruler,
        ended,
        stop,
    })
}

fn load(request: &Request, library: &Library, rows: usize) -> Load {
    // A backstop for a host whose parent is gone: the parent's own limits are tighter.
    let most_cpu_seconds = 60 + 4 * request.budget.as_secs() + 2 * request.timeout.as_secs();
    Load {
        library: library.path.display().to_string(),
        rows: rows as u32,
        clock: None,
        cpu: request.cpu,
        seed: 1,
        chains: Vec::new(),
        prove_ruler: true,
        most_cpu_seconds,
    }
}

/// Rough time and size of one evaluation of every alternative, on the best clock of the machine.
fn pilot(
    request: &Request,
    compiler: &Compiler,
    host: &HostProgram,
    folder: &Folder,
) -> Result<(Vec<Pilot>, std::result::Result<Ruler, String>)> {
    const TIME_MS: u64 = 5;
    let rows = plan::pilot_rows(request);
    let library = compile(request, compiler, &rows, folder.path(), "pilot")?;
    let (mut child, ready) = Child::start(host, load(request, &library, rows.len()), request.timeout)?;
    let singles: Vec<u32> = (0..rows.len() as u32).filter(|row| rows[*row as usize].bodies == 1).collect();
    let first = ticks(&mut child, &singles, TIME_MS, 20)?;
    // The default clock counts nanoseconds or something faster: without a rate yet, a tick is taken for a nanosecond.
    let longest = first.iter().copied().fold(0.0, f64::max);
    let times = if longest < plan::LONG_NS {
        ticks(&mut child, &(0..rows.len() as u32).collect::<Vec<_>>(), 2 * TIME_MS, 2_000)?
    } else {
        Vec::new()
    };
    let Reply::Ended(ended) = child.ask(&Command::End)? else { return Err(unexpected()) };
    let ns = 1e9 / ended.rate.hz;
    let quantum_ns = quantum_ns(request)?;
    let pilots = (0..request.codes.len())
        .map(|subject| {
            let mine: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].subject == subject).collect();
            let [one, .., many] = *mine else { return Pilot { copy_ns: 1.0, copy_bytes: 16.0, quantum_ns } };
            let copy_ticks = if times.is_empty() {
                first[subject]
            } else {
                (times[many] - times[one]) / f64::from(rows[many].bodies - rows[one].bodies)
            };
            Pilot {
                copy_ns: (copy_ticks * ns).max(0.05),
                copy_bytes: copy_bytes(&rows, &library, subject).unwrap_or(16.0).max(1.0),
                quantum_ns,
            }
        })
        .collect();
    Ok((pilots, ready.ruler.unwrap_or_else(|| Err("not looked for".into()))))
}

/// Quantum of the clock asked for, in nanoseconds; 0 for those that count faster than nanoseconds.
fn quantum_ns(request: &Request) -> Result<f64> {
    let Some(name) = &request.clock else { return Ok(0.0) };
    let clock = hairspring_engine::clock::find(name)?;
    Ok(clock.nominal_hz.map_or(0.0, |hz| hairspring_engine::clock::granularity(&clock).quantum as f64 * 1e9 / hz))
}

/// Median ticks of each of the rows.
fn ticks(child: &mut Child, rows: &[u32], milliseconds: u64, most_rounds: u32) -> Result<Vec<f64>> {
    let Reply::Batch(readings) = child.ask(&Command::Run { rows: rows.to_vec(), milliseconds, most_rounds })? else {
        return Err(unexpected());
    };
    Ok((0..rows.len())
        .map(|row| {
            let mut mine: Vec<u64> = readings.iter().skip(row).step_by(rows.len()).map(|raw| raw.ticks).collect();
            mine.sort_unstable();
            // The mean of the middle half: free of spikes, and finer than the clock's quantum.
            let middle = &mine[mine.len() / 4..mine.len() - mine.len() / 4];
            middle.iter().map(|ticks| *ticks as f64).sum::<f64>() / middle.len().max(1) as f64
        })
        .collect())
}

/// Bytes that one more copy adds to a row: the slope between the shortest and the longest row of the alternative.
fn copy_bytes(rows: &[RowSpec], library: &Library, subject: usize) -> Option<f64> {
    let mine = || {
        rows.iter()
            .zip(&library.row_bytes)
            .filter(|(row, _)| row.subject == subject && row.inits <= row.bodies && row.flushes <= row.bodies)
            .filter(|(row, _)| row.arrangement == rows[0].arrangement)
    };
    let (short, long) = (mine().min_by_key(|(row, _)| row.bodies)?, mine().max_by_key(|(row, _)| row.bodies)?);
    let copies = f64::from(long.0.bodies - short.0.bodies);
    (copies > 0.0 && *long.1 > 0).then(|| (*long.1 as f64 - *short.1 as f64) / copies)
}

fn series_of(chain: &Beside) -> String {
    if chain.is_ruler { REFERENCE.to_owned() } else { format!("{CONTROL_SERIES} {}", chain.chain) }
}

/// The series of rows in this arrangement: those in another one than the answer's are systems of their own.
fn series_name(request: &Request, name: &str, arrangement: Arrangement) -> String {
    match arrangement {
        Arrangement::Shadow => SHADOW_SERIES.to_owned(),
        arrangement if arrangement == plan::arrangement(request) => name.to_owned(),
        Arrangement::InPlace => format!("{name} in place"),
        _ => format!("{name} fenced"),
    }
}

/// Says in the table what the further series are.
fn declare(table: &mut Observations, request: &Request, rows: &[RowSpec], names: &[String], beside: &[Beside]) {
    let ran = |arrangement| rows.iter().any(|row| row.arrangement == arrangement);
    let ruler = beside.iter().find(|chain| chain.is_ruler).map(|chain| chain.cycles * SHADOW_COPIES);
    table.origin.shadow = ruler.filter(|_| ran(Arrangement::Shadow)).map(|cycles| (SHADOW_SERIES.to_owned(), f64::from(cycles)));
    for name in names {
        let mut variant = |series, role| table.origin.variants.push(Variant { series, role, of: name.clone() });
        if plan::stands_alone(request) {
            variant(name.clone(), Role::Fenced);
        }
        for arrangement in plan::checks(request).iter().copied().filter(|arrangement| ran(*arrangement)) {
            let role = if arrangement == Arrangement::InPlace { Role::InPlace } else { Role::Fenced };
            variant(series_name(request, name, arrangement), role);
        }
    }
}

/// The growing table.
struct Table {
    table: Observations,
    rows: Vec<RowId>,
}

impl Table {
    fn new(request: &Request, rows: &[RowSpec], beside: &[Beside], ready: &Ready) -> Table {
        let mut table = Observations::new(request.components());
        let names = series_names(request);
        let mut ids: Vec<RowId> = rows
            .iter()
            .map(|row| {
                let series = table.series(&series_name(request, &names[row.subject], row.arrangement));
                table.row(series, &row.counts(request))
            })
            .collect();
        declare(&mut table, request, rows, &names, beside);
        beside.iter().for_each(|chain| ids.extend(chain.declare(&mut table, &series_of(chain))));
        table.origin.clock = Some(ready.clock.0.clone());
        table.origin.granularity = (ready.quantum > 0).then_some(ready.quantum as f64);
        for (name, code) in names.iter().zip(&request.codes) {
            table.origin.notes.push((format!("code {name}"), code.clone()));
        }
        Table { table, rows: ids }
    }

    fn add(&mut self, first_round: u32, readings: &[Raw]) {
        for (round, chunk) in (first_round..).zip(readings.chunks_exact(self.rows.len())) {
            for (row, raw) in self.rows.iter().zip(chunk) {
                self.table.push_flagged(*row, round, raw.ticks as i64 as f64, raw.flags);
            }
        }
    }

    fn finished(mut self, rate: Rate) -> Observations {
        self.table.origin.rate = Some(rate);
        self.table
    }
}

struct Run<'r> {
    child: Child,
    table: Table,
    request: &'r Request,
    deadline: Instant,
    measuring: Duration,
    rounds: u32,
}

impl<'r> Run<'r> {
    /// Batches of rounds, each as long as all before it together, until the interval is narrow enough or the time is up.
    fn until_precise(mut self) -> Result<(Run<'r>, Stop)> {
        let mut batch = FIRST_BATCH.min(self.left(Duration::ZERO));
        loop {
            self.batch(batch)?;
            let begin = Instant::now();
            if self.rounds >= FEWEST_ROUNDS && precise_enough(&mut self.table.table, self.request.level, self.request.precision) {
                return Ok((self, Stop::Precise));
            }
            // The table may double, and is assessed twice more.
            let left = self.left(begin.elapsed() * 4);
            if left.is_zero() || self.room() < 2 {
                return Ok((self, Stop::Budget));
            }
            batch = self.measuring.min(left);
        }
    }

    /// Time that is left for measuring when so much of it is needed for assessing; never less than the shortest run.
    fn left(&self, assessing: Duration) -> Duration {
        let shortest = SHORTEST_RUN.min(self.request.budget).saturating_sub(self.measuring);
        self.deadline.saturating_duration_since(Instant::now()).saturating_sub(assessing).max(shortest)
    }

    /// Rounds for which there is room in the table.
    fn room(&self) -> u32 {
        (MOST_READINGS.saturating_sub(self.table.table.readings().len()) / self.table.rows.len()) as u32
    }

    fn batch(&mut self, time: Duration) -> Result<()> {
        let rows: Vec<u32> = (0..self.table.rows.len() as u32).collect();
        let begin = Instant::now();
        let command = Command::Run { rows, milliseconds: time.as_millis() as u64, most_rounds: MOST_ROUNDS.min(self.room()).max(1) };
        let Reply::Batch(readings) = self.child.ask(&command)? else { return Err(unexpected()) };
        self.measuring += begin.elapsed();
        self.table.add(self.rounds, &readings);
        self.rounds += (readings.len() / self.table.rows.len()) as u32;
        Ok(())
    }

    fn end(&mut self) -> Result<Ended> {
        match self.child.ask(&Command::End)? {
            Reply::Ended(ended) => Ok(ended),
            _ => Err(unexpected()),
        }
    }
}
