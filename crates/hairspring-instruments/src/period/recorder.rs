//! Writes raw observations to a file while the task runs. They are collected in chunks and written
//! by another thread, so that a slow disk does not delay a cycle. spec/period.md describes the
//! format.

use super::tally::Wake;
use super::task::Recorder;
use std::io::{BufWriter, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Cycles in a chunk, and chunks that may wait to be written: about 4 MB.
const CHUNK: usize = 1024;
const CHUNKS: usize = 64;

type Record = (Wake, Option<u64>);

/// Writes raw observations. It is started before the task raises its priority, so that the writer
/// does not inherit it.
#[derive(Debug)]
pub struct CsvRecorder {
    chunk: Vec<Record>,
    chunks: Option<SyncSender<Vec<Record>>>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
    dropped: u64,
}

/// Lines before and after the rows, without the `# `.
pub type Notes = Vec<(String, String)>;

impl CsvRecorder {
    /// Starts to write to a stream, with these notes before the rows. More notes may follow at the
    /// end.
    pub fn start(
        out: impl Write + Send + 'static,
        notes: Notes,
    ) -> (CsvRecorder, SyncSender<Notes>) {
        let (chunks, rows) = sync_channel(CHUNKS);
        let (end, last) = sync_channel(1);
        let writer = std::thread::spawn(move || write(BufWriter::new(out), &notes, &rows, &last));
        (
            CsvRecorder {
                chunk: Vec::with_capacity(CHUNK),
                chunks: Some(chunks),
                writer: Some(writer),
                dropped: 0,
            },
            end,
        )
    }

    fn hand_over(&mut self) {
        let full = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        let count = full.len() as u64;
        if self.chunks.as_ref().is_some_and(|chunks| chunks.try_send(full).is_err()) {
            self.dropped += count;
        }
    }

    /// Waits until everything is written. Returns the number of cycles that could not be handed
    /// over in time.
    ///
    /// # Errors
    /// If writing failed, for example because the disk is full.
    pub fn finish(mut self, end: &SyncSender<Notes>, notes: Notes) -> std::io::Result<u64> {
        self.hand_over();
        // The writer may have ended with an error, which is returned below.
        let _ = end.send(notes);
        self.chunks = None;
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(result)) => result.map(|()| self.dropped),
            _ => Err(std::io::Error::other("the writer ended unexpectedly")),
        }
    }
}

impl Recorder for CsvRecorder {
    fn record(&mut self, wake: &Wake, round_trip_ticks: Option<u64>) {
        self.chunk.push((*wake, round_trip_ticks));
        if self.chunk.len() == CHUNK {
            self.hand_over();
        }
    }
}

fn write(
    mut out: impl Write,
    notes: &Notes,
    rows: &Receiver<Vec<Record>>,
    last: &Receiver<Notes>,
) -> std::io::Result<()> {
    write_notes(&mut out, notes)?;
    writeln!(out, "cycle,due_ns,wake_ns,first_ticks,second_ticks,round_trip_ticks")?;
    for (wake, round_trip) in rows.iter().flatten() {
        write!(
            out,
            "{},{},{},{},{},",
            wake.cycle, wake.due_ns, wake.wake_ns, wake.ticks[0], wake.ticks[1]
        )?;
        match round_trip {
            Some(ticks) => writeln!(out, "{ticks}")?,
            None => writeln!(out)?,
        }
    }
    if let Ok(notes) = last.recv() {
        write_notes(&mut out, &notes)?;
    }
    out.flush()
}

fn write_notes(out: &mut impl Write, notes: &Notes) -> std::io::Result<()> {
    notes.iter().try_for_each(|(key, value)| writeln!(out, "# {key}: {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn note(key: &str, value: &str) -> Notes {
        vec![(key.into(), value.into())]
    }

    fn wake(cycle: u64) -> Wake {
        Wake { cycle, due_ns: 100 * cycle, wake_ns: 100 * cycle + 7, ticks: [3 * cycle, 4] }
    }

    #[test]
    fn every_cycle_is_written_with_its_notes() {
        let out = Shared::default();
        let (mut recorder, end) = CsvRecorder::start(out.clone(), note("period_ns", "100"));
        (0..3_000).for_each(|cycle| recorder.record(&wake(cycle), (cycle == 1).then_some(55)));
        assert_eq!(recorder.finish(&end, note("first_rate_hz", "1")).unwrap(), 0);
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..2],
            ["# period_ns: 100", "cycle,due_ns,wake_ns,first_ticks,second_ticks,round_trip_ticks"]
        );
        assert_eq!(lines[2..4], ["0,0,7,0,4,", "1,100,107,3,4,55"]);
        assert_eq!((lines.len(), lines[3_002]), (3_003, "# first_rate_hz: 1"));
    }

    #[test]
    fn a_full_disk_is_an_error_and_delays_nothing() {
        let (mut recorder, end) = CsvRecorder::start(Full, note("period_ns", "100"));
        (0..200_000).for_each(|cycle| recorder.record(&wake(cycle), None));
        assert!(recorder.finish(&end, Vec::new()).unwrap_err().to_string().contains("disk full"));
    }
}
