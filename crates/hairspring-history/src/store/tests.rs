use super::*;
use std::path::{Path, PathBuf};

fn run(at: usize, series: usize) -> NewRun {
    let figure = |number: usize| Figure {
        series: SeriesKey {
            name: format!("s{number} <script>'\"; DROP TABLE run; --"),
            unit: "ns".into(),
            ..SeriesKey::default()
        },
        value: 10.0 + at as f64,
        low: f64::NAN,
        high: f64::INFINITY,
        level: 0.95,
        trusted: true,
        findings: String::new(),
    };
    let document = format!("{{\"schema\": \"hairspring/result/2\", \"at\": {at}}}");
    let run = Run {
        hash: format!("hash{at}"),
        commit: Some(format!("{at:040x}")),
        made: at as i64,
        command: "time".into(),
        ..Run::default()
    };
    NewRun { run, document, figures: (0..series).map(figure).collect() }
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    (folder, file)
}

#[test]
fn a_run_comes_back_as_it_was_and_only_once() {
    let (_folder, file) = scratch();
    let mut store = Sqlite::create(&file).unwrap();
    assert!(store.add(&run(3, 2)).unwrap());
    assert!(!store.add(&run(3, 2)).unwrap());
    assert!(store.add(&run(1, 2)).unwrap());
    drop(store);
    let store = Sqlite::read(&file).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!(runs.iter().map(|run| run.made).collect::<Vec<_>>(), [1, 3]);
    let found = store.whole(runs[1].id).unwrap();
    assert_eq!(found.document, run(3, 2).document);
    assert_eq!(found.figures[0].series, run(3, 2).figures[0].series);
    assert!(found.figures[0].low.is_nan() && found.figures[0].high == f64::INFINITY);
    assert_eq!((store.points().unwrap().len(), store.series().unwrap().len()), (4, 2));
}

#[test]
fn two_histories_become_one() {
    let (_a, one) = scratch();
    let (_b, other) = scratch();
    let mut first = Sqlite::create(&one).unwrap();
    let mut second = Sqlite::create(&other).unwrap();
    for at in 0..4 {
        first.add(&run(at, 2)).unwrap();
        second.add(&run(at + 2, 3)).unwrap();
    }
    assert_eq!(first.import(&second).unwrap(), 2);
    assert_eq!(first.import(&second).unwrap(), 0);
    assert_eq!(first.runs().unwrap().len(), 6);
    let third = first.runs().unwrap()[5].id;
    assert_eq!(first.remove(&[third, third, 999]).unwrap(), 1);
    assert_eq!(first.runs().unwrap().len(), 5);
}

#[test]
fn ten_thousand_series_in_one_run() {
    let (_folder, file) = scratch();
    let mut store = Sqlite::create(&file).unwrap();
    assert!(store.add(&run(0, 10_000)).unwrap());
    assert_eq!(store.points().unwrap().len(), 10_000);
}

fn refused(file: &Path, part: &str) {
    for error in [Sqlite::read(file).err(), Sqlite::create(file).err()] {
        let error = error.unwrap().0;
        assert!(error.contains(part), "{error}");
    }
}

fn refused_new(file: &Path) {
    let error = Sqlite::create(file).unwrap_err().0;
    assert!(error.contains("its folder is missing"), "{error}");
}

#[test]
fn what_is_no_history_is_told() {
    let (folder, file) = scratch();
    assert!(Sqlite::read(&file).unwrap_err().0.contains("is not there"));
    std::fs::write(&file, "no database ".repeat(1_000)).unwrap();
    refused(&file, "is no database");
    refused(folder.path(), "is a folder");
    refused_new(&folder.path().join("no/history.db"));
    let other = folder.path().join("other.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE x (a); PRAGMA user_version = 1").unwrap();
    refused(&other, "another program");
    drop(Sqlite::create(&folder.path().join("new.db")).unwrap());
    let newer = rusqlite::Connection::open(folder.path().join("new.db")).unwrap();
    newer.execute_batch("PRAGMA user_version = 99").unwrap();
    refused(&folder.path().join("new.db"), "a later version");
}

#[test]
fn a_truncated_history_is_told() {
    let (_folder, file) = scratch();
    let mut store = Sqlite::create(&file).unwrap();
    (0..50).for_each(|at| assert!(store.add(&run(at, 20)).unwrap()));
    drop(store);
    let bytes = std::fs::read(&file).unwrap();
    for share in 1..20 {
        std::fs::write(&file, &bytes[..bytes.len() * share / 20]).unwrap();
        let read = Sqlite::read(&file).and_then(|store| {
            let runs = store.runs()?;
            store.points()?;
            runs.iter().map(|run| store.whole(run.id)).collect::<Result<Vec<_>, _>>()
        });
        assert!(read.is_err(), "{share}");
    }
}

#[test]
fn two_writers_lose_nothing() {
    let (_folder, file) = scratch();
    let write = |from: usize| {
        let file = file.clone();
        std::thread::spawn(move || {
            let mut store = Sqlite::create(&file).unwrap();
            (from..from + 25).for_each(|at| assert!(store.add(&run(at, 3)).unwrap()));
        })
    };
    for writer in [write(0), write(100), write(200)] {
        writer.join().unwrap();
    }
    let store = Sqlite::read(&file).unwrap();
    assert_eq!((store.runs().unwrap().len(), store.points().unwrap().len()), (75, 225));
}
