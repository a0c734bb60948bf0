//! Matches answers to cycles: in time, late, lost, or foreign. Pure, and of bounded size.

use super::distribution::Stream;
use super::frame::{Frame, HELLO, Kind, NoFrame};
use super::tally::{Bins, Tick};

/// How many cycles back an answer is still recognised.
pub const REMEMBERED_CYCLES: usize = 1 << 16;

/// A frame that was sent.
#[derive(Debug, Clone, Copy)]
struct Sent {
    cycle: u64,
    ticks: u64,
    end_ns: u64,
    answered: bool,
}

/// Frames received that are not a first answer to a frame of this run. They are counted, and
/// otherwise ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ignored {
    /// Answers to frames that had already been answered.
    pub duplicates: u64,
    /// Answers to cycles that are too long ago to be recognised; these cycles stay lost.
    pub stale: u64,
    /// Frames of another run or program, and questions.
    pub foreign: u64,
    /// Messages with too few bytes for a frame.
    pub short: u64,
}

/// The fate of the frames of a run.
#[derive(Debug, Clone)]
pub struct Answers {
    session: u64,
    ring: Vec<Option<Sent>>,
    tick: Tick,
    /// Frames sent.
    pub sent: u64,
    /// Frames that could not be sent.
    pub not_sent: u64,
    /// Answers read before the end of their cycle.
    pub in_time: u64,
    /// Answers read after the end of their cycle.
    pub late: u64,
    /// Frames received and ignored.
    pub ignored: Ignored,
    /// Round trips of all answers in nanoseconds, the late ones included, by the rate known at the
    /// start.
    pub round_trips: Stream,
}

impl Answers {
    /// No frames yet. `tick` is that of the clock for round trips, which must not wrap within a
    /// round trip.
    pub fn new(session: u64, tick: Tick, bins: &Bins) -> Answers {
        Answers {
            session,
            ring: vec![None; REMEMBERED_CYCLES],
            tick,
            sent: 0,
            not_sent: 0,
            in_time: 0,
            late: 0,
            ignored: Ignored::default(),
            round_trips: Stream::new(bins.positive()),
        }
    }

    /// Records a cycle's frame, sent at a reading of the clock; its answer is in time before
    /// `end_ns`.
    pub fn sent(&mut self, cycle: u64, ticks: u64, end_ns: u64) {
        self.sent += 1;
        self.ring[cycle as usize % REMEMBERED_CYCLES] =
            Some(Sent { cycle, ticks, end_ns, answered: false });
    }

    /// Whether a cycle has its answer.
    pub fn answered(&self, cycle: u64) -> bool {
        self.ring[cycle as usize % REMEMBERED_CYCLES]
            .is_some_and(|sent| sent.cycle == cycle && sent.answered)
    }

    /// Records bytes that were received at a reading of the clock and at a time. If they are a
    /// first answer, returns the cycle and its round trip in ticks.
    pub fn received(&mut self, bytes: &[u8], ticks: u64, now_ns: u64) -> Option<(u64, u64)> {
        let frame = match Frame::parse(bytes) {
            Err(NoFrame::Short) => {
                self.ignored.short += 1;
                return None;
            }
            Ok(frame) if frame.kind == Kind::Answer && frame.session == self.session => frame,
            _ => {
                self.ignored.foreign += 1;
                return None;
            }
        };
        if frame.number == HELLO {
            // One of the greetings was answered more than once or late.
            self.ignored.duplicates += 1;
            return None;
        }
        self.answer(frame.number, ticks, now_ns)
    }

    fn answer(&mut self, cycle: u64, ticks: u64, now_ns: u64) -> Option<(u64, u64)> {
        match &mut self.ring[cycle as usize % REMEMBERED_CYCLES] {
            Some(sent) if sent.cycle == cycle && !sent.answered => {
                sent.answered = true;
                let round_trip = self.tick.width.between(sent.ticks, ticks);
                if now_ns <= sent.end_ns {
                    self.in_time += 1
                } else {
                    self.late += 1
                }
                self.round_trips.push(round_trip as f64 * self.tick.ns, cycle);
                return Some((cycle, round_trip));
            }
            Some(sent) if sent.cycle == cycle => self.ignored.duplicates += 1,
            Some(sent) if sent.cycle > cycle => self.ignored.stale += 1,
            _ => self.ignored.foreign += 1,
        }
        None
    }

