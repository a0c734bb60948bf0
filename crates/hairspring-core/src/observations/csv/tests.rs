use super::*;
use crate::observations::{ClockSpread, CoreClock, Pauses, Rate};

fn error(text: &str) -> String {
    read_csv(text.as_bytes()).expect_err(text).to_string()
}

#[test]
fn rounds_are_numbered_in_order_without_a_round_column() {
    let table = read_csv(
        "# clock: timer1\n# rate_hz: 16000000\n\nbody,ticks\n1,108\n2,208\n1,109\n".as_bytes(),
    )
    .unwrap();
    assert_eq!(table.origin.clock.as_deref(), Some("timer1"));
    assert_eq!(table.origin.rate.as_ref().unwrap().hz, 16e6);
    let rounds: Vec<u32> = table.readings().iter().map(|reading| reading.round).collect();
    assert_eq!(rounds, [0, 0, 1]);
}

#[test]
fn written_table_is_read_back() {
    let mut table = Observations::new(vec!["body, \"quoted\"".into(), "init".into()]);
    let (a, b, c) = (table.series("a,b"), table.series("reference"), table.series("the control"));
    for round in 0..3 {
        let row = table.row(a, &[2.0, 3.5]);
        table.push_flagged(row, round, 12.25, Flags::GAP.with(Flags::DENORMAL_OPERAND));
        let row = table.row(b, &[4.0, 0.0]);
        table.push(row, round, 1e15);
        let row = table.row(c, &[5.0, 0.0]);
        table.push(row, round, 7.0);
    }
    table.origin.reference = Some(("reference".into(), 3.0));
    table.origin.controls = vec![("the control".into(), 1.0), ("a,b".into(), 4.0)];
    table.origin.granularity = Some(26.0);
    table.origin.reading_bound = Some(0.25);
    table.origin.clock_spread = Some(ClockSpread { sd: 0.018, runs: 24 });
    table.origin.core_clock = Some(CoreClock { hz: 4.1e9, sd: 0.003 });
    table.origin.rate =
        Some(Rate { hz: 2.6e9, uncertainty_ppm: 0.5, provenance: "measured: twice".into() });
    table.origin.clock = Some("two\nlines".into());
    table.origin.placements = vec![1, 2];
    (table.origin.layouts, table.origin.crossover) = (4, 2);
    table.origin.pauses =
        Pauses { watched: 520_000.0, lost: 24_000.5, number: 12, longer: Some(3) };
    table.origin.serving = vec!["init".into()];
    table.origin.unoptimised = vec!["a,b".into(), "the control".into()];
    table.origin.occupancy =
        vec![("a,b".into(), Occupancy::Waits), ("the control".into(), Occupancy::Fills)];
    table.origin.uses = vec![
        ("a,b".into(), vec![("multiply".into(), 2), ("simple".into(), 1)]),
        ("the control".into(), vec![("simple".into(), 1)]),
    ];
    let mut text = Vec::new();
    write_csv(&table, &mut text).unwrap();
    let back = read_csv(&text[..]).unwrap();
    assert_eq!(back.readings(), table.readings());
    assert_eq!(back.rows(), table.rows());
    assert_eq!(back.series_names(), table.series_names());
    assert_eq!(back.components(), table.components());
    assert_eq!(back.origin.clock.as_deref(), Some("two lines"));
    assert_eq!(back.origin.reference, table.origin.reference);
    assert_eq!(back.origin.controls, table.origin.controls);
    assert_eq!(back.origin.rate, table.origin.rate);
    assert_eq!(back.origin.reading_bound, Some(0.25));
    assert_eq!(back.origin.clock_spread, table.origin.clock_spread);
    assert_eq!(back.origin.core_clock, table.origin.core_clock);
    assert_eq!(back.origin.serving, ["init"]);
    assert_eq!(back.origin.unoptimised, table.origin.unoptimised);
    assert_eq!(back.origin.occupancy, table.origin.occupancy);
    assert_eq!(back.origin.uses, table.origin.uses);
    assert_eq!(back.placements(), [0..1, 1..2, 2..3]);
    assert_eq!(
        (back.origin.layouts, back.origin.crossover, back.origin.pauses),
        (4, 2, table.origin.pauses)
    );
    assert_eq!(back.in_rounds(&(1..2)).readings().len(), 3);
}

