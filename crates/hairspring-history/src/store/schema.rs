//! The tables, and how those of earlier versions become those of now.

use super::StoreError;
use rusqlite::Connection;

/// What the file says that it is: `hspr`.
const APPLICATION: i32 = 0x6873_7072;

/// The steps from each version of the tables to the next one. None is ever changed: a file of any
/// version takes those that it lacks.
const STEPS: [&str; 1] = ["
    CREATE TABLE machine (
        id INTEGER PRIMARY KEY,
        family TEXT NOT NULL, model TEXT NOT NULL, architecture TEXT NOT NULL, guest INTEGER,
        key TEXT NOT NULL UNIQUE);
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        machine INTEGER NOT NULL REFERENCES machine(id),
        commit_id TEXT, parent TEXT, dirty INTEGER,
        made INTEGER NOT NULL,
        command TEXT NOT NULL, version TEXT NOT NULL, host TEXT NOT NULL,
        document BLOB NOT NULL);
    CREATE INDEX run_made ON run(made);
    CREATE TABLE series (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL, component TEXT NOT NULL, unit TEXT NOT NULL, code TEXT NOT NULL,
        UNIQUE (name, component, unit, code));
    CREATE TABLE point (
        series INTEGER NOT NULL REFERENCES series(id),
        run INTEGER NOT NULL REFERENCES run(id),
        value REAL, low REAL, high REAL, level REAL NOT NULL,
        trusted INTEGER NOT NULL, findings TEXT NOT NULL,
        PRIMARY KEY (series, run)) WITHOUT ROWID;
    CREATE INDEX point_run ON point(run);
"];

/// The version of the tables that this program writes.
pub const VERSION: i32 = STEPS.len() as i32;

/// Checks that a file is a history, and gives the version of its tables; 0 for an empty file.
pub fn version(connection: &Connection) -> Result<i32, StoreError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && (application != 0 || version != 0 || tables != 0) {
        return Err(StoreError(
            "is a database of another program: give a file that `history add` made".into(),
        ));
    }
    if version > VERSION {
        return Err(StoreError(format!(
            "has tables of version {version}, and this program knows those up to {VERSION}: use a \
             later version of hairspring"
        )));
    }
    Ok(version)
}

/// Brings the tables up to date, all steps in one transaction.
pub fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    let change = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    let from = version(&change)?.max(0) as usize;
    for step in &STEPS[from..] {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "application_id", APPLICATION)?;
    change.pragma_update(None, "user_version", VERSION)?;
    Ok(change.commit()?)
}
