use super::*;
use crate::kinds::code;

fn estimate(value: f64) -> Estimate {
    Estimate { value, low: value - 0.004, high: value + 0.004, level: 0.95 }
}

/// Series of forms as measured on a core where each edge takes as long as the function says.
fn measured(
    names: &[&str],
    cycles: impl Fn(&Edge) -> f64,
    copy: impl Fn(&str) -> f64,
) -> (Vec<Form>, Vec<Measured>) {
    let chosen: Vec<Form> =
        forms::all().into_iter().filter(|form| names.contains(&form.name.as_str())).collect();
    let settings = Settings { cpu: None, budget: std::time::Duration::ZERO, level: 0.95 };
    let all_series =
        all_series(&Request { forms: chosen.clone(), values: true, settings }).unwrap();
    let result = all_series.into_iter().map(|one| {
        let slower = if one.values == Values::Denormal { 1.5 } else { 1.0 };
        let cycles = match &one.quantity {
            Quantity::Latency(edges) => slower * edges.iter().map(&cycles).sum::<f64>(),
            Quantity::Throughput(_) => copy(&one.form),
        };
        let Series { form, quantity, values, arrangement, .. } = one;
        Measured {
            form,
            quantity,
            values,
            arrangement,
            cycles: Ok(estimate(cycles)),
            findings: Vec::new(),
        }
    });
    (chosen, result.collect())
}

#[test]
fn helpers_of_the_same_file_are_subtracted_and_others_stay_in_the_sum() {
    let cycles = |edge: &Edge| if edge.form.starts_with("shl") { 2.0 } else { 1.0 };
    let nop_is_fast = |form: &str| if form == EMPTY_FORM { 0.17 } else { 0.5 };
    let (forms, measured) =
        measured(&["shl r64, cl", "movq xmm, r64", "add r64, r64"], cycles, nop_is_fast);
    let rows = rows(&forms, &measured);
    let find = |name: &str, from: &str, to: &str| {
        let row = rows.iter().find(|row| row.name == name).unwrap();
        row.latencies.iter().find(|one| one.from == from && one.to == to).unwrap().cycles.clone()
    };
    let Cycles::Alone(shift) = find("shl r64, cl", "cl", "1") else { panic!("not alone") };
    assert!((shift.value - 2.0).abs() < 1e-6, "{shift:?}");
    let Cycles::Sum(sum, with) = find("movq xmm, r64", "2", "1") else { panic!("no sum") };
    assert_eq!(
        (sum.value, with[0].form.as_str(), find("movq xmm, r64", "2", "1").at_most()),
        (2.0, "movq r64, xmm", Some(1.0))
    );
    let row = rows.iter().find(|row| row.name == "add r64, r64").unwrap();
    assert!(
        row.latencies.last().unwrap().is_of_flags()
            && row.data().count() == 2
            && !row.is_doubtful()
    );
    assert!(row.findings.is_empty(), "{:?}", row.findings);
}

#[test]
fn a_fraction_that_is_left_without_a_helper_is_in_doubt() {
    // The helper of `mulx` takes a cycle. A chain without helpers that is no whole number is not in
    // doubt.
    let row = |name: &str, mulx: f64| {
        let cycles = |edge: &Edge| match edge.form.as_str() {
            "mulx r64, r64, r64" => mulx,
            "vaddpd ymm, ymm, ymm" => 2.5,
            _ => 1.0,
        };
        let (forms, measured) =
            measured(&["mulx r64, r64, r64", "vaddpd ymm, ymm, ymm"], cycles, |_| 0.5);
        rows(&forms, &measured).into_iter().find(|row| row.name == name).unwrap()
    };
    let is_delayed =
        |row: &FormResult| row.findings.iter().any(|one| one.is(code::HELPER_MAY_DELAY));
    let delayed = row("mulx r64, r64, r64", 3.15);
    let found_finding = delayed.findings.iter().find(|one| one.is(code::HELPER_MAY_DELAY)).unwrap();
    let latency = delayed.latencies.iter().find(|one| one.delayed_by.is_some()).unwrap();
    assert!(
        latency.is_doubtful && delayed.is_doubtful() && matches!(latency.cycles, Cycles::Alone(_)),
        "{latency:?}"
    );
    let pair = format!("mulx r64, r64, r64 ({} to {}) takes 3.15 cycles", latency.from, latency.to);
    assert!(
        found_finding.severity == Severity::Warning && found_finding.message.starts_with(&pair),
        "{found_finding:?}"
    );
    assert!(
        found_finding.message.contains(latency.delayed_by.as_ref().unwrap())
            && found_finding.message.contains("compete"),
        "{found_finding:?}"
    );
    assert!(
        delayed.latencies.iter().any(|one| one.delayed_by.is_none() && !one.is_doubtful),
        "it has chains without helpers, too"
    );
    let (whole, alone) = (row("mulx r64, r64, r64", 3.05), row("vaddpd ymm, ymm, ymm", 3.0));
    assert!(!whole.is_doubtful() && !is_delayed(&whole), "{:?}", whole.findings);
    assert!(
        !alone.is_doubtful()
            && !is_delayed(&alone)
            && alone.findings.iter().any(|one| one.is(code::OFF_LATTICE))
    );
}