#[test]
fn components_that_no_row_counts_are_left_out_on_request() {
    let mut table = Observations::new(["never", "x", "serves", "y"].map(String::from).into());
    table.origin.serving = vec!["serves".into()];
    let series = table.series("main");
    for (counts, ticks) in [([0.0, 1.0, 0.0, 0.0], 5.0), ([0.0, 3.0, 0.0, 2.5], 9.0)] {
        let row = table.row(series, &counts);
        table.push(row, 0, ticks);
    }
    let mut text = Vec::new();
    write_counted_csv(&table, &mut text).unwrap();
    let back = read_csv(&text[..]).unwrap();
    assert_eq!(back.components(), ["x", "serves", "y"]);
    assert_eq!(
        back.rows().iter().map(|row| row.counts.clone()).collect::<Vec<_>>(),
        [[1.0, 0.0, 0.0], [3.0, 0.0, 2.5]]
    );
    assert_eq!(back.readings(), table.readings());
}

#[test]
fn clock_spread_needs_a_share_and_at_least_two_runs() {
    let read =
        |value: &str| read_csv(format!("# clock_spread: {value}\nbody,ticks\n1,2\n").as_bytes());
    assert_eq!(read("0 2").unwrap().origin.clock_spread, Some(ClockSpread { sd: 0.0, runs: 2 }));
    for value in [
        "",
        "0.01",
        "0.01 1",
        "0.01 x",
        "-0.01 5",
        "nan 5",
        "inf 5",
        "0.01 5 7",
        "0.01 99999999999999",
    ] {
        let error = read(value).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("clock_spread"), "{value}: {error}");
    }
}

#[test]
fn layouts_and_pauses_must_make_sense() {
    let read = |line: &str| read_csv(format!("# {line}\nbody,ticks\n1,2\n").as_bytes());
    for line in [
        "layouts: 0",
        "layouts: -4",
        "layouts: 1.5",
        "layouts: 1001",
        "layouts: x",
        "layouts:",
        "crossover: 0",
        "crossover: 1001",
    ] {
        let error = read(line).unwrap_err().to_string();
        assert!(
            error.contains("line 1")
                && error.contains(&line[..line.find(':').unwrap()])
                && error.contains("1 to 1000"),
            "{line}: {error}"
        );
    }
    for values in [
        "",
        "1 2",
        "100 20 3 4 5",
        "100 20 3 x",
        "100 20 x",
        "100 20 -1",
        "100 20 1.5",
        "nan 20 1",
        "100 inf 1",
        "-1 -1 1",
        "100 200 1",
        "1 1 5000000000",
    ] {
        let error = read(&format!("pauses: {values}")).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("pauses"), "{values}: {error}");
    }
    let error = read("pauses: 100 200 1").unwrap_err().to_string();
    assert!(error.contains("all pauses take 200, longer than the 100"), "{error}");
}

