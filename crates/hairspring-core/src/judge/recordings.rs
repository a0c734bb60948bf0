//! Doubts about the recording of a pin, in words.

use super::finding::FindingKind;

/// A number with the word for one or for several.
fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// The finding in words, and what to do about it; `None` for what is no doubt about a recording.
pub(super) fn words(kind: &FindingKind) -> Option<(String, &'static str)> {
    use FindingKind::*;
    if let Some(words) = of_signal(kind).or_else(|| of_counts(kind)) {
        return Some(words);
    }
    Some(match kind {
        FramesLeftOut { left_out, frames, first_at, reason } => (
            format!("{left_out} of {frames} frames left out; the first {first_at}: {reason}"),
            "look at the signal there (--edges lists the edges); none of its pulses was given a k",
        ),
        PulsesDoubted { pulses, of } => (
            format!("{pulses} of {of} pulses are far from all others of their k and left out"),
            "look at them with --save (flag x): a glitch in the place of a pulse, or an interrupt on the chip",
        ),
        PulsesTooShort { rows, of, samples, needed, left_out } => (
            format!(
                "the pulses of {rows} of {of} rows are shorter than {needed:.0} samples (the shortest {samples:.1}): the two edges of such a pulse move each other; {}",
                if *left_out { "those rows are left out" } else { "all rows are used, as too few would be left" }
            ),
            "begin with more copies, record at a higher rate, or put a fixed delay into every pulse",
        ),
        PulsesOutside { pulses } => (
            format!("{} not used", counted(*pulses, "pulse outside of all frames is", "pulses outside of all frames are")),
            "nothing to do if the pin has other uses between the frames; else look for glitches with --edges",
        ),
        PhaseLocked { rows, of, concentration } => (
            format!(
                "the pulses of {rows} of {of} rows always begin at the same place between two samples (concentration {concentration:.2}): the bias of the edges does not average out"
            ),
            "dither the gaps between pulses by at least one sample, and the idle time between frames (spec/capture.md)",
        ),
        RecordingCut { place, reason } => {
            (format!("the recording is cut, {place}: {reason}"), "what comes before is used; record it again if frames are missing")
        }
        SizesWrong { stated, found } => (
            format!("the header states {stated} bytes of samples, and there are {found}: all of them are used"),
            "nothing to do: the file was written as a stream",
        ),
        LevelUndefined { times, first_at } => (
            format!("the level was undefined {}, the first {first_at}: what comes next is no edge", counted(*times, "time", "times")),
            "drive the pin before the first frame and do not make it an input afterwards",
        ),
        ChannelAssumed { taken, all } => (
            format!("the file has {} channels ({}), and channel {taken} was taken", all.len(), all.join(", ")),
            "choose another one with --channel",
        ),
        NotNumbers { samples, first_at } => (
            format!(
                "{}, the first {first_at}: there is no edge at them",
                counted(*samples, "sample is no number", "samples are no numbers")
            ),
            "record or convert it again",
        ),
        _ => return None,
    })
}

/// Doubts about what the pulses count.
fn of_counts(kind: &FindingKind) -> Option<(String, &'static str)> {
    use FindingKind::*;
    Some(match kind {
        OverheadBelowZero { value, unit, copies, component, first_pulse } => (
            format!(
                "the overhead comes out as {value:.1} {unit}, and a toggle cannot take less than nothing: it is as if the counts were {} copies of {component} too high; the first pulse was taken as {first_pulse}",
                if *copies < 0.01 { "less than 0.01".to_owned() } else { format!("{copies:.*}", if *copies < 0.1 { 2 } else { 1 }) }
            ),
            "compare --k, or the counts in the firmware's headers, with what the first pulse holds; if they are right, one of the two edges is recorded late (a slow pull-up)",
        ),
        _ => return None,
    })
}

/// Doubts about a sampled signal.
fn of_signal(kind: &FindingKind) -> Option<(String, &'static str)> {
    use FindingKind::*;
    Some(match kind {
        Clipped { samples, first_at } => (
            format!("{samples} samples are clipped, the first {first_at}: edges may be off where the signal is cut"),
            "record at a lower level",
        ),
        Overloaded { steps, first_at } => (
            format!(
                "{} lower than the others and stop at one level, the first {first_at}: the signal is clipped before the converter, below full scale, and edges may be off",
                counted(*steps, "step is", "steps are")
            ),
            "make the signal smaller at the recorder's input, with a divider of two resistors for instance; a lower gain alone does not help",
        ),
        NoisySignal { noise_percent } => (
            format!("the noise is {noise_percent:.1} % of a step: edges scatter, and some may be missed"),
            "record at a higher level, with a shorter or shielded wire",
        ),
        LevelWanders { share_percent } => (
            format!("the level wanders by {share_percent:.0} % of a step: hum, or the drift of an input without direct current"),
            "nothing to do if the intervals suit: edges are found by their slope; else shield the wire and join the grounds",
        ),
        WeakEdges { edges, first_at } => (
            format!(
                "{} too small for an edge and too large for noise, the first {first_at}: not used",
                counted(*edges, "step is", "steps are")
            ),
            "look at the signal there: a glitch, another signal that leaks in, or a contact that is loose",
        ),
        Oversampled { rise_samples, averaged } => (
            format!("an edge rises over {rise_samples:.0} samples: {averaged} of them are averaged"),
            "nothing to do: a rate of so many times less would give the same; edges that rise faster are surer",
        ),
        _ => return None,
    })
}
