//! The network side of the exchange: the task's end of the connection, and the partner that answers
//! it.

use super::exchange::Answers;
use super::frame::{FRAME_BYTES, Frame, HELLO, Kind, NoFrame};
use super::tally::{Bins, Tick};
use super::task::{Machine, Partner};
use hairspring_host::clock::Clock;
use hairspring_host::{Error, Result};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Default port of the partner.
pub const PORT: u16 = 47_110;

/// Size of the receive buffer: more than a frame, so that longer frames are recognised as foreign.
const ROOM: usize = 2 * FRAME_BYTES;

/// Most frames read at once, so that a flood does not delay the task.
const MOST_AT_ONCE: usize = 64;

/// The addresses of a host name, with or without a port.
///
/// # Errors
/// There is no address.
pub fn resolve(name: &str) -> Result<Vec<SocketAddr>> {
    let addresses =
        name.to_socket_addrs().or_else(|_| (name.trim_matches(['[', ']']), PORT).to_socket_addrs());
    let refused =
        |reason: String| Error::Refused { what: format!("no address for `{name}`"), reason };
    let all_addresses: Vec<SocketAddr> = addresses
        .map_err(|e| {
            refused(format!("{e}; give HOST or HOST:PORT, as 192.168.1.7:{PORT} or [::1]:{PORT}"))
        })?
        .collect();
    if all_addresses.is_empty() {
        Err(refused("the name has no address".into()))
    } else {
        Ok(all_addresses)
    }
}

/// The task's end of the connection.
#[derive(Debug)]
pub struct Line {
    socket: UdpSocket,
    clock: Clock,
    session: u64,
    to: SocketAddr,
    /// The fate of the frames, reset when the run begins.
    pub answers: Answers,
}

impl Line {
    /// Connects to a partner and waits up to a second for its answer to a greeting.
    ///
    /// # Errors
    /// If the name has no address, or nobody answers there.
    pub fn open(name: &str, clock: Clock, tick: Tick, bins: &Bins) -> Result<Line> {
        let all_addresses = resolve(name)?;
        let mut last = String::new();
        for to in all_addresses {
            let session = RandomState::new().build_hasher().finish();
            match connect(to).and_then(|socket| greet(&socket, session).map(|()| socket)) {
                Ok(socket) => {
                    return Ok(Line {
                        socket,
                        clock,
                        session,
                        to,
                        answers: Answers::new(session, tick, bins),
                    });
                }
                Err(error) => last = format!("{to}: {error}"),
            }
        }
        let next =
            "start `hairspring period --respond` there, and see that UDP gets through to its port";
        Err(Error::Refused {
            what: format!("no partner at `{name}`"),
            reason: format!("{last}; {next}"),
        })
    }

    /// Address of the partner.
    pub fn to(&self) -> SocketAddr {
        self.to
    }

    /// Reads the frames that have arrived.
    fn drain(&mut self, now_ns: u64) -> Option<(u64, u64)> {
        let mut last = None;
        for _ in 0..MOST_AT_ONCE {
            let mut bytes = [0; ROOM];
            match self.socket.recv(&mut bytes) {
                Ok(length) => {
                    last = self
                        .answers
                        .received(&bytes[..length], (self.clock.read)(), now_ns)
                        .or(last)
                }
                // If the partner has ended, the system reports one refusal for each frame.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(_) => break,
            }
        }
        last
    }

    /// Waits for late answers after the run.
    pub fn await_late_answers(&mut self, machine: &mut dyn Machine) {
        const GRACE_NS: u64 = 100_000_000;
        let end_ns = machine.now_ns() + GRACE_NS;
        while self.answers.lost() > 0 && machine.now_ns() < end_ns {
            self.sleep(end_ns.saturating_sub(machine.now_ns()).min(GRACE_NS / 10));
            self.drain(machine.now_ns());
        }
    }

    fn sleep(&self, ns: u64) {
        let mut wanted_events = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // A signal ends the wait early; the task checks for that.
        let _ = ppoll(
            &mut wanted_events,
            Some(TimeSpec::from_duration(Duration::from_nanos(ns))),
            None,
        );
    }
}

fn connect(to: SocketAddr) -> std::io::Result<UdpSocket> {
    let any: SocketAddr =
        if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let socket = UdpSocket::bind(any)?;
    // On a connected socket the kernel drops frames from other addresses.
    socket.connect(to)?;
    Ok(socket)
}

/// Sends greetings until one is answered.
fn greet(socket: &UdpSocket, session: u64) -> std::io::Result<()> {
    const TRIES: u32 = 5;
    const EACH_WAIT: Duration = Duration::from_millis(200);
    let question = Frame { kind: Kind::Question, session, number: HELLO };
    socket.set_read_timeout(Some(EACH_WAIT))?;
    for _ in 0..TRIES {
        socket.send(&question.bytes())?;
        let begin = Instant::now();
        while begin.elapsed() < EACH_WAIT {
            let mut bytes = [0; ROOM];
            match socket.recv(&mut bytes) {
                Ok(length) if Frame::parse(&bytes[..length]) == Ok(question.answered()) => {
                    return socket.set_nonblocking(true);
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Err(error),
                Err(_) => break,
            }
        }
    }
    Err(std::io::Error::new(ErrorKind::TimedOut, "no answer for a second"))
}

/// A connection, and the machine whose clock its waits use.
#[derive(Debug)]
pub struct Master<'a, M> {
    /// The connection.
    pub line: &'a mut Line,
    /// The machine.
    pub machine: M,
}

