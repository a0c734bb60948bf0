//! The highest rate that a counter of core cycles may come to have: that of the fastest clock of
//! any core, as the system states it.

use super::{Clock, CountsWhen, module};
use std::path::Path;

/// Where the system describes the clocks of the cores (cpufreq), a folder for each group of cores.
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";

/// The highest rate in Hz that a counter of the core or the thread may have on any core; `None`
/// where the system states none, and for clocks that always count.
pub fn highest_hz(clock: &Clock) -> Option<f64> {
    let of_core = matches!(clock.counts, CountsWhen::WhileCoreRuns | CountsWhen::WhileThreadRuns);
    let divisor =
        if clock.counts == CountsWhen::WhileCoreRuns { module::cycles_of_a_tick() } else { 1.0 };
    (of_core && clock.nominal_hz.is_none())
        .then(|| highest_core_hz(Path::new(POLICIES)))?
        .map(|hz| hz / divisor)
}

/// The highest of all groups. The system writes kHz.
fn highest_core_hz(policies: &Path) -> Option<f64> {
    let khz = |policy: std::fs::DirEntry| {
        std::fs::read_to_string(policy.path().join("cpuinfo_max_freq"))
            .ok()?
            .trim()
            .parse::<f64>()
            .ok()
    };
    let all = std::fs::read_dir(policies).ok()?.filter_map(|entry| khz(entry.ok()?));
    all.filter(|khz| *khz > 0.0).max_by(f64::total_cmp).map(|khz| khz * 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;

    #[test]
    fn fastest_group_of_cores_is_the_highest() {
        let folder =
            std::env::temp_dir().join(format!("hairspring-cpufreq-{}", std::process::id()));
        for (policy, khz) in [
            ("policy0", "1416000\n"),
            ("policy4", "1800000\n"),
            ("policy6", "unknown\n"),
            ("policy7", "0\n"),
        ] {
            std::fs::create_dir_all(folder.join(policy)).unwrap();
            std::fs::write(folder.join(policy).join("cpuinfo_max_freq"), khz).unwrap();
        }
        assert_eq!(highest_core_hz(&folder), Some(1.8e9));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(highest_core_hz(&folder), None);
    }

    #[test]
    fn clock_that_always_counts_has_none() {
        assert_eq!(highest_hz(&fake::clock(32)), None);
    }
}
