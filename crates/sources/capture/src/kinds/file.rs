//! Findings about the file of a recording.

use hairspring_core::judge::words::counted;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about the file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum FileFinding {
    /// It ends before it should.
    RecordingCut { place: String, reason: String },
    /// Its header has wrong sizes.
    SizesWrong { stated: u64, found: u64 },
    /// The pin's level was undefined in between.
    LevelUndefined { times: u64, first_at: String },
    /// Nothing in it tells whether a simulator or a recorder wrote it.
    WriterUnknown { assumed_ppm: f64 },
    /// It has several channels, of which the first was taken.
    ChannelAssumed { taken: String, all: Vec<String> },
}

impl Kind for FileFinding {
    fn describe(self) -> Description {
        match self {
            FileFinding::RecordingCut { place, reason } => Description {
                code: "recording_cut",
                message: format!("the recording is cut, {place}: {reason}"),
                numbers: numbers! { place, reason },
                remedy: "what comes before is used; record it again if frames are missing",
            },
            FileFinding::SizesWrong { stated, found } => Description {
                code: "sizes_wrong",
                message: format!(
                    "the header states {stated} bytes of samples, but there are {found}: all of \
                     them are used"
                ),
                numbers: numbers! { stated, found },
                remedy: "nothing to do: programs that write a file as a stream cannot know its \
                         size",
            },
            FileFinding::LevelUndefined { times, first_at } => Description {
                code: "level_undefined",
                message: format!(
                    "the level was undefined {}, the first {first_at}: the next level is not \
                     counted as an edge",
                    counted(times, "time", "times")
                ),
                numbers: numbers! { times, first_at },
                remedy: "drive the pin before the first frame and do not make it an input \
                         afterwards",
            },
            FileFinding::WriterUnknown { assumed_ppm } => Description {
                code: "writer_unknown",
                message: format!(
                    "the file does not name what wrote it: a recorder is assumed, whose crystal is \
                     off by {assumed_ppm} ppm (standard uncertainty) and whose samples are as far \
                     apart as the stamps show"
                ),
                numbers: numbers! { assumed_ppm },
                remedy: "if a simulator wrote it, use --exact-clock; if a recorder did, use \
                         --reference or --rate-ppm",
            },
            FileFinding::ChannelAssumed { taken, all } => Description {
                code: "channel_assumed",
                message: format!(
                    "the file has {} channels ({}), and channel {taken} was taken",
                    all.len(),
                    all.join(", ")
                ),
                numbers: numbers! { taken, all },
                remedy: "name the channel if you want another one",
            },
        }
    }
}