    /// Frames that have no answer.
    pub fn lost(&self) -> u64 {
        self.sent - self.in_time - self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::Width;

    const SESSION: u64 = 5;

    fn answers(cycles: u64) -> Answers {
        let mut answers =
            Answers::new(SESSION, Tick { ns: 0.5, width: Width::FULL }, &Bins::for_period(1_000));
        // Sent at 2000 n ticks, to be answered before 1000 (n + 1) ns.
        (0..cycles).for_each(|cycle| answers.sent(cycle, 2_000 * cycle, 1_000 * (cycle + 1)));
        answers
    }

    fn answer(session: u64, number: u64) -> [u8; 24] {
        Frame { kind: Kind::Answer, session, number }.bytes()
    }

    #[test]
    fn answers_are_in_time_late_or_lost() {
        let mut answers = answers(4);
        assert_eq!(answers.received(&answer(SESSION, 0), 400, 200), Some((0, 400)));
        assert_eq!(answers.received(&answer(SESSION, 2), 6_200, 3_100), Some((2, 2_200)));
        assert_eq!((answers.sent, answers.in_time, answers.late, answers.lost()), (4, 1, 1, 2));
        assert_eq!(
            (answers.round_trips.moments.least().value, answers.round_trips.moments.most().value),
            (200.0, 1_100.0)
        );
        assert!(answers.answered(0) && !answers.answered(1) && answers.answered(2));
    }

    #[test]
    fn a_round_trip_is_right_even_if_the_counter_wraps() {
        let tick = Tick { ns: 0.5, width: Width::bits(32) };
        let mut answers = Answers::new(SESSION, tick, &Bins::for_period(1_000));
        answers.sent(0, 0xffff_ff00, 1_000);
        assert_eq!(answers.received(&answer(SESSION, 0), 0x90, 200), Some((0, 400)));
        assert_eq!(answers.round_trips.moments.most().value, 200.0);
    }

    #[test]
    fn an_answer_at_the_very_end_of_its_cycle_is_in_time() {
        let mut answers = answers(1);
        answers.received(&answer(SESSION, 0), 2_000, 1_000);
        assert_eq!((answers.in_time, answers.late), (1, 0));
    }

    #[test]
    fn other_answers_are_counted_and_ignored() {
        let mut answers = answers(3);
        answers.received(&answer(SESSION, 1), 2_100, 1_050);
        let before = (answers.in_time, answers.late, answers.round_trips.clone());
        answers.received(&answer(SESSION, 1), 2_200, 1_100);
        answers.received(&answer(SESSION + 1, 2), 4_100, 2_050);
        answers.received(&answer(SESSION, 9), 4_100, 2_050);
        answers.received(
            &Frame { kind: Kind::Question, session: SESSION, number: 2 }.bytes(),
            4_100,
            2_050,
        );
        answers.received(b"hello", 4_100, 2_050);
        answers.received(&[7; 300], 4_100, 2_050);
        answers.received(&[], 4_100, 2_050);
        assert_eq!(answers.ignored, Ignored { duplicates: 1, stale: 0, foreign: 4, short: 2 });
        assert_eq!((answers.in_time, answers.late, answers.round_trips.clone()), before);
        assert_eq!(answers.lost(), 2);
    }

    #[test]
    fn an_answer_from_too_long_ago_is_stale_and_its_cycle_stays_lost() {
        let mut answers = answers(REMEMBERED_CYCLES as u64 + 1);
        assert_eq!(answers.received(&answer(SESSION, 0), 1, 1), None);
        assert_eq!((answers.ignored.stale, answers.lost()), (1, REMEMBERED_CYCLES as u64 + 1));
    }
}
