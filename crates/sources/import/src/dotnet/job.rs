//! The job of a benchmark, and which jobs are one series: those that differ only in the length of
//! the run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Characteristics of a job that only state the length of the run.
const OF_THE_RUN: [&str; 8] = [
    "InvocationCount=",
    "IterationCount=",
    "IterationTime=",
    "LaunchCount=",
    "MaxIterationCount=",
    "MinIterationCount=",
    "UnrollFactor=",
    "WarmupCount=",
];
/// Those that state the number of operations of an iteration.
const OF_THE_COUNT: [&str; 2] = ["InvocationCount=", "IterationTime="];

/// What a job is beyond the length of the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Job<'t> {
    /// The name that the user gave it; `None` for one that was made for it.
    name: Option<&'t str>,
    /// Characteristics other than the length of the run.
    other_characteristics: String,
    /// What states the number of operations.
    count: String,
}

impl<'t> Job<'t> {
    /// The job in `Type.Method: Job-ABCDEF(Runtime=.NET 8.0, InvocationCount=16) [N=5]`.
    pub fn of(display: &'t str) -> Job<'t> {
        let Some((_, job)) = display.split_once(": ") else { return Job::default() };
        let job = job.split(" [").next().unwrap_or_default();
        let (id, characteristics) = job.split_once('(').unwrap_or((job, ""));
        let name = (!id.starts_with("Job-") && id != "DefaultJob").then_some(id);
        let all_characteristics = || {
            let inner = characteristics.strip_suffix(')').unwrap_or(characteristics);
            inner.split(", ").filter(|one| !one.is_empty())
        };
        let other_characteristics: Vec<&str> =
            all_characteristics().filter(|one| !begins(one, &OF_THE_RUN)).collect();
        let count: Vec<&str> =
            all_characteristics().filter(|one| begins(one, &OF_THE_COUNT)).collect();
        Job {
            name,
            other_characteristics: other_characteristics.join(", "),
            count: count.join(", "),
        }
    }

    /// The name of a benchmark with this job.
    fn called(&self, benchmark: &str, with_name: bool) -> String {
        let parts = [self.name.filter(|_| with_name), Some(self.other_characteristics.as_str())];
        let parts: Vec<&str> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            benchmark.to_owned()
        } else {
            format!("{benchmark} [{}]", parts.join(", "))
        }
    }
}

fn begins(characteristic: &str, words: &[&str]) -> bool {
    words.iter().any(|word| characteristic.starts_with(word))
}

/// The jobs of a benchmark that have the same characteristics other than the length of the run.
#[derive(Default)]
struct Group<'t> {
    /// By the name of a job, what states its number of operations.
    counts: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl Group<'_> {
    /// Whether the names only tell the lengths apart: each of several named jobs states one number
    /// of operations, which no other one states.
    fn is_one_series(&self) -> bool {
        let all_counts: Vec<&&str> = self.counts.values().flatten().collect();
        let different: BTreeSet<&&str> = all_counts.iter().copied().collect();
        let named = self.counts.iter().filter(|(name, _)| !name.is_empty());
        let states_one = |counts: &BTreeSet<&str>| counts.len() == 1 && !counts.contains("");
        self.counts.len() > 1
            && all_counts.len() == different.len()
            && named.into_iter().all(|(_, counts)| states_one(counts))
    }
}

/// The series of each benchmark, and remarks on jobs with names that are one.
pub fn series<'t>(jobs: &'t [(&'t str, Job<'t>)]) -> (Vec<String>, Vec<String>) {
    let mut groups: HashMap<(&str, &str), Group> = HashMap::new();
    for (benchmark, job) in jobs {
        let group = groups.entry((*benchmark, job.other_characteristics.as_str())).or_default();
        group.counts.entry(job.name.unwrap_or_default()).or_default().insert(&job.count);
    }
    let (mut names, mut remarks) = (Vec::new(), Vec::new());
    let mut told = BTreeSet::new();
    for (benchmark, job) in jobs {
        let group = groups.get(&(*benchmark, job.other_characteristics.as_str()));
        let merged = group.is_some_and(Group::is_one_series);
        let name = job.called(benchmark, !merged);
        if merged && told.insert(name.clone()) {
            let jobs: Vec<&str> =
                group.iter().flat_map(|group| group.counts.keys()).copied().collect();
            remarks.push(remark(&name, &jobs));
        }
        names.push(name);
    }
    (names, remarks)
}

fn remark(series: &str, jobs: &[&str]) -> String {
    let shown_names: Vec<String> = jobs
        .iter()
        .map(|name| if name.is_empty() { "one without a name".into() } else { format!("`{name}`") })
        .collect();
    format!(
        "the jobs {} of `{series}` are one series: they differ only in the length of the run",
        shown_names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(displays: &[&str]) -> Vec<String> {
        let jobs: Vec<(&str, Job)> = displays.iter().map(|one| ("m", Job::of(one))).collect();
        series(&jobs).0
    }

    #[test]
    fn a_job_is_what_is_not_the_length_of_its_run() {
        for (display, expected) in [
            ("B.Work: DefaultJob", "m"),
            ("B.Work: DefaultJob [N=10]", "m"),
            ("B.Work: Job-ABC(InvocationCount=16, UnrollFactor=1)", "m"),
            ("B.Work: Job-ABC(Runtime=.NET 8.0, InvocationCount=16) [N=1]", "m [Runtime=.NET 8.0]"),
            ("B.Work: Short(LaunchCount=1)", "m [Short]"),
            ("no job", "m"),
        ] {
            assert_eq!(named(&[display]), [expected], "{display}");
        }
    }

    #[test]
    fn names_that_only_tell_lengths_apart_are_one_series() {
        let lengths = ["B.W: a(InvocationCount=10)", "B.W: b(InvocationCount=20)"];
        assert_eq!(named(&lengths), ["m", "m"]);
        let times = ["B.W: a(IterationTime=100ms)", "B.W: Job-X(IterationTime=200ms)"];
        assert_eq!(named(&times), ["m", "m"]);
        let runtimes = [
            "B.W: a(Runtime=.NET 8.0, InvocationCount=10)",
            "B.W: b(Runtime=.NET 8.0, InvocationCount=20)",
            "B.W: c(Runtime=.NET 9.0, InvocationCount=40)",
        ];
        let expected = ["m [Runtime=.NET 8.0]", "m [Runtime=.NET 8.0]", "m [c, Runtime=.NET 9.0]"];
        assert_eq!(named(&runtimes), expected);
    }

    #[test]
    fn names_that_tell_more_apart_separate() {
        for pair in [
            ["B.W: a(InvocationCount=10)", "B.W: b(InvocationCount=10)"],
            ["B.W: a(IterationCount=10)", "B.W: b(IterationCount=20)"],
            ["B.W: a", "B.W: b(InvocationCount=20)"],
        ] {
            assert_eq!(named(&pair), ["m [a]", "m [b]"], "{pair:?}");
        }
        let both_names = [
            "B.W: a(InvocationCount=10)",
            "B.W: a(InvocationCount=20)",
            "B.W: b(InvocationCount=40)",
        ];
        assert_eq!(named(&both_names), ["m [a]", "m [a]", "m [b]"]);
    }
}