#[test]
fn placements_begin_one_after_the_other() {
    let read = |lines: &str| read_csv(format!("{lines}body,ticks\n1,2\n").as_bytes());
    for (lines, problem) in [
        (
            "# placement: 0\n",
            "line 1: the placement that begins with round 0 must begin after round 0",
        ),
        ("# placement: 5\n# placement: 5\n", "line 2: the placement that begins with round 5"),
        ("# placement: x\n", "round `x` is not a whole number"),
        ("# placement: -1\n", "round `-1` is not a whole number"),
    ] {
        let error = read(lines).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    // A placement behind the last round has no rounds.
    assert!(read("# placement: 5\n").unwrap().placements().iter().eq([&(0..1)]));
}

#[test]
fn a_carriage_return_within_a_comment_or_a_name_is_a_space() {
    let table =
        read_csv("# the\rkey: a\rvalue\n\"the\rbody\",ticks\r\n1,2\r\n".as_bytes()).unwrap();
    assert_eq!(table.origin.notes, [("the key".to_owned(), "a value".to_owned())]);
    assert_eq!(table.components(), ["the body"]);
}

#[test]
fn names_without_rows_or_columns_are_refused() {
    assert!(
        error("# reference: chian 3\nseries,body,ticks\nchain,1,2\n")
            .contains("`reference` names the series `chian`")
    );
    assert!(
        error("# unoptimised: a\nseries,body,ticks\nb,1,2\n")
            .contains("`unoptimised` names the series `a`")
    );
    assert!(
        error("# fills: a\nseries,body,ticks\nb,1,2\n").contains("`fills` names the series `a`")
    );
    assert!(
        error("# uses: a = simple 1\nseries,body,ticks\nb,1,2\n")
            .contains("`uses` names the series `a`")
    );
    assert!(
        error("# uses: b = simple 1\n# uses: b = load 1\nseries,body,ticks\nb,1,2\n")
            .contains("a second time")
    );
    assert!(
        error("# waits: b\n# fills: b\nseries,body,ticks\nb,1,2\n")
            .contains("`fills` names the series `b` a second time")
    );
    assert!(
        error("# variant: b = fenced of a\nseries,body,ticks\nb,1,2\n")
            .contains("`variant` names the series `a`")
    );
    assert!(
        error("# serves: inti\nbody,init,ticks\n1,1,2\n")
            .contains("`serves` names the component `inti`")
    );
    assert!(error("# serves: body\nbody,ticks\n1,2\n").contains("`serves` names every component"));
    for wrong in [
        "b",
        "b = ",
        "b = simple",
        "b = simple -1",
        "b = 1",
        "b = simple 1,",
        "b = simple 99999999999",
    ] {
        assert!(
            error(&format!("# uses: {wrong}\nseries,body,ticks\nb,1,2\n"))
                .contains("kinds of units"),
            "{wrong}"
        );
    }
}

#[test]
fn separators_and_encodings_of_other_programs_are_named() {
    for (text, said) in [
        ("body;ticks\n1;108\n", "separated by semicolons"),
        ("body\tticks\n1\t108\n", "separated by tabs"),
        ("series;body;time_ns\na;1;108,5\n", "separated by semicolons"),
        ("body|ticks\n1|108\n", "separated by bars"),
        ("body  ticks\n1  108\n", "separated by blanks"),
        ("body,ticks\n1,108,5\n", "with a point (208.5)"),
    ] {
        assert!(error(text).contains(said), "{}", error(text));
    }
    assert!(!error("body;init\n1;108\n").contains("separated"));
    assert!(!error("body,init,ticks\n1,108\n").contains("with a point"));
    let wide = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}body,ticks\n1,2\n".encode_utf16().flat_map(unit).collect()
    };
    let (little, big) = (wide(u16::to_le_bytes), wide(u16::to_be_bytes));
    for bytes in [&little[..], &big, &little[2..], &big[2..]] {
        let error = read_csv(bytes).unwrap_err().to_string();
        assert!(error.contains("line 1: is not UTF-8 text but perhaps UTF-16"), "{error}");
    }
}

#[test]
fn bad_headers_and_keys_are_refused() {
    assert!(error("").contains("empty"));
    assert!(error("body,ticks\n").contains("no rows"));
    assert!(error("body\n1\n").contains("line 1: no column `ticks`"));
    assert!(error("ticks\n1\n").contains("no component"));
    assert!(error("body,ticks,time_ns\n1,2,3\n").contains("keep one"));
    assert!(error("body,body,ticks\n1,2,3\n").contains("appears twice"));
    assert!(error(&format!("{}ticks\n", "c,".repeat(20_000))).contains("the limit is"));
    assert!(error("# reading_bound: 0\nbody,ticks\n1,2\n").contains("line 1"));
    assert!(error("# rate_hz: 0\nbody,ticks\n1,2\n").contains("line 1"));
}

#[test]
fn bad_lines_name_the_line_and_the_reason() {
    assert!(error("# c: d\nbody,ticks\n1,2\n3,x\n").contains("line 4: the reading is `x`"));
    assert!(error("body,ticks\n1,NaN\n").contains("line 2"));
    assert!(error("body,ticks\ninf,3\n").contains("not a finite"));
    assert!(error("body,ticks\n-1,3\n").contains("negative"));
    assert!(error("body,ticks\n1,2,3\n").contains("line 2: has 3 fields, the header has 2"));
    assert!(error("body,flags,ticks\n1,q,3\n").contains("flag `q`"));
    assert!(
        error("series,body,ticks\n\"a\rb\",1,2\n")
            .contains("line 2: the name of a series has a line break")
    );
    assert!(error("body,round,ticks\n1,-1,3\n").contains("round `-1`"));
    assert!(error("body,round,ticks\n1,4294967295,3\n").contains("round `4294967295`"));
    assert!(
        error("body,round,ticks\n1,0,2\n1,1073741823,2\n")
            .contains("the highest round is 1073741823, and there are only 2 readings")
    );
    let many: String = (0..2_000).map(|i| format!("s{i},1,2\n")).collect();
    assert!(error(&format!("series,body,ticks\n{many}")).contains("the limit is 1000"));
    assert!(error(&"a".repeat(2 << 20)).contains("longer than"));
    assert!(read_csv(&b"body,ticks\n1,\xff\n"[..]).is_err());
    for odd in [
        "# rate_hz: 1e-300\nbody,ticks\n1,2\n",
        "body,ticks\n1,1e200\n",
        "body,ticks\n1e-200,1\n",
        "# granularity: 1e300\nbody,ticks\n1,2\n",
    ] {
        assert!(error(odd).contains("numbers other than 0 lie between 1e-30 and 1e30"), "{odd}");
    }
}

