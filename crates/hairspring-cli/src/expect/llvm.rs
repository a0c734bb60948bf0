//! The scheduling model of LLVM as an expectation of the compiled copy.

use hairspring_core::judge::{Expected, Reach, UNSTATED_SHARE};
use hairspring_instructions::against::copy::{Prediction, available, predict};
use hairspring_result::document::{Expectation, Scheduling, Wanted};
use hairspring_result::{ResultDocument, Series, Unit};

/// Checks that the program is installed.
pub fn prepare() -> Result<(), String> {
    available().map_err(|error| format!("--expect llvm: {error}"))
}

/// The document with the model's expectation of the first piece of code, whose instructions it must
/// have.
pub fn beside(document: ResultDocument) -> Result<ResultDocument, String> {
    let lines =
        document.results.first().and_then(|series| series.disassembly.clone()).unwrap_or_default();
    let prediction = predict(&lines, None).map_err(|error| format!("--expect llvm: {error}"))?;
    let first_order = Reach { stochastic: 0.0, systematic: UNSTATED_SHARE * prediction.cycles };
    let expected = Expected::symmetric(prediction.cycles, first_order);
    let wanted = Wanted {
        expression: prediction.name.clone(),
        expected,
        first_order,
        is_stated: false,
        is_straight: true,
        unit: Unit::Cycles,
    };
    let mut document = document.beside(&wanted);
    // Also of a measurement that is not trusted: what slows it may be among the reasons.
    let differs = |one: &Expectation| {
        one.difference.zip(one.half_width).is_some_and(|(difference, half)| difference.abs() > half)
    };
    let factor =
        document.expectation.as_deref().filter(|one| differs(one)).and_then(|one| one.factor);
    let may_mean = match (factor, document.results.first()) {
        (Some(factor), Some(series)) => meaning(factor, &lines, series),
        _ => Vec::new(),
    };
    if let Some(expectation) = &mut document.expectation {
        expectation.scheduling = Some(scheduling(prediction, may_mean));
    }
    Ok(document)
}

fn scheduling(prediction: Prediction, may_mean: Vec<String>) -> Scheduling {
    Scheduling {
        model: prediction.name,
        throughput_cycles: prediction.throughput_cycles,
        single_cycles: prediction.single_cycles,
        bottleneck: prediction.bottleneck,
        warnings: prediction.warnings,
        may_mean,
    }
}

/// What a difference may mean: measured over expected, the instructions, and what the measurement
/// found.
fn meaning(factor: f64, lines: &[String], series: &Series) -> Vec<String> {
    let has =
        |parts: &[&str]| lines.iter().any(|line| parts.iter().any(|part| line.contains(part)));
    let branches = lines.iter().any(|line| line.starts_with('j') || line.starts_with("loop"));
    let has_finding = |kind: &str| series.findings.iter().any(|finding| finding.is(kind));
    let wrong = "a model that is wrong about an instruction: `hairspring instructions --against \
                 llvm` lists those of this machine";
    let shorter = [
        (
            true,
            "elimination at rename: the core does not run moves, zeroing and some additions of \
             constants that the model runs",
        ),
        (true, wrong),
    ];
    let longer = [
        (has(&["call"]), "the function that is called: the model does not follow it"),
        (
            has(&["(", "["]),
            "a dependency through memory: a load that waits for a store before it, which the \
             model does not follow; or a cache miss",
        ),
        (
            has_finding("denormals"),
            "microcode assists: the finding `denormals` says that there were denormal numbers",
        ),
        (
            !has_finding("denormals") && has(&["div", "sqrt"]),
            "values: the time of a division or root depends on them",
        ),
        (branches, "branches: the model predicts all of them, and does not run a loop"),
        (true, "the front end: the model decodes without limits of alignment"),
        (true, wrong),
    ];
    let chosen = |all: &[(bool, &str)]| {
        all.iter().filter(|(fits, _)| *fits).map(|(_, text)| (*text).to_owned()).collect()
    };
    if factor < 1.0 { chosen(&shorter) } else { chosen(&longer) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::judge::{Question, assess};
    use hairspring_core::observations::read_csv;
    use hairspring_result::{Environment, Measurement};

    fn series() -> Series {
        let table =
            read_csv("# rate_hz: 1e9\nbody,ticks\n1,59\n2,99\n4,180\n8,341\n16,660\n".as_bytes())
                .unwrap();
        let measurement = Measurement {
            command: "fit".into(),
            environment: Environment::unknown("no chain"),
            assessment: assess(&table, &Question::default()).unwrap(),
            ns_per_unit: None,
            subjects: Vec::new(),
            methods: Vec::new(),
            run: None,
        };
        ResultDocument::new(&measurement).results.remove(0)
    }

    #[test]
    fn meaning_follows_from_the_instructions_and_the_direction() {
        let told = |factor, line: &str| meaning(factor, &[line.to_owned()], &series()).join(" ");
        assert!(
            told(0.1, "mov %rax, %rcx").contains("rename")
                && !told(2.0, "mov %rax, %rcx").contains("rename")
        );
        assert!(
            told(2.0, "add %rax, (%rsp)").contains("memory")
                && !told(2.0, "add %rax, %rcx").contains("memory")
        );
        assert!(told(2.0, "divsd %xmm1, %xmm0").contains("values"));
        assert!(
            told(2.0, "jne 0x10").contains("branches")
                && !told(2.0, "adjx %rax").contains("branches")
        );
        assert!(told(2.0, "call sqrt").contains("does not follow it"));
    }
}
