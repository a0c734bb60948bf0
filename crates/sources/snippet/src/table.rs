//! The table of a request's rows: which series they are, and what those are to each other.

use crate::plan;
use crate::protocol::Ready;
use crate::request::Request;
use crate::session::series_names;
use crate::source::{Arrangement, RowSpec};
use hairspring_core::observations::Role;
use hairspring_measure::Table;
use hairspring_measure::companions::Companion;

/// The table without readings. Each alternative is a series, and so is each further arrangement of it.
pub fn new(request: &Request, rows: &[RowSpec], companions: &[Companion], ready: &Ready) -> Table {
    let mut table = Table::new(request.components());
    let names = series_names(request);
    let mut checks: Vec<(usize, Arrangement, String)> = Vec::new();
    for row in rows {
        let (subject, arrangement) = (row.subject, row.arrangement);
        let known = checks.iter().find(|(of, order, _)| (*of, *order) == (subject, arrangement)).map(|(_, _, series)| series.clone());
        let series = known.unwrap_or_else(|| {
            let series = declare(&mut table, request, (subject, arrangement), &names, companions);
            checks.push((subject, arrangement, series.clone()));
            series
        });
        table.add_row(&series, &row.counts(request));
    }
    companions.iter().for_each(|companion| table.add_companion(companion));
    table.set_clock(&ready.clock.0, ready.quantum);
    for (name, code) in names.iter().zip(&request.codes) {
        table.observations_mut().origin.notes.push((format!("code {name}"), code.clone()));
    }
    table
}

/// Names the series of an alternative in an arrangement, and says in the table what it is.
fn declare(
    table: &mut Table,
    request: &Request,
    (subject, arrangement): (usize, Arrangement),
    names: &[String],
    companions: &[Companion],
) -> String {
    let name = &names[subject];
    if arrangement == plan::arrangement(request) {
        if plan::stands_alone(request) {
            table.declare_arrangement(name, Role::Fenced);
        }
        return name.clone();
    }
    match arrangement {
        Arrangement::InPlace => table.declare_check(name, Role::InPlace, names),
        Arrangement::Shadow => {
            // Rows of the shadow are planned where there is a reference chain.
            let cycles = companions.iter().find(|chain| chain.is_reference).map_or(0, |chain| chain.cycles);
            table.declare_shadow(cycles, names)
        }
        Arrangement::AtEnd | Arrangement::Fenced => table.declare_check(name, Role::Fenced, names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::design::Pilot;
    use hairspring_host::thread::Settled;
    use hairspring_measure::companions::companions;
    use hairspring_measure::ruler::Ruler;

    fn of(request: &Request) -> Table {
        let ruler = Ruler {
            cycles: 3,
            controls: vec![(hairspring_host::chains::name(hairspring_host::chains::CONTROLS[0]).to_owned(), 1)],
            provenance: String::new(),
        };
        let pilot = Pilot { copy_ns: 10.0, copy_bytes: 20.0, quantum_ns: 10.0 };
        let settled = Settled { cpu: 0, priority_raised: false, memory_locked: false };
        let ready = Ready { settled, clock: ("tsc".into(), String::new()), quantum: 26, read_cost: 40.0, ruler: None };
        let rows = plan::rows(request, &vec![pilot; request.codes.len()], true);
        let companions = companions(&ruler);
        let table = new(request, &rows, &companions, &ready);
        assert_eq!(table.rows(), rows.len() + companions.iter().map(|chain| chain.copies.len()).sum::<usize>());
        table
    }

    #[test]
    fn checks_are_series_of_their_own_and_say_whose() {
        let request = Request { codes: vec!["f()".into(), "g()".into()], init: Some("h()".into()), ..Request::default() };
        let table = of(&request);
        let (names, origin) = (table.observations().series_names(), &table.observations().origin);
        assert_eq!(names[..7], ["a", "b", "a in place", "a fenced", "b in place", "b fenced", "shadow"]);
        assert_eq!(origin.variant("b", Role::Fenced), Some("b fenced"));
        assert_eq!(origin.shadow.as_ref().map(|(series, _)| series.as_str()), Some("shadow"));
        assert_eq!((origin.granularity, origin.notes.len()), (Some(26.0), 2));
        assert!(!origin.is_fenced("a"));
    }

    #[test]
    fn fenced_code_is_fenced_throughout_and_has_no_checks() {
        let table = of(&Request { codes: vec!["f()".into()], init: Some(String::new()), fence: true, ..Request::default() });
        let origin = &table.observations().origin;
        assert_eq!(table.observations().series_names()[..2], ["code", "shadow"]);
        assert!(origin.is_fenced("code") && origin.variants.len() == 1);
    }
}