#[test]
fn what_is_special_about_a_form_is_a_finding() {
    let cycles = |edge: &Edge| match edge.form.as_str() {
        "mov r64, r64" => 0.2,
        "vaddpd ymm, ymm, ymm" => 2.5,
        _ => 4.0,
    };
    let names = ["mov r64, r64", "vaddpd ymm, ymm, ymm", "vmulpd ymm, ymm, ymm", "nop"];
    let (forms, measured) =
        measured(
            &names,
            cycles,
            |form| if form == "mov r64, r64" || form == "nop" { 0.17 } else { 0.5 },
        );
    let rows = rows(&forms, &measured);
    let has = |name: &str, code: &str| {
        rows.iter()
            .any(|row| row.name == name && row.findings.iter().any(|finding| finding.is(code)))
    };
    assert!(has("mov r64, r64", code::ELIMINATED) && has("mov r64, r64", code::FRONT_END));
    assert!(
        has("vaddpd ymm, ymm, ymm", code::OFF_LATTICE)
            && !has("vmulpd ymm, ymm, ymm", code::OFF_LATTICE)
    );
    assert!(
        has("vmulpd ymm, ymm, ymm", code::DEPENDS_ON_VALUES)
            && !has("mov r64, r64", code::DEPENDS_ON_VALUES)
    );
    assert!(!has("nop", code::FRONT_END) && !has("vmulpd ymm, ymm, ymm", code::FRONT_END));
}

#[test]
fn cycles_that_depend_on_addresses_are_findings() {
    let (forms, mut all_measured) =
        measured(&["mov m64, r64", "add m64, r64", "mov r64, m64"], |_| 2.5, |_| 1.0);
    for measured_series in &mut all_measured {
        measured_series.cycles = match measured_series.arrangement {
            Arrangement::OtherBase => Ok(estimate(7.0)),
            Arrangement::OneLine => Ok(estimate(0.5)),
            Arrangement::JustStored | Arrangement::Usual => measured_series.cycles.clone(),
        };
    }
    let found_rows = rows(&forms, &all_measured);
    let codes = |row: &FormResult| {
        row.findings.iter().filter(|finding| finding.is(code::DEPENDS_ON_ADDRESSES)).count()
    };
    let of = |name: &str| found_rows.iter().find(|row| row.name == name).unwrap();
    assert_eq!(
        (codes(of("mov m64, r64")), codes(of("add m64, r64")), codes(of("mov r64, m64"))),
        (2, 1, 0)
    );
    let message = &of("mov m64, r64")
        .findings
        .iter()
        .find(|finding| finding.is(code::DEPENDS_ON_ADDRESSES))
        .unwrap()
        .message;
    assert!(
        message.contains("another register")
            && message.contains("7.00")
            && message.contains("5.00"),
        "{message}"
    );
    // What is in doubt is compared with nothing.
    all_measured
        .iter_mut()
        .filter(|one| one.arrangement != Arrangement::Usual)
        .for_each(|one| one.cycles = Err("busy".into()));
    assert!(rows(&forms, &all_measured).iter().all(|row| codes(row) == 0 && !row.is_doubtful()));
}

#[test]
fn what_could_not_be_measured_has_its_reason_and_is_doubted() {
    let (forms, mut all_measured) = measured(&["add r64, r64"], |_| 1.0, |_| 0.2);
    all_measured.iter_mut().for_each(|one| one.cycles = Err("busy".into()));
    let row = &rows(&forms, &all_measured)[0];
    assert!(
        row.is_doubtful() && row.latency().is_none() && row.throughput.cycles == Err("busy".into())
    );
    assert!(row.latencies.iter().all(|one| one.cycles == Cycles::Unknown("busy".into())));
}
