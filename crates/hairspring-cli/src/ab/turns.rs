//! The end of the socket that gives the turns: `hairspring_program::turns` has the other one.

use hairspring_program::turns::{OVER, START};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks for a program that connects, or has ended.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);
/// The same once it is clear that it takes its time.
const LATER_LOOKS: Duration = Duration::from_millis(5);
/// Looks of the first kind.
const MANY_LOOKS: u32 = 500;

/// What a program says when its turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It is at the start of a group of benchmarks.
    Start,
    /// It is between two batches.
    Over,
    /// Nothing: it has ended, or closed its end.
    Nothing,
    /// Nothing yet, as the measurement was stopped.
    Stopped,
}

/// The socket of one process.
pub struct Socket {
    path: PathBuf,
    listener: Option<UnixListener>,
    stream: Option<UnixStream>,
}

impl Socket {
    /// A socket at this path.
    ///
    /// # Errors
    /// Errors of the system, such as a path that is too long.
    pub fn new(path: &Path) -> Result<Socket, String> {
        let made = UnixListener::bind(path).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = made.map_err(|error| format!("a socket at {}: {error}", path.display()))?;
        Ok(Socket { path: path.to_owned(), listener: Some(listener), stream: None })
    }

    /// Where the program finds it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a turn, and waits until it is given back or the process has ended.
    ///
    /// # Errors
    /// It takes longer than the deadline allows.
    pub fn turn(
        &mut self,
        child: &mut Child,
        cpu: Option<usize>,
        wait: &Wait,
    ) -> Result<Said, String> {
        let is_first = self.listener.is_some();
        match is_first.then(|| self.connects(child, wait)).transpose()? {
            Some(false) if wait.is_stopped() => return Ok(Said::Stopped),
            Some(false) => return Ok(Said::Nothing),
            Some(true) | None => {}
        }
        let line = match is_first {
            true => cpu.map_or_else(|| "\n".to_owned(), |cpu| format!("{cpu}\n")),
            false => "g".to_owned(),
        };
        // Nobody else may connect: a program that the code starts works without turns.
        if self.listener.take().is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
        let Some(stream) = &mut self.stream else { return Ok(Said::Nothing) };
        said(stream, &line, wait)
    }

    /// Waits for the program to connect; whether it does before it ends.
    fn connects(&mut self, child: &mut Child, wait: &Wait) -> Result<bool, String> {
        let Some(listener) = &self.listener else { return Ok(false) };
        for look in 0_u32.. {
            match listener.accept() {
                Ok((stream, _)) => {
                    self.stream = Some(stream);
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(format!("its socket: {error}")),
            }
            if wait.is_stopped() || child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Ok(false);
            }
            wait.check()?;
            std::thread::sleep(if look < MANY_LOOKS { BETWEEN_LOOKS } else { LATER_LOOKS });
        }
        Ok(false)
    }
}

/// How long to wait.
pub struct Wait<'a> {
    /// Until then.
    pub deadline: Instant,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
}

impl Wait<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn check(&self) -> Result<(), String> {
        if Instant::now() < self.deadline {
            return Ok(());
        }
        Err("did not end within the time of --timeout".to_owned())
    }
}

/// Time between two looks for a signal.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);

fn said(stream: &mut UnixStream, line: &str, wait: &Wait) -> Result<Said, String> {
    let told = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(BETWEEN_SIGNALS)))
        .and_then(|()| stream.write_all(line.as_bytes()));
    // A program that has ended cannot be written to.
    if told.is_err() {
        return Ok(Said::Nothing);
    }
    let mut byte = [0];
    loop {
        match (stream.read(&mut byte), byte[0]) {
            (Ok(1), START) => return Ok(Said::Start),
            (Ok(1), OVER) => return Ok(Said::Over),
            (Err(error), _) if is_waiting(&error) => wait.check()?,
            _ => return Ok(Said::Nothing),
        }
        if wait.is_stopped() {
            return Ok(Said::Stopped);
        }
    }
}

fn is_waiting(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
