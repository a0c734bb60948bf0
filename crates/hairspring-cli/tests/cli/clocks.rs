//! Every clock gives a correct time or a doubt, never a wrong time without one.

use crate::command::time;
use crate::document::Document;

fn chain_by(clock: &str) -> Document {
    time("x = x * c")
        .given("uint64_t x = 3")
        .given("uint64_t c = 5")
        .option("--clock", clock)
        .document()
}

/// The time of the chain by the best clock, in nanoseconds.
fn truth_ns() -> f64 {
    chain_by("tsc").body()["time_ns"]["value"].as_f64().unwrap()
}

/// A factor beyond any noise: a clock's interval must be this close to the truth, or have a
/// finding.
const LOOSE_FACTOR: f64 = 20.0;

fn is_honest(clock: &str) {
    let (truth, document) = (truth_ns(), chain_by(clock));
    assert_eq!(document.0["environment"]["clock"]["name"], clock);
    let findings = document.result_of(0)["findings"].as_array().unwrap();
    if findings.iter().any(|finding| finding["severity"] == "untrusted") {
        return;
    }
    let body = document.body();
    let end = |name: &str| body["time_ns"][name].as_f64();
    // Below resolution the claim is the bound, and the solved value stays as it is.
    let below = body["below_resolution"] == true;
    let covers = below
        || end("low").is_none_or(|low| low <= truth * LOOSE_FACTOR)
            && end("high").is_none_or(|high| high >= truth / LOOSE_FACTOR);
    let bound = body["bound_ns"].as_f64().is_none_or(|bound| bound >= truth / LOOSE_FACTOR);
    assert!(
        covers && bound,
        "the chain takes {truth} ns, clock {clock} says {body:#}\n{findings:#?}"
    );
}

macro_rules! honest {
    ($($test:ident: $clock:literal),* $(,)?) => { $(#[test] fn $test() { is_honest($clock); })* };
}

honest! {
    tsc_is_honest: "tsc",
    rdtsc_is_honest: "rdtsc",
    rdtscp_is_honest: "rdtscp",
    tsc_cpuid_is_honest: "tsc-cpuid",
    monotonic_is_honest: "monotonic",
    monotonic_raw_is_honest: "monotonic_raw",
    monotonic_coarse_is_honest: "monotonic_coarse",
    realtime_is_honest: "realtime",
    process_cputime_is_honest: "process_cputime",
    thread_cputime_is_honest: "thread_cputime",
    gettimeofday_is_honest: "gettimeofday",
    times_is_honest: "times",
}

#[test]
fn tsc_serialize_is_honest_or_missing_for_a_reason() {
    let chain = || {
        time("x = x * c")
            .given("uint64_t x = 3")
            .given("uint64_t c = 5")
            .option("--clock", "tsc-serialize")
    };
    let serialises = std::fs::read_to_string("/proc/cpuinfo").unwrap().contains(" serialize ");
    if serialises {
        is_honest("tsc-serialize");
    } else {
        chain()
            .ends_with(2)
            .complains("the CPU has no serialize instruction")
            .complains("available here: tsc")
            .in_one_line();
    }
}

#[test]
fn a_clock_that_is_far_too_coarse_gives_no_time() {
    let document = chain_by("times");
    let doubts = ["clock_too_coarse", "below_resolution"];
    assert!(
        document.findings(0).iter().any(|kind| doubts.contains(kind)),
        "{:?}",
        document.findings(0)
    );
}

#[test]
fn a_missing_clock_is_refused_with_the_available_ones() {
    time("1")
        .option("--clock", "sundial")
        .ends_with(2)
        .complains("clock `sundial`")
        .complains("monotonic_raw")
        .in_one_line();
}
