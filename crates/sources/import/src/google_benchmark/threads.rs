//! What the time of a run with several threads means. `iterations` is the sum over all threads.
//! Up to 1.8 `real_time` is the time that passed over this sum; since 1.9.0 (pull request 1836) it
//! is the time that passed over the iterations of one thread.

/// What a file says of the library that wrote it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stated<'a> {
    pub version: Option<&'a str>,
    /// Whether it has `library_build_type`, which all versions of the library write.
    pub has_build_type: bool,
}

/// The times of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    pub name: &'a str,
    pub real: Option<f64>,
    pub cpu: Option<f64>,
}

/// What `real_time` is the time of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// The time that passed, over the iterations of all threads.
    OfAll,
    /// The time that passed, over the iterations of one thread.
    OfEach,
    /// It cannot be known.
    Unknown,
}

impl Means {
    /// What the version says, and else the times themselves.
    pub fn of(stated: Stated<'_>, run: Run<'_>) -> Means {
        let by_version = match stated.version {
            Some(version) => by_version(version),
            // All versions that do not name themselves are older.
            None if stated.has_build_type => Means::OfAll,
            None => Means::Unknown,
        };
        if by_version == Means::Unknown { by_times(run) } else { by_version }
    }

    /// The iterations of each thread, and the time that passed; `None` if that is not known.
    pub fn reading(self, iterations: f64, time: f64, threads: f64) -> Option<(f64, f64)> {
        match self {
            _ if threads <= 1.0 => Some((iterations, iterations * time)),
            Means::OfAll => Some((iterations / threads, iterations * time)),
            Means::OfEach => Some((iterations / threads, iterations / threads * time)),
            Means::Unknown => None,
        }
    }
}

/// By a version such as `v1.9.5`, `1.8.4` or `v1.8.3-12-g1234567`: behind the last release of 1.8
/// the change may be in or not.
fn by_version(version: &str) -> Means {
    let version = version.trim().trim_start_matches('v');
    let (release, is_later) = match version.split_once('-') {
        Some((release, _)) => (release, true),
        None => (version, false),
    };
    let mut numbers = release.split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(0), Some(0)) | (None, _) | (_, None) => Means::Unknown,
        (Some(1), Some(8)) if is_later => Means::Unknown,
        (Some(major), Some(minor)) if (major, minor) >= (1, 9) => Means::OfEach,
        _ => Means::OfAll,
    }
}

/// `cpu_time` is that of one iteration in both. While a thread computes for it, so much time passes
/// at least: a shorter one was divided. A longer one may be divided too, if the threads wait. The
/// processor time of the whole process shows nothing.
fn by_times(run: Run<'_>) -> Means {
    let of_thread = !run.name.contains("/process_time");
    match (run.real, run.cpu) {
        (Some(real), Some(cpu)) if of_thread && real < 0.9 * cpu => Means::OfAll,
        _ => Means::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_decides_unless_it_is_between_releases() {
        for (version, means) in [
            ("v1.9.5", Means::OfEach),
            ("1.9.0", Means::OfEach),
            ("v1.10.0-3-gabc", Means::OfEach),
            ("v2.0.0", Means::OfEach),
            ("v1.8.4", Means::OfAll),
            ("1.7.1-5-gabc", Means::OfAll),
            ("v1.8.4-70-gabc", Means::Unknown),
            ("v0.0.0", Means::Unknown),
            ("", Means::Unknown),
            ("main", Means::Unknown),
        ] {
            assert_eq!(by_version(version), means, "{version}");
        }
    }

    #[test]
    fn one_thread_needs_no_version() {
        assert_eq!(Means::Unknown.reading(10.0, 2.0, 1.0), Some((10.0, 20.0)));
        assert_eq!(Means::Unknown.reading(10.0, 2.0, 4.0), None);
        assert_eq!(Means::OfAll.reading(40.0, 0.5, 4.0), Some((10.0, 20.0)));
        assert_eq!(Means::OfEach.reading(40.0, 2.0, 4.0), Some((10.0, 20.0)));
    }
}