impl<M: Machine> Partner for Master<'_, M> {
    fn ask(&mut self, cycle: u64, end_ns: u64) {
        self.line.drain(self.machine.now_ns());
        let bytes =
            Frame { kind: Kind::Question, session: self.line.session, number: cycle }.bytes();
        let ticks = (self.line.clock.read)();
        // The first refusal may be about an earlier frame.
        if self.line.socket.send(&bytes).or_else(|_| self.line.socket.send(&bytes)).is_ok() {
            self.line.answers.sent(cycle, ticks, end_ns);
        } else {
            self.line.answers.not_sent += 1;
        }
    }

    fn wait(&mut self, cycle: u64, until_ns: u64) -> Option<u64> {
        let mut waited = false;
        loop {
            let now_ns = self.machine.now_ns();
            if let Some((_, ticks)) =
                self.line.drain(now_ns).filter(|(answered, _)| *answered == cycle)
            {
                return Some(ticks);
            }
            if now_ns >= until_ns || waited {
                return None;
            }
            self.line.sleep(until_ns - now_ns);
            // A signal ended the wait: no frame has arrived, and time is left. The task checks for
            // signals.
            waited = self.machine.now_ns() >= until_ns;
        }
    }
}

/// The counts of a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Responded {
    /// Frames answered, greetings included.
    pub answered: u64,
    /// Messages with too few bytes for a frame.
    pub short: u64,
    /// Frames of another program or version, and answers.
    pub foreign: u64,
    /// Answers that could not be sent.
    pub not_sent: u64,
}

/// Listens at an address.
///
/// # Errors
/// If it is not possible to listen there; the message says why.
pub fn listen(name: &str) -> Result<UdpSocket> {
    let all_addresses = resolve(name)?;
    UdpSocket::bind(&all_addresses[..]).map_err(|e| Error::Refused {
        what: format!("cannot listen at {}", all_addresses[0]),
        reason: format!(
            "{e}; give an address of this machine and a free port (--respond ADDR:PORT)"
        ),
    })
}

/// Answers frames until `stop` is set or the time has passed.
///
/// # Errors
/// If the socket cannot be used at all.
pub fn respond(socket: &UdpSocket, time: Option<Duration>, stop: &AtomicBool) -> Result<Responded> {
    // A signal ends a wait at once; the limit is for the end of the time, and for a signal just
    // before the call.
    let refused = |e: std::io::Error| Error::Refused {
        what: "the socket cannot be used".into(),
        reason: e.to_string(),
    };
    socket.set_read_timeout(Some(Duration::from_millis(100))).map_err(refused)?;
    let (begin, mut done) = (Instant::now(), Responded::default());
    while !stop.load(Ordering::Relaxed) && time.is_none_or(|time| begin.elapsed() < time) {
        let mut bytes = [0; ROOM];
        // Time-outs, signals and refusals of earlier answers do not end the loop.
        let Ok((length, from)) = socket.recv_from(&mut bytes) else { continue };
        match Frame::parse(&bytes[..length]) {
            Ok(question) if question.kind == Kind::Question => {
                match socket.send_to(&question.answered().bytes(), from) {
                    Ok(_) => done.answered += 1,
                    Err(_) => done.not_sent += 1,
                }
            }
            Err(NoFrame::Short) => done.short += 1,
            _ => done.foreign += 1,
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::{Width, default_clock};

    const TICK: Tick = Tick { ns: 1.0, width: Width::FULL };

    #[test]
    fn names_are_resolved_with_and_without_a_port() {
        assert_eq!(resolve("127.0.0.1:9").unwrap()[0].port(), 9);
        assert_eq!(resolve("127.0.0.1").unwrap()[0].port(), PORT);
        assert_eq!(resolve("::1").unwrap()[0], SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], PORT)));
        let message = resolve("no host at all").unwrap_err().to_string();
        assert!(message.contains("`no host at all`") && message.contains("HOST:PORT"), "{message}");
    }

    #[test]
    fn a_missing_partner_is_an_error_that_says_what_to_start() {
        // Bound, so that nobody else answers at this port.
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let name = silent.local_addr().unwrap().to_string();
        let message = Line::open(&name, default_clock(), TICK, &Bins::for_period(1_000_000))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains(&name)
                && message.contains("--respond")
                && message.contains("no answer"),
            "{message}"
        );
    }

    #[test]
    fn the_partner_answers_questions_and_nothing_else() {
        let socket = listen("127.0.0.1:0").unwrap();
        let to = socket.local_addr().unwrap();
        let stop = AtomicBool::new(false);
        let done = std::thread::scope(|scope| {
            let partner = scope.spawn(|| respond(&socket, None, &stop).unwrap());
            let mut line =
                Line::open(&to.to_string(), default_clock(), TICK, &Bins::for_period(1_000_000))
                    .unwrap();
            let system = || super::super::system::System::new([default_clock(), default_clock()]);
            line.socket.send(b"short").unwrap();
            line.socket.send(&[0; 40]).unwrap();
            let mut master = Master { line: &mut line, machine: system() };
            let end = master.machine.now_ns() + 10_000_000_000;
            master.ask(0, end);
            assert!(master.wait(0, end).is_some());
            assert_eq!((line.answers.sent, line.answers.in_time, line.answers.lost()), (1, 1, 0));
            stop.store(true, Ordering::Relaxed);
            partner.join().unwrap()
        });
        assert_eq!((done.short, done.foreign, done.not_sent), (1, 1, 0));
        assert!(done.answered >= 2);
    }

    #[test]
    fn listening_on_the_address_of_another_machine_is_an_error() {
        let message = listen("192.0.2.1:47110").unwrap_err().to_string();
        assert!(message.contains("192.0.2.1:47110") && message.contains("--respond"), "{message}");
    }
}
