//! The progress line. It is shown on a terminal only, and each line overwrites the one before.

use crate::output;
use hairspring_blocks::Progress;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Shortest time between two lines, and before the first.
const TIME_BETWEEN_LINES: Duration = Duration::from_millis(200);

/// When the last line was written.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Shows the progress, if the last line is old enough.
pub fn show(progress: Progress) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let Ok(mut last) = LAST.lock() else { return };
    let now = Instant::now();
    if now.duration_since(*last.get_or_insert(now)) >= TIME_BETWEEN_LINES
        || progress == Progress::Solving
    {
        *last = Some(now);
        output::status_line(&describe(progress));
    }
}

/// Clears the line.
pub fn clear() {
    output::status_line("");
}

fn describe(progress: Progress) -> String {
    match progress {
        Progress::Following { input, of } => format!("following input {input} of {of}"),
        Progress::Timing { elapsed, budget } => {
            format!(
                "timing, {:.0} s of {:.0} s",
                elapsed.as_secs_f64(),
                budget.max(elapsed).as_secs_f64().ceil()
            )
        }
        Progress::Solving => "solving".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_described() {
        assert_eq!(describe(Progress::Following { input: 3, of: 9 }), "following input 3 of 9");
        let timing = Progress::Timing {
            elapsed: Duration::from_millis(1_200),
            budget: Duration::from_secs(3),
        };
        assert_eq!(describe(timing), "timing, 1 s of 3 s");
    }
}
