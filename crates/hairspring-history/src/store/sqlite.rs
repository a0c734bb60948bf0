//! A history in one file of SQLite.
//!
//! It has a rollback journal and not a log beside it (WAL): then it is one file at every moment at
//! which nobody writes, may lie on a network drive, and can be copied.

use super::pack::{pack, unpack};
use super::schema::{migrate, version};
use super::{Figure, Machine, NewRun, Point, Run, SeriesKey, Store, StoreError};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior};
use rusqlite::{named_params, params};
use std::path::Path;
use std::time::Duration;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(20);

/// A history in one file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Opens a file to add to it; it is made if it is not there.
    ///
    /// # Errors
    /// It is no history, or one of a later version, or cannot be written.
    pub fn create(path: &Path) -> Result<Sqlite, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = open(path, flags)?;
        migrate(&mut connection)?;
        Ok(Sqlite { connection })
    }

    /// Opens a file to read it.
    ///
    /// # Errors
    /// It is not there, no history, or one of a later version.
    pub fn read(path: &Path) -> Result<Sqlite, StoreError> {
        if !path.exists() {
            return Err(StoreError("is not there: `history add FILE` makes it".into()));
        }
        // A file in a folder that cannot be written can be read all the same.
        let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        match version(&connection)? {
            0 => return Err(StoreError("is empty: `history add FILE` fills it".into())),
            super::schema::VERSION => {}
            _ => {
                connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
                migrate(&mut connection)?;
            }
        }
        Ok(Sqlite { connection })
    }
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    if path.is_dir() {
        return Err(StoreError("is a folder: give a file in it".into()));
    }
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
    Ok(connection)
}

impl Store for Sqlite {
    fn add(&mut self, new: &NewRun) -> Result<bool, StoreError> {
        let document = pack(&new.document);
        let change = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known = change
            .query_row("SELECT id FROM run WHERE hash = ?1", [&new.run.hash], |_| Ok(()))
            .optional()?;
        if known.is_some() {
            return Ok(false);
        }
        let machine = machine(&change, &new.run.machine)?;
        let id = run(&change, &new.run, machine, &document)?;
        for figure in &new.figures {
            point(&change, id, figure)?;
        }
        change.commit()?;
        Ok(true)
    }

