//! The command line of a program with benchmarks, the same in every language.

use crate::arguments::Arguments;
use crate::benchmark::Group;
use crate::error::{Error, Result};
use crate::exit_watch::ExitWatch;
use crate::output;
use crate::report::document;
use crate::session::Session;
use hairspring_measure::Stop;
use hairspring_result::ResultDocument;
use hairspring_result::document::joined;
use hairspring_result::json::print;
use hairspring_view::text;
use std::ffi::OsString;
use std::path::Path;

/// Who starts the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// A person, or `hairspring run`.
    Plain,
    /// Cargo: without `--bench` every benchmark runs once, as a test, and a filter that matches
    /// nothing is not an error.
    Cargo,
}

/// Runs a program with benchmarks; `arguments` begin with the program's name. Results go to
/// standard output, progress and errors to standard error. Returns the exit status.
pub fn main(
    arguments: impl IntoIterator<Item = OsString>,
    manner: Manner,
    groups: Vec<Group>,
) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match run(&arguments, manner, groups) {
        Ok(status) => status,
        Err(error) => {
            output::complain(&error.to_string());
            if is_misuse(&error) { 2 } else { 1 }
        }
    }
}

/// Whether the command line asks for something that no machine of this kind offers.
fn is_misuse(error: &Error) -> bool {
    matches!(error, Error::Host(reason) if reason.is_bad_request())
}

fn run(arguments: &Arguments, manner: Manner, groups: Vec<Group>) -> Result<u8> {
    let mut chosen: Vec<Group> = groups
        .into_iter()
        .filter(|group| group.benchmarks.iter().any(|one| arguments.chooses(&one.name)))
        .collect();
    if arguments.list {
        return list(arguments, &chosen);
    }
    if chosen.is_empty() && manner == Manner::Plain {
        output::complain(&nothing_chosen(&arguments.filters));
        return Ok(2);
    }
    if arguments.test || manner == Manner::Cargo && !arguments.runner.bench {
        return test(&mut chosen);
    }
    if chosen.is_empty() { Ok(0) } else { measure(arguments, &mut chosen) }
}

/// The message if the filters leave no benchmark.
pub fn nothing_chosen(filters: &[String]) -> String {
    let quoted =
        filters.iter().map(|filter| format!("`{filter}`")).collect::<Vec<_>>().join(" or ");
    if filters.is_empty() {
        return "no benchmark to run: the program has none, or --skip excludes them all; --list \
                shows them"
            .to_owned();
    }
    format!(
        "no benchmark's name contains {quoted} (with --exact: equals it), or --skip excludes it; \
         --list shows the names"
    )
}

fn list(arguments: &Arguments, groups: &[Group]) -> Result<u8> {
    let terse = arguments.runner.format.as_deref() == Some("terse");
    let names = groups
        .iter()
        .flat_map(|group| &group.benchmarks)
        .filter(|one| arguments.chooses(&one.name));
    let line =
        |name: &str| if terse { format!("{name}: benchmark\n") } else { format!("{name}\n") };
    // Control characters are replaced: they could change the terminal or end the line.
    let plain = |name: &str| -> String {
        name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
    };
    say(&names.map(|one| line(&plain(&one.name))).collect::<String>())
}

/// Each benchmark once, by its shortest row.
fn test(groups: &mut [Group]) -> Result<u8> {
    let clock = hairspring_host::clock::default_clock();
    let mut ran = 0;
    for benchmark in groups.iter_mut().flat_map(|group| &mut group.benchmarks) {
        benchmark.setup.iter_mut().for_each(|setup| setup());
        if let Some(row) = benchmark.rows.first_mut() {
            (row.run)(clock.read).ok_or_else(|| Error::Failed { name: benchmark.name.clone() })?;
        }
        ran += 1;
    }
    say(&format!("{ran} benchmarks ran once and were not measured (--bench measures them)\n"))
}

fn measure(arguments: &Arguments, groups: &mut [Group]) -> Result<u8> {
    if let Some(folder) = &arguments.save {
        std::fs::create_dir_all(folder).map_err(file_error(folder))?;
    }
    let session = Session::new(&arguments.settings())?;
    let (mut documents, mut precise, mut failed, count) = (Vec::new(), true, Ok(()), groups.len());
    for (at, group) in groups.iter_mut().enumerate() {
        output::status_line(&format!("[{}/{count}] {}", at + 1, group.name()));
        match one_group(arguments, &session, group, at) {
            Ok((document, stop)) => {
                precise &= stop == Stop::Precise;
                documents.push(document);
            }
            // The benchmarks measured before the failure are reported.
            Err(error) => {
                failed = Err(error);
                break;
            }
        }
    }
    output::status_line("");
    report(arguments, &documents)?;
    failed?;
    Ok(if arguments.precision.is_some() && !precise { 3 } else { 0 })
}

fn one_group(
    arguments: &Arguments,
    session: &Session,
    group: &mut Group,
    at: usize,
) -> Result<(ResultDocument, Stop)> {
    let watch = ExitWatch::new(group.name());
    let measured = session.measure(group)?;
    drop(watch);
    if let Some(folder) = &arguments.save {
        save(&measured.run.table, folder, at, group.name())?;
    }
    let measurement = document(session, group, &measured, "run", arguments.precision)?;
    Ok((ResultDocument::new(&measurement), measured.run.stop))
}

