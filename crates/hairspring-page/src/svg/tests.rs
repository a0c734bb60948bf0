use super::*;
use hairspring_core::Estimate;
use hairspring_view::plot::{Plot as Points, Point};

fn point(x: f64, y: f64, used: bool) -> Point {
    Point { x, y, used }
}

fn points() -> Points {
    Points {
        points: vec![point(1.0, 2.0, true), point(2.0, 4.0, true), point(3.0, 9.0, false)],
        line: [(0.0, 0.0), (3.0, 6.0)],
        x: (0.0, 3.0),
        y: (0.0, 9.0),
    }
}

/// Structure that every plot has: title, description, and no character that is not allowed.
fn is_sound(plot: &Plot) {
    let svg = &plot.svg;
    assert!(svg.starts_with("<svg xmlns") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert_eq!((svg.matches("<title>").count(), svg.matches("<desc>").count()), (1, 1));
    assert!(!svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("inf "), "{svg}");
    assert!(!svg.contains("<script") && !svg.chars().any(char::is_control), "{svg}");
}

#[test]
fn a_line_has_its_rows_and_what_was_left_out() {
    let plot = line("line", "main", &points(), "ns");
    is_sound(&plot);
    for part in ["hs-line", "hs-used", "hs-out", ">copies<", "time of a row (ns)", "row left out"] {
        assert!(plot.svg.contains(part), "{part}: {}", plot.svg);
    }
    // Two rows in use, and the circle of the key.
    assert_eq!(plot.svg.matches("0z").count(), 3);
}

#[test]
fn names_cannot_leave_their_text() {
    let evil = "</title><script src=http://evil>\"'&\u{1}\u{1b}\n";
    let node = Node { name: evil.into(), text: evil.into(), heat: f64::NAN, ran: false };
    let bar = Bar { name: evil.into(), size: 1.0, text: evil.into() };
    let estimate = Estimate { value: 1.0, low: f64::NEG_INFINITY, high: 1e300, level: 0.95 };
    let all = [
        line("a", evil, &points(), evil),
        budget("b", evil, &[bar]).unwrap(),
        graph("c", evil, &[node], &[Arrow { from: 0, to: 0 }, Arrow { from: 0, to: 9 }]).unwrap(),
        intervals(("d", evil), evil, &[Interval { name: evil.into(), estimate }], None).unwrap(),
    ];
    all.iter().for_each(is_sound);
}

#[test]
fn odd_numbers_are_drawn_or_left_out() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, 5e-324];
    for one in odd {
        for other in odd {
            let spots = [
                Spot { round: one, beside: other, used: true },
                Spot { round: other, beside: one, used: false },
            ];
            readings("a", "s", &spots, "ns").iter().for_each(is_sound);
            core_clock("b", &[(one, other), (other, one)]).iter().for_each(is_sound);
            let bin = Bin { low: one, high: other, count: one };
            histogram("c", "t", "ns", &[bin]).iter().for_each(is_sound);
            let bar = Bar { name: String::new(), size: one, text: String::new() };
            budget("d", "t", &[bar]).iter().for_each(is_sound);
            let estimate = Estimate { value: one, low: other, high: one, level: 0.95 };
            let all = [Interval { name: "a".into(), estimate }];
            intervals(("e", "t"), "x", &all, Some((other, "g"))).iter().for_each(is_sound);
            edges("f", "pin", &[(one, true), (other, false)], "s").iter().for_each(is_sound);
            signal("g", &[one, other], Some(one), other, "s").iter().for_each(is_sound);
        }
    }
    assert_eq!(readings("a", "s", &[], "ns"), None);
    assert_eq!(histogram("a", "t", "ns", &[]), None);
    assert_eq!(graph("a", "f", &[], &[]), None);
}

#[test]
fn many_readings_stay_small() {
    let spots: Vec<Spot> = (0..76_000u32)
        .map(|at| Spot {
            round: f64::from(at / 8),
            beside: f64::from(at.wrapping_mul(2_654_435_761) >> 16) / 65_536.0,
            used: at % 20 != 0,
        })
        .collect();
    let plot = readings("a", "s", &spots, "ns").unwrap();
    assert!(plot.svg.len() < 260_000, "{}", plot.svg.len());
    is_sound(&plot);
}

#[test]
fn a_histogram_of_tails_is_logarithmic() {
    let bins = |most: f64| {
        let bin = |low: f64, count| Bin { low, high: low + 1.0, count };
        histogram("h", "t", "ns", &[bin(1.0, most), bin(7.0, 1.0)]).unwrap().svg
    };
    assert!(bins(1000.0).contains("logarithmic") && !bins(20.0).contains("logarithmic"));
}

#[test]
fn a_file_has_its_style() {
    let file = line("line", "main", &points(), "ns").file();
    let style = file.find("<style>").unwrap();
    assert!(style < file.find("<title>").unwrap() && file.contains("prefers-color-scheme"));
}

#[test]
fn a_history_has_its_points_its_levels_and_what_was_left_out() {
    let moment = |at: usize, value: f64, used: bool| Moment {
        at,
        value,
        ends: [value - 1.0, if at == 3 { f64::INFINITY } else { value + 1.0 }],
        used,
    };
    let mut points: Vec<Moment> =
        (0..8).map(|at| moment(at, 10.0 + (at / 4) as f64, true)).collect();
    points[6].value = f64::NAN;
    points.push(moment(8, 1e30, false));
    let levels = [(0, 3, 10.0), (4, 7, 11.0)];
    let plot = history(("history", "</title><script>"), "ns", &points, &levels).unwrap();
    is_sound(&plot);
    for part in ["hs-line", "hs-used", "hs-out", "hs-interval", ">left out<", "value (ns)"] {
        assert!(plot.svg.contains(part), "{part}: {}", plot.svg);
    }
    assert_eq!(history(("h", "x"), "ns", &[moment(0, f64::NAN, true)], &[]), None);
    assert_eq!(history(("h", "x"), "ns", &[], &[]), None);
    let many: Vec<Moment> = (0..10_000).map(|at| moment(at, 1.0, true)).collect();
    assert!(
        !history(("h", "x"), "ns", &many, &levels).unwrap().svg.contains("class=\"hs-interval")
    );
}
