use super::*;
use crate::forms::all;
use crate::helper::path;
use crate::simulated::{cycles, fault};

fn form(name: &str) -> Form {
    all().into_iter().find(|form| form.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn edges(series: &Series) -> Vec<String> {
    match &series.quantity {
        Quantity::Latency(edges) => {
            edges.iter().map(|edge| format!("{} {}>{}", edge.form, edge.from, edge.to)).collect()
        }
        Quantity::Throughput(with) => {
            vec![format!("throughput {}", with.join(", ")).trim_end().to_owned()]
        }
    }
}

fn all_edges(name: &str) -> Vec<Vec<String>> {
    series(&form(name)).unwrap().iter().map(edges).collect()
}

#[test]
fn every_form_has_a_throughput_and_all_its_series_can_be_encoded() {
    for form in all() {
        let all_series = series(&form).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            all_series.iter().filter(|one| matches!(one.quantity, Quantity::Throughput(_))).count()
                == 1,
            "{}",
            form.name
        );
        let all_series: Vec<Series> =
            all_series.into_iter().chain(arranged(&form).unwrap()).collect();
        assert!(all_series.iter().all(|one| !one.copies.is_empty()
            && one.copies.iter().all(|copy| !copy.is_empty())), "{}", form.name);
        for values in Values::special(form.element) {
            with_values(&form, *values).unwrap();
        }
    }
}

#[test]
fn addresses_without_displacement_are_encoded_without_one() {
    for name in ["lea r64, [r64+r64]", "lea r64, [r64+r64*8]"] {
        for series in series(&form(name)).unwrap() {
            // A prefix, the opcode, ModRM and SIB.
            assert!(series.copies.iter().all(|copy| copy.len() == 4), "{name}: {series:?}");
        }
    }
}

#[test]
fn pairs_in_other_files_have_helpers_and_flags_are_apart() {
    assert_eq!(
        all_edges("add r64, r64"),
        [
            vec!["add r64, r64 1>1"],
            vec!["add r64, r64 2>1"],
            vec!["add r64, r64 2>flags", "cmovb r64, r64 flags>1"],
            vec!["throughput"]
        ]
    );
    assert_eq!(
        all_edges("movq xmm, r64"),
        [vec!["movq xmm, r64 2>1", "movq r64, xmm 2>1"], vec!["throughput"]]
    );
    assert_eq!(all_edges("vaddpd ymm, ymm, ymm").len(), 3);
    assert!(all_edges("adc r64, r64").contains(&vec!["adc r64, r64 flags>flags".to_owned()]));
    assert!(all_edges("adc r64, r64").contains(&vec!["throughput test r64, r64".to_owned()]));
    let compared = all_edges("comisd xmm, xmm");
    assert!(
        compared[0] == ["comisd xmm, xmm 1>flags", "cmovb r64, r64 flags>1", "movq xmm, r64 2>1"],
        "{compared:?}"
    );
    assert_eq!(
        all_edges("div r64"),
        [vec!["div r64 rax>rax"], vec!["throughput mov r64, r64, mov r64, r64"]]
    );
    assert!(
        all_edges("shl r64, cl")
            .contains(&vec!["shl r64, cl cl>1".to_owned(), "movsxd r64, r32 2>1".to_owned()])
    );
    let needs = Needs { vex: true, flags: 0, bytes: 0 };
    assert!(
        path(File::Mask, File::Flags, needs).len() == 2
            && path(File::Flags, File::Vector, needs).is_empty()
    );
}

#[test]
fn copies_of_a_chain_depend_on_each_other_and_independent_copies_do_not() {
    const COPIES: u32 = 44;
    for form in all().iter().filter(|form| form.shape != Shape::Same) {
        for series in series(form).unwrap() {
            // An instruction takes one cycle, whichever way a value takes through it.
            let way = cycles(&series, COPIES, |_, _| 1);
            match &series.quantity {
                Quantity::Latency(edges) => {
                    assert!(way >= edges.len() as u32 * COPIES, "{} {edges:?}: {way}", form.name)
                }
                // Written registers come back after several copies.
                Quantity::Throughput(_) => assert!(way <= COPIES / 4 + 3, "{}: {way}", form.name),
            }
        }
    }
}

#[test]
fn chains_through_memory_are_sums_and_addresses_have_known_helpers() {
    let stored = vec!["mov m64, r64 2>m".to_owned(), "mov r64, m64 m>1".to_owned()];
    assert_eq!(all_edges("mov m64, r64"), [stored.clone(), vec!["throughput".into()]]);
    let loaded: Vec<String> = stored.into_iter().rev().collect();
    assert_eq!(
        all_edges("mov r64, m64"),
        [vec!["mov r64, m64 base>1".into()], loaded, vec!["throughput".into()]]
    );
    let added = all_edges("add r64, m64");
    assert!(
        added.contains(&vec![
            "add r64, m64 base>1".into(),
            "and r64, r64 1>1".into(),
            "add r64, r64 2>1".into()
        ]),
        "{added:?}"
    );
    assert!(added.contains(&vec!["add r64, m64 1>1".into()]), "{added:?}");
    let both_edges = all_edges("add m64, r64");
    assert!(
        both_edges.contains(&vec!["add m64, r64 m>m".into()])
            && !both_edges.iter().any(|one| one[0].ends_with("base>m")),
        "{both_edges:?}"
    );
    assert!(
        both_edges.contains(&vec!["add m64, r64 2>m".into(), "mov r64, m64 m>1".into()]),
        "{both_edges:?}"
    );
    let sum = all_edges("vaddpd ymm, ymm, m256");
    let back = ["vmovq r64, xmm 2>1", "and r64, r64 1>1", "add r64, r64 2>1"].map(str::to_owned);
    assert!(
        sum.iter().any(|edges| edges[0] == "vaddpd ymm, ymm, m256 base>1" && edges[1..] == back),
        "{sum:?}"
    );
    assert!(
        sum.contains(&vec!["vaddpd ymm, ymm, m256 m>1".into(), "vmovups m256, ymm 2>m".into()]),
        "{sum:?}"
    );
    let kinds = |name: &str| {
        arranged(&form(name)).unwrap().iter().map(|one| one.arrangement).collect::<Vec<_>>()
    };
    assert_eq!(kinds("mov m64, r64"), [Arrangement::OtherBase, Arrangement::OneLine]);
    assert_eq!(
        (kinds("mov r64, m64"), kinds("add m64, r64")),
        (vec![Arrangement::JustStored], vec![Arrangement::OtherBase])
    );
    assert!(kinds("add r64, m64").is_empty() && kinds("add r64, r64").is_empty());
}

#[test]
fn no_form_reads_or_writes_outside_the_buffer() {
    const COPIES: u32 = 300;
    let mut forms = 0;
    for form in all() {
        let special = Values::special(form.element)
            .iter()
            .filter_map(|values| with_values(&form, *values).unwrap());
        for series in
            series(&form).unwrap().into_iter().chain(arranged(&form).unwrap()).chain(special)
        {
            assert_eq!(series.buffer.is_some(), form.shape == Shape::Memory, "{}", form.name);
            assert_eq!(
                fault(&series, COPIES),
                None,
                "{} {:?} {:?}",
                form.name,
                series.quantity,
                series.arrangement
            );
        }
        forms += u32::from(form.shape == Shape::Memory);
    }
    assert!(forms > 50, "{forms}");
}

#[test]
fn a_place_or_a_register_that_is_no_address_is_noticed() {
    let (loads, adds) = (form("mov r64, m64"), form("add r64, m64"));
    let code = |instruction: Instruction| encode(&[instruction]).unwrap();
    let mut series = throughput(&loads, Arrangement::Usual).unwrap();
    for copies in [
        vec![code(with_base(loads.place(&[3, BASE, 8]), ZERO))],
        // The sum of two addresses is none.
        vec![code(adds.place(&[3, BASE, 8])), code(loads.place(&[3, 3, 8]))],
        // What is loaded is an address only as long as nothing else was stored there.
        vec![
            code(form("add m64, r64").place(&[BASE, 8, 3])),
            code(loads.place(&[3, BASE, 8])),
            code(loads.place(&[3, 3, 8])),
        ],
        vec![code(with_base(form("vmovups m256, ymm").place(&[BASE, 8, 1]), 4))],
    ] {
        series.copies = copies;
        assert!(fault(&series, 3).is_some(), "{:?}", series.copies);
    }
}

#[test]
fn stores_to_one_line_stay_in_it_and_others_use_many() {
    let form = form("mov m64, r64");
    let lines = |arrangement| {
        let copies = throughput(&form, arrangement).unwrap().copies;
        let places = copies.iter().flat_map(|copy| crate::simulated::places(copy));
        places.map(|place| place.div_euclid(64)).collect::<std::collections::BTreeSet<i64>>().len()
    };
    assert_eq!((lines(Arrangement::OneLine), lines(Arrangement::Usual)), (1, 14));
}
