//! Text forms of known tools that are not read, because another form of the same tool has more: the
//! tool, the form, and the option that writes the other one.

use crate::text;

/// A form that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    tool: &'static str,
    form: &'static str,
    advice: &'static str,
    /// Whether the form that is read has how often the code ran, so that `fit` takes it.
    has_counts: bool,
}

/// Lines at the beginning that are looked at.
const LINES: usize = 200;
const GOOGLE_BENCHMARK: &str = "write JSON with --benchmark_out=FILE --benchmark_out_format=json";
const HYPERFINE: &str = "write JSON with --export-json FILE";
const CYCLICTEST: &str = "write JSON with --json=FILE";
const JMH: &str = "write JSON with -rf json -rff FILE";

/// Begins with what only this form has; the lines of a table are compared without their blanks.
const FORMS: [(&str, Form); 14] = [
    ("command,mean,stddev,", of_times("hyperfine", "CSV", HYPERFINE)),
    ("|Command|Mean[", of_times("hyperfine", "Markdown table", HYPERFINE)),
    ("|Command|Mean", of_times("hyperfine", "table", HYPERFINE)),
    ("Benchmark1:", of_times("hyperfine", "printed text", HYPERFINE)),
    ("name,iterations,real_time,cpu_time,", of_counts("CSV")),
    ("BenchmarkTimeCPUIterations", of_counts("printed table")),
    ("BenchmarkTime(ns)CPU(ns)Iterations", of_counts("printed table")),
    ("#Histogram", of_times("cyclictest", "text of its histogram", CYCLICTEST)),
    ("#/dev/cpu_dma_latency", of_times("cyclictest", "printed text", CYCLICTEST)),
    ("T:0(", of_times("cyclictest", "printed text", CYCLICTEST)),
    ("\"Benchmark\",\"Mode\",", of_times("JMH", "CSV", JMH)),
    ("BenchmarkModeCntScore", of_times("JMH", "printed table", JMH)),
    ("Benchmark(", of_times("JMH", "printed table", JMH)),
    ("nameoldtime/opnewtime/op", BENCHSTAT),
];
const BENCHSTAT: Form = Form {
    tool: "benchstat",
    form: "table",
    advice: "give the outputs of `go test -bench` that it was made from",
    has_counts: true,
};
const LOG_LINES: Form = Form {
    tool: "Google Benchmark",
    form: "JSON behind other lines",
    advice: "remove the lines before the first `{`, or write a file of its own with \
             --benchmark_out=FILE --benchmark_out_format=json",
    has_counts: true,
};

const fn of_times(tool: &'static str, form: &'static str, advice: &'static str) -> Form {
    Form { tool, form, advice, has_counts: false }
}

const fn of_counts(form: &'static str) -> Form {
    Form { tool: "Google Benchmark", form, advice: GOOGLE_BENCHMARK, has_counts: true }
}

impl Form {
    /// The form of a text, if it is one that is not read.
    pub fn of(text: &str) -> Option<Form> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with(['{', '[']) || text.lines().take(LINES).any(is_header) {
            return None;
        }
        text.lines().take(LINES).find_map(of_line).or_else(|| behind_lines(text))
    }

    /// The form of a file by its beginning.
    pub fn of_head(head: &[u8]) -> Option<Form> {
        Form::of(&text::beginning(head))
    }

    /// What `compare` says of it.
    pub fn refusal(&self) -> String {
        format!("is the {} of {}, which is not read: {}", self.form, self.tool, self.advice)
    }

    /// What `fit` says of it.
    pub fn refusal_of_fit(&self) -> String {
        if self.has_counts {
            return self.refusal();
        }
        format!(
            "is the {} of {}, which has times and not how often the code ran in each: no line can \
             be fitted to it; for `hairspring compare`, {}",
            self.form, self.tool, self.advice
        )
    }
}

/// Whether it is the header of an observation file, whose comments may say anything.
fn is_header(line: &str) -> bool {
    line.split(',').any(|field| ["ticks", "time_ns"].contains(&field.trim()))
}

fn of_line(line: &str) -> Option<Form> {
    // No form has a long line at its beginning.
    let line: String = line.chars().take(200).filter(|c| !c.is_whitespace()).collect();
    let known_form = FORMS.iter().find(|(beginning, form)| {
        line.starts_with(beginning)
            // The parameters of JMH are columns.
            && (*beginning != "Benchmark(" || form.tool != "JMH" || line.contains(")ModeCntScore"))
    });
    let is_benchstat =
        || line.contains("sec/op") && (line.contains('\u{2502}') || line.starts_with(",sec/op,CI"));
    known_form.map(|(_, form)| *form).or_else(|| is_benchstat().then_some(BENCHSTAT))
}

/// JSON of Google Benchmark behind lines that a program logged.
fn behind_lines(text: &str) -> Option<Form> {
    let at = text.find("\n{")?;
    let json: String = text[at..].chars().take(400).filter(|c| !c.is_whitespace()).collect();
    (json.starts_with("{\"context\":{") || json.starts_with("{\"benchmarks\":["))
        .then_some(LOG_LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_that_are_not_read_are_named() {
        for (text, tool, advice) in [
            ("command,mean,stddev,median,user,system,min,max\n", "hyperfine", "--export-json"),
            ("| Command | Mean [ms] | Min [ms] |\n|:---|---:|\n", "hyperfine", "--export-json"),
            ("Benchmark 1: sleep 1\n  Time (mean", "hyperfine", "--export-json"),
            ("name,iterations,real_time,cpu_time,time_unit,b\n", "Google Benchmark", "json"),
            (
                "2026-01-01T00:00:00+00:00\nRunning ./b\nRun on (2 X 3000 MHz CPU s)\n-----\n\
                 Benchmark        Time             CPU   Iterations\n",
                "Google Benchmark",
                "--benchmark_out_format=json",
            ),
            ("log\n{\n  \"context\": {\n", "Google Benchmark", "before the first `{`"),
            ("# /dev/cpu_dma_latency set to 0us\n", "cyclictest", "--json=FILE"),
            ("# Histogram\n000000 000012\n", "cyclictest", "--json=FILE"),
            ("T: 0 ( 1234) P:80 I:1000 C:   1000 Min:      3\n", "cyclictest", "--json=FILE"),
            ("Benchmark    Mode  Cnt  Score   Error  Units\n", "JMH", "-rf json"),
            ("Benchmark  (n)  Mode  Cnt  Score   Error  Units\n", "JMH", "-rf json"),
            (
                "goos: linux\n  \u{2502} a.txt \u{2502}\n  \u{2502} sec/op \u{2502}",
                "benchstat",
                "go",
            ),
            ("name  old time/op  new time/op  delta\n", "benchstat", "go test"),
        ] {
            let form = Form::of(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(Form::of_head(text.as_bytes()), Some(form));
            assert_eq!(form.tool, tool, "{text}");
            for said in [form.refusal(), form.refusal_of_fit()] {
                assert!(said.contains(advice) && said.contains(tool), "{said}");
            }
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "body,ticks\n1,108\n",
            "# rate_hz: 1e6\nbody,ticks\n1,108\n",
            "{\"context\": {}, \"benchmarks\": []}",
            "goos: linux\nBenchmarkA-2  100  12.5 ns/op\n",
            "# Histogram\nbody,ticks\n1,108\n",
            "no\n{\"schema\": 1}",
        ] {
            assert_eq!(Form::of(text), None, "{text}");
        }
    }
}