#[test]
fn keys_that_have_one_value_are_given_once() {
    for twice in [
        "reference: a 3\n# control: a 5",
        "control: a 1\n# control: a 2",
        "control: a 3\n# reference: a 3",
    ] {
        assert!(error(&format!("# {twice}\nbody,ticks\n1,2\n")).starts_with("line 2: "), "{twice}");
    }
    assert!(
        error("# rate_hz: 1e9\n# rate_hz: 2e9\nbody,ticks\n1,2\n")
            .contains("line 2: `rate_hz` is given a second time")
    );
    let twice = ["clock: a", "granularity: 1", "pauses: 1000 10 5", "reference: x 3", "layouts: 4"];
    for line in twice {
        assert!(
            error(&format!("# {line}\n# {line}\nbody,ticks\n1,2\n"))
                .contains("is given a second time"),
            "{line}"
        );
    }
    assert!(
        read_csv("# clock\n# clock: a\nbody,ticks\n1,108\n2,208\n".as_bytes()).is_ok(),
        "a comment is no key"
    );
}

#[test]
fn byte_order_mark_and_crlf_are_accepted() {
    let table = read_csv("\u{feff}body,ticks\r\n1,2\r\n\r\n2,3\r\n".as_bytes()).unwrap();
    assert_eq!(table.readings().len(), 2);
}

proptest::proptest! {
    #[test]
    fn no_input_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let _ = read_csv(&bytes[..]);
    }

    #[test]
    fn almost_valid_input_does_not_panic(text in "(#[a-z_]{0,8}: ?[0-9e.-]{0,6}\n\
                                                  ){0,3}(a,|b,|round,|flags,|series,){0,4}ticks\n\
                                                  ([0-9a-z.,-]{0,12}\n){0,6}") {
        let _ = read_csv(text.as_bytes());
    }
}

#[test]
fn uncertainty_without_a_rate_is_ignored() {
    let table = read_csv("# rate_uncertainty_ppm: 3\nbody,ticks\n1,2\n".as_bytes()).unwrap();
    assert_eq!(table.origin.rate, None);
}

/// An endless stream: a text followed by repetitions of one byte. Panics if more than 64 MiB are
/// read.
struct Endless(&'static [u8], u8, usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.2 += buffer.len();
        assert!(self.2 < 64 << 20, "read without end");
        if self.0.is_empty() {
            buffer.fill(self.1);
            return Ok(buffer.len());
        }
        self.0.read(buffer)
    }
}

#[test]
fn endless_input_is_refused_with_line_and_limit() {
    let refused =
        |start: &'static [u8], byte| read_csv(Endless(start, byte, 0)).unwrap_err().to_string();
    assert!(refused(b"", 0).contains("line 1: is longer than 1048576 bytes"));
    let line = refused(b"body,ticks\n1,2\n", 0);
    assert!(line.contains("line 3: is longer than 1048576 bytes"), "{line}");
    let comment = refused(b"body,ticks\n1,2\n# ", b'x');
    assert!(comment.contains("is longer than 1048576 bytes"), "{comment}");
    let blank = refused(b"body,ticks\n1,2\n2,3\n", b'\n');
    assert!(blank.contains("no row ends within 16777216 bytes"), "{blank}");
    let quote = refused(b"body,ticks\n1,2\n\"", b'\n');
    assert!(quote.contains("line 3: no row ends within"), "{quote}");
}

#[test]
fn many_comments_between_rows_are_accepted() {
    let comments = "# another comment\n".repeat(100_000);
    assert_eq!(
        read_csv(format!("body,ticks\n1,2\n{comments}2,3\n").as_bytes()).unwrap().readings().len(),
        2
    );
}

#[test]
fn a_series_of_excluded_readings_is_refused() {
    let error = read_csv(
        "series,body,flags,ticks\ngood,1,,108\ngood,2,x,208\nbad,1,x,108\nbad,2,x,208\n".as_bytes(),
    )
    .unwrap_err()
    .to_string();
    assert!(error.contains("`bad`") && error.contains("flag `x`"), "{error}");
}