    fn runs(&self) -> Result<Vec<Run>, StoreError> {
        let text = format!("{RUN} ORDER BY made, run.id");
        let mut statement = self.connection.prepare(&text)?;
        let rows = statement.query_map([], run_of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn series(&self) -> Result<Vec<(i64, SeriesKey)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT id, name, component, unit, code FROM series ORDER BY name, component, unit, id",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, key_of(row, 1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn points(&self) -> Result<Vec<Point>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT run, series, value, low, high, level, trusted FROM point ORDER BY series, run",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(Point {
                run: row.get(0)?,
                series: row.get(1)?,
                value: number(row, 2)?,
                low: number(row, 3)?,
                high: number(row, 4)?,
                level: row.get(5)?,
                trusted: row.get(6)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn whole(&self, id: i64) -> Result<NewRun, StoreError> {
        let run = self
            .connection
            .query_row(&format!("{RUN} WHERE run.id = ?1"), [id], run_of)
            .optional()?
            .ok_or_else(|| StoreError(format!("has no run {id}")))?;
        let packed: Vec<u8> =
            self.connection
                .query_row("SELECT document FROM run WHERE id = ?1", [id], |row| row.get(0))?;
        let mut statement = self.connection.prepare(
            "SELECT value, low, high, level, trusted, findings, name, component, unit, code
             FROM point JOIN series ON series.id = point.series WHERE run = ?1 ORDER BY series.id",
        )?;
        let figures = statement.query_map([id], |row| {
            Ok(Figure {
                value: number(row, 0)?,
                low: number(row, 1)?,
                high: number(row, 2)?,
                level: row.get(3)?,
                trusted: row.get(4)?,
                findings: row.get(5)?,
                series: key_of(row, 6)?,
            })
        })?;
        Ok(NewRun { run, document: unpack(&packed)?, figures: figures.collect::<Result<_, _>>()? })
    }

    fn remove(&mut self, runs: &[i64]) -> Result<usize, StoreError> {
        let change = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut removed = 0;
        for id in runs {
            change.execute("DELETE FROM point WHERE run = ?1", [id])?;
            removed += change.execute("DELETE FROM run WHERE id = ?1", [id])?;
        }
        change.execute("DELETE FROM series WHERE id NOT IN (SELECT series FROM point)", [])?;
        change.execute("DELETE FROM machine WHERE id NOT IN (SELECT machine FROM run)", [])?;
        change.commit()?;
        self.connection.execute_batch("VACUUM")?;
        Ok(removed)
    }
}

const RUN: &str = "SELECT run.id, hash, commit_id, parent, dirty, made, command, version, host,
    family, model, architecture, guest FROM run JOIN machine ON machine.id = run.machine";

fn run_of(row: &Row) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get(0)?,
        hash: row.get(1)?,
        commit: row.get(2)?,
        parent: row.get(3)?,
        dirty: row.get(4)?,
        made: row.get(5)?,
        command: row.get(6)?,
        version: row.get(7)?,
        host: row.get(8)?,
        machine: Machine {
            family: row.get(9)?,
            model: row.get(10)?,
            architecture: row.get(11)?,
            guest: row.get(12)?,
        },
    })
}

fn key_of(row: &Row, at: usize) -> rusqlite::Result<SeriesKey> {
    Ok(SeriesKey {
        name: row.get(at)?,
        component: row.get(at + 1)?,
        unit: row.get(at + 2)?,
        code: row.get(at + 3)?,
    })
}

/// A number; what is none is kept as NULL.
fn number(row: &Row, at: usize) -> rusqlite::Result<f64> {
    Ok(row.get::<_, Option<f64>>(at)?.unwrap_or(f64::NAN))
}

fn machine(change: &Transaction, machine: &Machine) -> Result<i64, StoreError> {
    let Machine { family, model, architecture, guest } = machine;
    let key = format!("{family}\n{model}\n{architecture}\n{guest:?}");
    change
        .prepare_cached(
            "INSERT INTO machine (family, model, architecture, guest, key)
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (key) DO NOTHING",
        )?
        .execute(params![family, model, architecture, guest, key])?;
    Ok(change.query_row("SELECT id FROM machine WHERE key = ?1", [key], |row| row.get(0))?)
}

fn run(change: &Transaction, run: &Run, machine: i64, doc: &[u8]) -> Result<i64, StoreError> {
    change
        .prepare_cached(
            "INSERT INTO run (hash, machine, commit_id, parent, dirty, made, command, version,
             host, document) VALUES (:hash, :machine, :commit, :parent, :dirty, :made, :command,
             :version, :host, :document)",
        )?
        .execute(named_params! {
            ":hash": run.hash, ":machine": machine, ":commit": run.commit, ":parent": run.parent,
            ":dirty": run.dirty, ":made": run.made, ":command": run.command,
            ":version": run.version, ":host": run.host, ":document": doc,
        })?;
    Ok(change.last_insert_rowid())
}

fn point(change: &Transaction, run: i64, figure: &Figure) -> Result<(), StoreError> {
    let SeriesKey { name, component, unit, code } = &figure.series;
    let key = params![name, component, unit, code];
    change
        .prepare_cached(
            "INSERT INTO series (name, component, unit, code) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING",
        )?
        .execute(key)?;
    let series: i64 = change
        .prepare_cached(
            "SELECT id FROM series WHERE name = ?1 AND component = ?2 AND unit = ?3 AND code = ?4",
        )?
        .query_row(key, |row| row.get(0))?;
    change
        .prepare_cached(
            "INSERT INTO point (series, run, value, low, high, level, trusted, findings)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            series,
            run,
            figure.value,
            figure.low,
            figure.high,
            figure.level,
            figure.trusted,
            figure.findings
        ])?;
    Ok(())
}
