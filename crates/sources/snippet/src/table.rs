//! The table of a request's rows: their series, and the roles of the series.

use crate::compile::Library;
use crate::plan;
use crate::protocol::Ready;
use crate::request::Request;
use crate::session::series_names;
use crate::source::RowSpec;
use hairspring_core::design::table::Order;
use hairspring_core::observations::Role;
use hairspring_measure::Table;
use hairspring_measure::companions::Companion;

/// The table without readings, for code of this library. Each alternative is a series, and so is
/// each further order of its rows.
pub fn new(
    request: &Request,
    rows: &[RowSpec],
    companions: &[Companion],
    ready: &Ready,
    library: &Library,
) -> Table {
    let mut table = Table::new(request.components());
    let names = series_names(request);
    let mut checks: Vec<(usize, Order, String)> = Vec::new();
    for row in rows {
        let (subject, order) = (row.subject, row.order);
        let known_series = checks
            .iter()
            .find(|(of, checked, _)| (*of, *checked) == (subject, order))
            .map(|(_, _, series)| series.clone());
        let series = known_series.unwrap_or_else(|| {
            let series = declare(&mut table, request, subject, order, &names, companions);
            checks.push((subject, order, series.clone()));
            series
        });
        table.add_row(&series, &row.counts(request));
    }
    companions.iter().for_each(|companion| table.add_companion(companion));
    table.set_clock(&ready.clock.0, ready.quantum);
    let origin = &mut table.observations_mut().origin;
    (origin.layouts, origin.crossover) = (library.paths.len() as u32, library.crossover as u32);
    for (name, code) in names.iter().zip(&request.codes) {
        table.observations_mut().origin.notes.push((format!("code {name}"), code.clone()));
    }
    table
}

/// Names the series of an alternative in an order, and records its role in the table.
fn declare(
    table: &mut Table,
    request: &Request,
    subject: usize,
    order: Order,
    names: &[String],
    companions: &[Companion],
) -> String {
    let name = &names[subject];
    if order == plan::main_order(request) {
        if plan::stands_alone(request) {
            table.declare_arrangement(name, Role::Fenced);
        }
        return name.clone();
    }
    if order == Order::FencedChain {
        // Rows of the fenced chain are planned only if there is a reference chain.
        let cycles =
            companions.iter().find(|chain| chain.is_reference).map_or(0, |chain| chain.cycles);
        return table.declare_fenced_chain(cycles, names);
    }
    table.declare_check(name, order.role().unwrap_or(Role::Fenced), names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::design::Pilot;
    use hairspring_measure::companions::companions;
    use hairspring_measure::ruler::Ruler;
    use hairspring_measure::seating::Seated;

    fn table_of(request: &Request) -> Table {
        let ruler = Ruler {
            cycles: 3,
            controls: vec![(
                hairspring_host::chains::name(hairspring_host::chains::CONTROLS[0]).to_owned(),
                1,
            )],
            provenance: String::new(),
        };
        let pilot = Pilot { copy_ns: 10.0, copy_bytes: 20.0, quantum_ns: 10.0, assembled: false };
        let ready = Ready {
            cpu: None,
            seated: Seated::default(),
            memory_locked: false,
            clock: ("tsc".into(), String::new()),
            quantum: 26,
            read_cost: 40.0,
            ruler: None,
        };
        let rows = plan::rows(request, &vec![pilot; request.codes.len()], true, false);
        let companions = companions(&ruler);
        let library = Library {
            paths: vec!["rows.so".into()],
            crossover: 1,
            row_bytes: Vec::new(),
            holds_arrays: false,
        };
        let table = new(request, &rows, &companions, &ready, &library);
        assert_eq!(
            table.rows(),
            rows.len() + companions.iter().map(|chain| chain.copies.len()).sum::<usize>()
        );
        table
    }

    #[test]
    fn checks_are_separate_series_with_roles() {
        let request = Request {
            codes: vec!["f()".into(), "g()".into()],
            init: Some("h()".into()),
            ..Request::default()
        };
        let table = table_of(&request);
        let (names, origin) = (table.observations().series_names(), &table.observations().origin);
        assert_eq!(
            names[..7],
            ["a", "b", "a in place", "a fenced", "b in place", "b fenced", "shadow"]
        );
        assert_eq!(origin.variant("b", Role::Fenced), Some("b fenced"));
        assert_eq!(origin.fenced_chain.as_ref().map(|(series, _)| series.as_str()), Some("shadow"));
        assert_eq!((origin.granularity, origin.notes.len()), (Some(26.0), 2));
        assert!(!origin.is_fenced("a"));
    }

    #[test]
    fn fenced_code_is_fenced_throughout_and_has_no_checks_of_its_order() {
        let table = table_of(&Request {
            codes: vec!["f()".into()],
            init: Some(String::new()),
            fence: true,
            ..Request::default()
        });
        let origin = &table.observations().origin;
        assert_eq!(table.observations().series_names()[..2], ["code", "shadow"]);
        assert!(origin.is_fenced("code"));
        assert!(
            [Role::InPlace, Role::Fenced]
                .iter()
                .all(|role| origin.variant("code", *role).is_none())
        );
        assert!(
            [Role::BehindBody, Role::BehindInit]
                .iter()
                .all(|role| origin.variant("code", *role).is_some())
        );
    }
}
