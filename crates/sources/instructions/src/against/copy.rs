//! What LLVM's scheduling model expects of copies of a piece of code, one behind the other.

use super::mca::{Ended, execute, program};
use serde_json::Value;

/// Copies in the shorter and the longer simulation: their difference is free of the start and the
/// end.
const COPIES: [u32; 2] = [100, 200];
/// Lines of a copy that are simulated.
const MOST_LINES: usize = 1_000;

/// What the model expects of a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The program and the CPU that it has a model of.
    pub name: String,
    /// Cycles that a copy adds to a stream of them.
    pub cycles: f64,
    /// Cycles of a copy if only the units and the front end limited it.
    pub throughput_cycles: f64,
    /// Cycles of one copy from its start to its end, the stages before and behind the units
    /// included.
    pub single_cycles: f64,
    /// What limits the stream, in the program's words.
    pub bottleneck: Vec<String>,
    /// What the program warned of.
    pub warnings: Vec<String>,
}

/// Checks that the program is installed.
///
/// # Errors
/// It is not, with the command that installs it.
pub fn available() -> Result<(), String> {
    program().map(drop)
}

/// Simulates copies of these instructions, in the syntax of AT&T, or of Intel where no register has
/// a `%`.
///
/// # Errors
/// The program is not installed, cannot read an instruction, or does not come to an end.
pub fn predict(lines: &[String], cpu: Option<&str>) -> Result<Prediction, String> {
    if lines.is_empty()
        || lines.len() > MOST_LINES
        || lines.iter().any(|line| line.starts_with("..."))
    {
        return Err(format!(
            "a copy has {} instructions: from 1 to {MOST_LINES} can be simulated",
            lines.len()
        ));
    }
    let program = program()?;
    let intel = !lines.iter().any(|line| line.contains('%') || line.contains('$'));
    let head = if intel { ".intel_syntax noprefix\n" } else { "" };
    let text: String = std::iter::once(head.to_owned())
        .chain(lines.iter().map(|line| format!("{line}\n")))
        .collect();
    let simulate = |copies: u32| -> Result<(Summary, Vec<String>), String> {
        let (output, errors) =
            run(&program, cpu, &[&format!("-iterations={copies}"), "-json"], &text)?;
        Ok((summary(&output)?, warnings(&errors)))
    };
    let [(short, warnings), (long, _)] = [simulate(COPIES[0])?, simulate(COPIES[1])?];
    let (single, _) = simulate(1)?;
    let options =
        ["-bottleneck-analysis", "-instruction-info=0", "-resource-pressure=0", "-iterations=1000"];
    let (analysis, _) = run(&program, cpu, &options, &text)?;
    Ok(Prediction {
        name: format!("{program} -mcpu={}", long.cpu),
        cycles: (long.total - short.total) / f64::from(COPIES[1] - COPIES[0]),
        throughput_cycles: long.throughput,
        single_cycles: single.total,
        bottleneck: bottleneck(&analysis),
        warnings,
    })
}

fn run(
    program: &str,
    cpu: Option<&str>,
    options: &[&str],
    text: &str,
) -> Result<(String, String), String> {
    match execute(program, cpu, options, text)? {
        Ended::Endless => Err(format!("{program} does not come to an end with this code")),
        Ended::Done(status, output, errors) if status.success() => Ok((output, errors)),
        Ended::Done(_, _, errors) => {
            let first = errors
                .lines()
                .find(|line| line.contains("error"))
                .or(errors.lines().next())
                .unwrap_or("it failed without a message");
            Err(format!("{program}: {first}"))
        }
    }
}

fn warnings(errors: &str) -> Vec<String> {
    errors.lines().filter_map(|line| line.strip_prefix("warning: ")).map(str::to_owned).collect()
}

/// Figures of one simulation.
#[derive(Debug, PartialEq)]
struct Summary {
    cpu: String,
    total: f64,
    throughput: f64,
}

fn summary(text: &str) -> Result<Summary, String> {
    let unreadable = || "the output of llvm-mca has no summary".to_owned();
    let start = text.find('{').ok_or_else(unreadable)?;
    let document: Value = serde_json::from_str(&text[start..])
        .map_err(|error| format!("the output of llvm-mca: {error}"))?;
    let view = &document["CodeRegions"][0]["SummaryView"];
    let number = |key: &str| view[key].as_f64().ok_or_else(unreadable);
    let cpu = document["TargetInfo"]["CPUName"].as_str().unwrap_or("native").to_owned();
    Ok(Summary { cpu, total: number("TotalCycles")?, throughput: number("BlockRThroughput")? })
}

/// The lines that say what limits the stream.
fn bottleneck(text: &str) -> Vec<String> {
    let is_about = |line: &&str| {
        line.contains("% ]") && !line.contains("[ 0.00% ]") || line.starts_with("No resource")
    };
    let joined = |line: &str| {
        line.trim().trim_start_matches("- ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // The sequence of instructions that follows is not for one line.
    text.lines()
        .take_while(|line| !line.starts_with("Critical sequence"))
        .filter(is_about)
        .map(joined)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_is_read() {
        let text = r#"{"CodeRegions":[{"SummaryView":{"TotalCycles":303,"BlockRThroughput":1}}],"TargetInfo":{"CPUName":"znver4"}}"#;
        assert_eq!(
            summary(text).unwrap(),
            Summary { cpu: "znver4".into(), total: 303.0, throughput: 1.0 }
        );
        assert!(summary("").is_err() && summary("{}").is_err() && summary("{").is_err());
    }

    #[test]
    fn bottlenecks_are_joined_lines() {
        let text = "Iterations: 100\n\nCycles with backend pressure increase [ 92.00% ]\n\
                    Throughput Bottlenecks: \n  Resource Pressure       [ 0.00% ]\n  Data \
                    Dependencies:      [ 92.00% ]\n  - Memory Dependencies   [ 0.00% ]\n\
                    Critical sequence based on the simulation:\n x [ 1% ]\n";
        let wanted_lines =
            ["Cycles with backend pressure increase [ 92.00% ]", "Data Dependencies: [ 92.00% ]"];
        assert_eq!(bottleneck(text), wanted_lines);
        assert_eq!(bottleneck("No resource or data dependency bottlenecks discovered.\n").len(), 1);
    }

    #[test]
    fn code_that_cannot_be_simulated_is_refused() {
        assert!(predict(&[], None).is_err_and(|error| error.contains("0 instructions")));
        assert!(predict(&["... and 7 more instructions".to_owned()], None).is_err());
        assert_eq!(warnings("warning: found a call\nnote: x\n"), ["found a call"]);
    }
}
