//! The other side: a process or a thread that takes its turns until it is told to end.

use super::design::Turn;
use super::end::End;
use super::line::{
    Calls, Knocker, Line, Side, Stream, TO_SLEEP, ThreadId, block_signals, loopback, own_signals,
    place, streams,
};
use super::mechanism::Mechanism;
use super::side::Work;
use hairspring_host::interference::all_switches;
use hairspring_host::process::Group;
use hairspring_host::shared::Shared;
use hairspring_host::thread::allowed_cpus;
use nix::sys::signal::Signal;
use rustix::thread::futex;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The hidden argument by which a program becomes a partner or a background counter.
pub const ARGUMENT: &str = "__switch";
/// Time in which a partner must be ready.
const READY_TIME: Duration = Duration::from_secs(10);
/// Pause between two looks at something that another thread does.
const LOOK_INTERVAL: Duration = Duration::from_micros(200);

/// What the partner is to do when its turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Work.
    Turn(Turn),
    /// Report its switches and waits.
    Report,
    /// End.
    Quit,
}

const KIND: u32 = 56;

impl Order {
    /// The order as a number, for the memory that the sides share.
    pub fn encoded(self) -> u64 {
        match self {
            Order::Turn(turn) => turn.encoded(),
            Order::Report => 1 << KIND,
            Order::Quit => 2 << KIND,
        }
    }

    fn decoded(number: u64) -> Order {
        match number >> KIND {
            0 => Order::Turn(Turn::decoded(number)),
            1 => Order::Report,
            _ => Order::Quit,
        }
    }
}

/// What kind of partner, and with what.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The program that becomes a partner process; `None` for a thread.
    pub program: Option<PathBuf>,
    /// Bytes of its working set.
    pub bytes: usize,
    /// The CPU that both sides share.
    pub cpu: usize,
}

/// A partner that ends when this is dropped.
#[derive(Debug)]
pub struct Partner {
    shared: Arc<Shared>,
    knocker: Knocker,
    group: Option<Group>,
    /// Set when the end of the partner is wanted, or known.
    is_over: Arc<AtomicBool>,
    end: End,
    thread: Option<JoinHandle<()>>,
}

impl Partner {
    /// Starts a partner, and returns it with this side's end of the line. The calling thread must
    /// be bound to its CPU, and it must not end before the partner.
    ///
    /// # Errors
    /// What could not be started, in words.
    pub fn start(pair: &Wanted) -> Result<(Partner, Line), String> {
        let cannot =
            |part: &str, error: &dyn std::fmt::Display| format!("cannot start {part}: {error}");
        let role =
            if pair.program.is_some() { "the partner process" } else { "the partner thread" };
        block_signals().map_err(|error| cannot(role, &error))?;
        let shared = Arc::new(Shared::new().map_err(|error| cannot("shared memory", &error))?);
        shared.numbers().words[place::PARKED].0.store(TO_SLEEP, Ordering::SeqCst);
        let ends = Ends::new(pair.mechanism)
            .map_err(|error| cannot(&format!("a {}", pair.mechanism.name()), &error))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let end = End::default();
        let watch = Watch {
            leader: knocker(
                pair,
                Side::Leader,
                ThreadId::of_this_thread(),
                &shared,
                ends.to_leader,
            ),
            is_over: Arc::clone(&is_over),
            end: end.clone(),
        };
        let (group, thread, process) = match &pair.program {
            Some(program) => {
                let (group, thread, process) = process(program, pair, &shared, ends.partner, watch)
                    .map_err(|e| cannot(role, &e))?;
                (Some(group), thread, process)
            }
            None => (
                None,
                in_thread(pair, &shared, ends.partner, watch).map_err(|e| cannot(role, &e))?,
                ThreadId::of_this_thread().process,
            ),
        };
        let unknown = ThreadId { process, thread: 0 };
        let knocker = knocker(pair, Side::Partner, unknown, &shared, ends.to_partner);
        let mut partner = Partner {
            shared: Arc::clone(&shared),
            knocker,
            group,
            is_over,
            end,
            thread: Some(thread),
        };
        partner.await_ready(pair.cpu)?;
        let to = ThreadId {
            process,
            thread: shared.numbers().counts[place::THREAD].0.load(Ordering::SeqCst) as i32,
        };
        partner.knocker.thread = to;
        let calls = calls(pair.mechanism, pair.program.is_none(), Side::Leader, to, ends.leader)
            .map_err(|e| cannot(role, &e))?;
        Ok((partner, Line::new(Side::Leader, shared, calls)))
    }