fn report(arguments: &Arguments, documents: &[ResultDocument]) -> Result<()> {
    let Some(all) = joined(documents.iter().cloned()) else { return Ok(()) };
    if let Some(path) = &arguments.output {
        return std::fs::write(path, print(&all)).map_err(file_error(path));
    }
    let style = output::style();
    say(&match (arguments.json, arguments.details) {
        (true, _) => print(&all),
        (_, true) => documents
            .iter()
            .map(|document| text::report(document, &style))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => text::table(&all, &style),
    })
    .map(|_| ())
}

fn say(text: &str) -> Result<u8> {
    let failed = |reason| Error::File {
        path: "standard output".into(),
        reason: std::io::Error::other(reason),
    };
    output::print(text).map(|()| 0).map_err(failed)
}

fn save(
    table: &hairspring_core::observations::Observations,
    folder: &Path,
    at: usize,
    name: &str,
) -> Result<()> {
    let plain =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = name.chars().map(plain).take(80).collect();
    let path = folder.join(format!("{:02}-{name}.csv", at + 1));
    let file = std::fs::File::create(&path).map_err(file_error(&path))?;
    hairspring_core::observations::write_csv(table, file).map_err(file_error(&path))
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |reason| Error::File { path: path.display().to_string(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{Benchmark, Order, Row};
    use std::cell::Cell;
    use std::rc::Rc;

    fn arguments(words: &[&str]) -> Arguments {
        Arguments::try_parse_from(std::iter::once(&"program").chain(words)).unwrap()
    }

    /// A group that counts its runs; its rows return 100 ticks a copy.
    fn group(name: &str, runs: &Rc<Cell<u32>>) -> Group<'static> {
        let row = |bodies: u32| {
            let runs = runs.clone();
            Row::new(bodies, 0, Order::AtEnd, move |_| {
                runs.set(runs.get() + 1);
                Some(50 + 100 * u64::from(bodies))
            })
        };
        Group::from(Benchmark::new(name, [1, 2, 4, 8, 16, 32].map(row).into()))
    }

    #[test]
    fn filters_choose_by_part_or_by_whole_name() {
        assert!(arguments(&[]).chooses("copy/size:64"));
        assert!(arguments(&["size", "x"]).chooses("copy/size:64"));
        assert!(!arguments(&["--exact", "copy"]).chooses("copy/size:64"));
        assert!(arguments(&["--exact", "copy/size:64"]).chooses("copy/size:64"));
        assert!(!arguments(&["copy", "--skip", "64"]).chooses("copy/size:64"));
        assert!(!arguments(&["--ignored"]).chooses("copy"));
    }

    #[test]
    fn options_of_test_runners_are_accepted() {
        let words = [
            "--bench",
            "--nocapture",
            "--show-output",
            "--include-ignored",
            "--test-threads",
            "1",
            "--format",
            "terse",
            "-q",
            "-Zx",
        ];
        assert!(arguments(&words).runner.bench);
        let one_word = [
            "--test-threads=1",
            "--color=always",
            "--logfile=x",
            "-Z",
            "unstable-options",
            "--exact",
            "--no-capture",
        ];
        assert!(arguments(&one_word).choice.exact);
    }

    #[test]
    fn cargo_runs_each_once_unless_it_asks_for_the_bench() {
        let runs = Rc::new(Cell::new(0));
        assert_eq!(
            run(&arguments(&[]), Manner::Cargo, vec![group("a", &runs), group("b", &runs)])
                .unwrap(),
            0
        );
        assert_eq!(runs.get(), 2);
        assert_eq!(
            run(&arguments(&["nothing"]), Manner::Cargo, vec![group("a", &runs)]).unwrap(),
            0
        );
        assert_eq!(
            run(&arguments(&["nothing"]), Manner::Plain, vec![group("a", &runs)]).unwrap(),
            2
        );
        assert_eq!(runs.get(), 2);
    }

    #[test]
    fn observations_are_saved_for_any_name() {
        let (runs, folder) = (
            Rc::new(Cell::new(0)),
            std::env::temp_dir().join(format!("hairspring-program-{}", std::process::id())),
        );
        let words = ["--json", "--budget", "20ms", "--save", folder.to_str().unwrap()];
        assert_eq!(
            run(&arguments(&words), Manner::Plain, vec![group("../a/\n\"b\"", &runs)]).unwrap(),
            0
        );
        let file = std::fs::read(folder.join("01-.._a___b_.csv")).unwrap();
        let table = hairspring_core::observations::read_csv(&file[..]).unwrap();
        assert!(table.series_names()[0].contains("../a/"), "{:?}", table.series_names());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn code_that_fails_is_named() {
        let mut failing = group("fails", &Rc::default());
        failing.benchmarks[0].rows[4].run = Box::new(|_| None);
        let error =
            run(&arguments(&["--budget", "20ms"]), Manner::Plain, vec![failing]).unwrap_err();
        assert!(error.to_string().contains("`fails`"), "{error}");
    }
}