    /// Waits until the partner is ready, and checks that both sides share a CPU.
    fn await_ready(&self, cpu: usize) -> Result<(), String> {
        let (numbers, begin) = (self.shared.numbers(), Instant::now());
        while numbers.words[place::READY].0.load(Ordering::SeqCst) == 0 {
            if let Some(end) = self.why_gone() {
                return Err(format!("{end} before it was ready"));
            }
            if begin.elapsed() > READY_TIME {
                return Err(format!(
                    "the partner was not ready after {} s: the machine is too busy",
                    READY_TIME.as_secs()
                ));
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        let only = numbers.counts[place::CPU].0.load(Ordering::SeqCst);
        if only == cpu as u64 + 1 {
            return Ok(());
        }
        Err(format!(
            "the partner is not bound to CPU {cpu}: two sides on different CPUs do not switch"
        ))
    }

    /// Why the partner is gone, if it is.
    pub fn why_gone(&self) -> Option<String> {
        self.end.reason()
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let is_process = self.group.take().is_some();
        self.shared.numbers().counts[place::ORDER].0.store(Order::Quit.encoded(), Ordering::SeqCst);
        let Some(thread) = self.thread.take() else { return };
        while !is_process && !thread.is_finished() {
            self.knocker.knock();
            std::thread::sleep(LOOK_INTERVAL);
        }
        let _ = thread.join();
    }
}

/// The descriptors of both ends, and those that end a wait from outside.
struct Ends {
    leader: Option<(Stream, Stream)>,
    partner: Option<Stream>,
    to_leader: Option<OwnedFd>,
    to_partner: Option<OwnedFd>,
}

impl Ends {
    fn new(mechanism: Mechanism) -> std::io::Result<Ends> {
        if !matches!(mechanism, Mechanism::Pipe | Mechanism::Eventfd) {
            return Ok(Ends { leader: None, partner: None, to_leader: None, to_partner: None });
        }
        let (leader, partner) = streams(mechanism)?;
        let (to_leader, to_partner) = (partner.write.try_clone()?, leader.write.try_clone()?);
        let alone = loopback(mechanism)?;
        Ok(Ends {
            leader: Some((leader, alone)),
            partner: Some(partner),
            to_leader: Some(to_leader),
            to_partner: Some(to_partner),
        })
    }
}

/// Private futexes are cheaper, and are what threads of one process use.
fn flags(is_thread: bool) -> futex::Flags {
    if is_thread { futex::Flags::PRIVATE } else { futex::Flags::empty() }
}

fn knocker(
    pair: &Wanted,
    side: Side,
    thread: ThreadId,
    shared: &Arc<Shared>,
    stream: Option<OwnedFd>,
) -> Knocker {
    let flags = flags(pair.program.is_none());
    Knocker {
        side,
        thread,
        shared: Arc::clone(shared),
        flags,
        stream,
        by_signal: pair.mechanism == Mechanism::Signal,
    }
}

fn calls(
    mechanism: Mechanism,
    is_thread: bool,
    side: Side,
    to: ThreadId,
    streams: Option<(Stream, Stream)>,
) -> std::io::Result<Calls> {
    Ok(match (mechanism, streams) {
        (Mechanism::Futex, _) => Calls::Futex(flags(is_thread)),
        (Mechanism::Signal, _) => Calls::Signal { to, own_signals: own_signals(side) },
        (Mechanism::Yield, _) => Calls::Yield,
        (Mechanism::Pipe | Mechanism::Eventfd, Some((both, alone))) => {
            Calls::Stream { both, alone }
        }
        (Mechanism::Pipe | Mechanism::Eventfd, None) => {
            return Err(std::io::Error::other("there are no descriptors"));
        }
    })
}

/// What tells the leader that its partner has ended.
struct Watch {
    leader: Knocker,
    is_over: Arc<AtomicBool>,
    end: End,
}

impl Watch {
    /// Keeps the reason, and ends the leader's waits until it has seen it.
    fn tell(&self, reason: String) {
        if self.is_over.load(Ordering::SeqCst) {
            return;
        }
        self.end.tell(reason);
        self.leader.shared.numbers().words[place::GONE].0.store(1, Ordering::SeqCst);
        while !self.is_over.load(Ordering::SeqCst) {
            self.leader.knock();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Starts a partner process, and a thread that waits for its end.
fn process(
    program: &Path,
    pair: &Wanted,
    shared: &Shared,
    stream: Option<Stream>,
    watch: Watch,
) -> std::io::Result<(Group, JoinHandle<()>, i32)> {
    let leader = ThreadId::of_this_thread();
    let words = [
        ARGUMENT.to_owned(),
        pair.mechanism.name().to_owned(),
        shared.descriptor().to_string(),
        pair.bytes.to_string(),
        leader.process.to_string(),
        leader.thread.to_string(),
    ];
    let (input, output) = match stream {
        Some(stream) => (Stdio::from(stream.read), Stdio::from(stream.write)),
        None => (Stdio::null(), Stdio::null()),
    };
    let (mut child, group) =
        Group::spawn(Command::new(program).args(words).stdin(input).stdout(output))?;
    let number = child.id() as i32;
    let thread = std::thread::Builder::new().name("partner's end".into()).spawn(move || {
        let end = child.wait();
        watch.tell(end.map_or_else(
            |error| error.to_string(),
            |status| format!("the partner process ended ({status})"),
        ));
    })?;
    Ok((group, thread, number))
}

/// Starts a partner thread.
fn in_thread(
    pair: &Wanted,
    shared: &Arc<Shared>,
    stream: Option<Stream>,
    watch: Watch,
) -> std::io::Result<JoinHandle<()>> {
    let (pair, shared, leader) = (pair.clone(), Arc::clone(shared), ThreadId::of_this_thread());
    std::thread::Builder::new().name("partner".into()).spawn(move || {
        let served = serve(pair.mechanism, true, shared, stream, leader, pair.bytes);
        let reason = served.map_or_else(|error| error.to_string(), |()| "it was told to".into());
        watch.tell(format!("the partner thread ended ({reason})"));
    })
}

/// Whether the arguments of a program say that it is a partner or a background counter.
pub fn is_partner(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.nth(1).is_some_and(|first| first == ARGUMENT)
}

/// The partner or the background counter of another process, until that ends. Returns the status
/// for the end of this process.
pub fn main(arguments: impl Iterator<Item = String>) -> u8 {
    let words: Vec<String> = arguments.skip(2).collect();
    match serve_other(&words) {
        Ok(()) => 0,
        Err(reason) => {
            eprintln!("hairspring: partner: {reason}");
            1
        }
    }
}

/// Serves the process that the words name.
fn serve_other(words: &[String]) -> Result<(), String> {
    let [role, descriptor, bytes, process, thread] = words else {
        return Err(format!("{ARGUMENT} is for hairspring itself, with five arguments"));
    };
    let number =
        |text: &String| text.parse::<i32>().map_err(|_| format!("`{text}` is not a number"));
    let leader = ThreadId { process: number(process)?, thread: number(thread)? };
    let bytes: usize = bytes.parse().map_err(|_| format!("`{bytes}` is not a number of bytes"))?;
    // Ends with the thread that started it, however that ends.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(|error| error.to_string())?;
    if nix::unistd::getppid().as_raw() != leader.process {
        return Err("the process that started it has ended".into());
    }
    let shared = Shared::inherited(number(descriptor)?)
        .map_err(|error| format!("shared memory: {error}"))?;
    if role == super::background::ROLE {
        return super::background::count(&shared);
    }
    let mechanism = Mechanism::from_name(role)?;
    let cannot = |error: std::io::Error| error.to_string();
    block_signals().map_err(cannot)?;
    let owned =
        |descriptor: std::os::fd::BorrowedFd| descriptor.try_clone_to_owned().map_err(cannot);
    let stream =
        Stream { read: owned(std::io::stdin().as_fd())?, write: owned(std::io::stdout().as_fd())? };
    serve(mechanism, false, Arc::new(shared), Some(stream), leader, bytes).map_err(cannot)
}

/// Takes turns until it is told to end.
fn serve(
    mechanism: Mechanism,
    is_thread: bool,
    shared: Arc<Shared>,
    stream: Option<Stream>,
    leader: ThreadId,
    bytes: usize,
) -> std::io::Result<()> {
    let streams =
        stream.map(|stream| loopback(mechanism).map(|alone| (stream, alone))).transpose()?;
    let calls = calls(mechanism, is_thread, Side::Partner, leader, streams)?;
    let mut work = Work::new(bytes);
    let mut line = Line::new(Side::Partner, shared, calls);
    announce(&line);
    loop {
        line.wait()?;
        match Order::decoded(line.numbers().counts[place::ORDER].0.load(Ordering::SeqCst)) {
            Order::Turn(turn) => work.turn(turn),
            Order::Report => report(&line),
            Order::Quit => return Ok(()),
        }
        line.pass()?;
    }
}

/// Says that this side is ready, and where it runs.
fn announce(line: &Line) {
    let numbers = line.numbers();
    let only = match allowed_cpus()[..] {
        [cpu] => cpu as u64 + 1,
        _ => 0,
    };
    numbers.counts[place::CPU].0.store(only, Ordering::SeqCst);
    numbers.counts[place::THREAD]
        .0
        .store(ThreadId::of_this_thread().thread as u64, Ordering::SeqCst);
    numbers.words[place::READY].0.store(1, Ordering::SeqCst);
}

fn report(line: &Line) {
    let numbers = line.numbers();
    numbers.counts[place::SWITCHES].0.store(all_switches(), Ordering::SeqCst);
    numbers.counts[place::WAITS].0.store(line.waits(), Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_shared_memory() {
        let turn = Order::Turn(Turn { units: u32::MAX, passes: u16::MAX, flush: true });
        assert!(
            [turn, Order::Report, Order::Quit]
                .into_iter()
                .all(|order| Order::decoded(order.encoded()) == order)
        );
    }

    #[test]
    fn words_of_somebody_else_are_refused() {
        let refused = |words: &[&str]| {
            serve_other(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
                .unwrap_err()
        };
        assert!(refused(&[]).contains("five arguments"));
        assert!(
            refused(&["pipe", "x", "0", "1", "1"])
                .contains("the process that started it has ended")
        );
        assert!(refused(&["pipe", "3", "many", "1", "1"]).contains("`many`"));
        assert!(
            is_partner(["a", ARGUMENT].into_iter().map(str::to_owned))
                && !is_partner(["a", "b"].into_iter().map(str::to_owned))
        );
    }
}
