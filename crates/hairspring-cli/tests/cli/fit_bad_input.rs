//! `fit` of files that are wrong: the line and the reason, in one line, and status 1.

use crate::command::{Hairspring, fit};

fn refused(content: impl AsRef<[u8]>, reason: &str) {
    fit(content).fails("hairspring: observations.csv: ").complains(reason).in_one_line();
}

#[test]
fn unreadable_files_are_refused() {
    let open = |name: &str| Hairspring::new().with("fit").with(name);
    open("nosuch.csv").fails("nosuch.csv: No such file").in_one_line();
    open(".").fails("directory").in_one_line();
    open("/dev/zero").fails("longer than").in_one_line();
    open("/dev/null").fails("the file is empty").in_one_line();
    open("\u{1b}[31m").ends_with(1).in_one_line();
    open("-").fails("standard input: the file is empty").in_one_line();
}

#[test]
fn files_without_rows() {
    refused("", "the file is empty");
    refused("\n\n# comment\n", "the file is empty");
    refused("body,ticks\n", "no rows");
    refused("body,ticks", "no rows");
}

#[test]
fn bad_headers_are_refused() {
    refused("body,init\n1,2\n", "line 1: no column `ticks`");
    refused("ticks\n1\n", "line 1: no component");
    refused("body,ticks,time_ns\n1,2,3\n", "line 1: the header has both `ticks` and `time_ns`");
    refused("body,body,ticks\n1,1,3\n", "line 1: column `body` appears twice");
    refused("body,,ticks\n1,1,3\n", "line 1: column 2 has no name");
    refused("1,108\n2,208\n", "line 1: no column `ticks`");
    refused("# one\n# two\n\nbody\n", "line 4: no column `ticks`");
}

#[test]
fn headers_that_are_too_long() {
    refused(
        format!("{}ticks\n", "c,".repeat(20_000)),
        "line 1: the header has 20001 columns, the limit is 10000",
    );
    refused(
        (0..1_000_000).map(|n| format!("c{n},")).collect::<String>() + "ticks\n",
        "line 1: is longer than",
    );
}

#[test]
fn non_numeric_fields_are_refused() {
    refused("body,ticks\n1,108\n2,x\n", "line 3: the reading is `x`, which is not a number");
    refused("body,ticks\nx,108\n", "line 2: a count is `x`, which is not a number");
    refused("body,ticks\n1,NaN\n", "line 2: the reading is `NaN`");
    refused("body,ticks\n1,inf\n", "line 2: the reading is `inf`");
    refused("body,ticks\nnan,1\n", "line 2: a count is `nan`");
    refused("body,ticks\ninf,1\n", "line 2: a count is `inf`");
    refused("body,ticks\n1,1e400\n", "line 2: the reading is `1e400`");
    refused("body,ticks\n-1,3\n", "line 2: a count is -1, which is negative");
    refused("body,ticks\n1,\n", "line 2: the reading is ``");
    refused("body,ticks\n1,0x10\n", "line 2: the reading is `0x10`");
    refused("body,ticks\n1,1;5\n", "line 2: the reading is `1;5`");
}

#[test]
fn lines_with_other_fields_than_the_header() {
    refused("body,ticks\n1,108\n1,2,3\n", "line 3: has 3 fields, the header has 2");
    refused("body,ticks\n1,108\n2,208\n4", "line 4: has 1 field, the header has 2");
    refused("body;ticks\n1;108\n", "the columns are separated by semicolons");
}

#[test]
fn columns_with_a_meaning_are_checked() {
    refused("body,flags,ticks\n1,q,3\n", "line 2: flag `q` is unknown");
    refused("body,round,ticks\n1,-1,3\n", "line 2: round `-1`");
    refused("body,round,ticks\n1,1.5,3\n", "line 2: round `1.5`");
    refused("# rate_hz: 0\nbody,ticks\n1,2\n", "line 1: rate_hz is 0, but it must be above 0");
    refused("# rate_hz: fast\nbody,ticks\n1,2\n", "line 1: rate_hz is `fast`");
    refused("# granularity: -1\nbody,ticks\n1,2\n", "line 1: granularity is -1");
    refused("# reference: chain\nbody,ticks\n1,2\n", "line 1: ");
}

#[test]
fn too_few_rows() {
    for rows in ["1,108\n", "1,108\n1,108\n1,109\n"] {
        let ended = fit(format!("body,ticks\n{rows}")).start().ends_with_any(&[0, 1]);
        // One row gives at most the sum of body and overhead, which must be reported.
        let honest = if ended.output.is_empty() {
            ended.error.contains("rows")
        } else {
            ended.output.contains("cannot separate")
        };
        assert!(honest, "{rows}: {ended}");
    }
    fit("body,init,ticks\n1,1,5\n2,1,8\n").start().ends_with_any(&[0, 1]);
}

#[test]
fn non_text_bytes_are_refused() {
    refused(b"body,ticks\n1,\xff\n", "line 2: is not UTF-8 text");
    refused(b"\xff\xfe\x00b", "line 1: is not UTF-8 text");
    refused(b"bo\x00dy\n\x00", "line 1: ");
    let garbage: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refused(garbage, "line 1: ");
}

#[test]
fn lines_that_are_too_long() {
    refused(format!("body,ticks\n1,108\n2,{}\n", "1".repeat(5_000_000)), "line 3: ");
    refused(format!("body,ticks\n1,108\n2,{}\n", "x".repeat(5_000_000)), "line 3: ");
}

#[test]
fn messages_show_odd_fields_in_a_harmless_way() {
    refused("body,ticks\n1,\u{1b}[31m\u{7}\n", "line 2: the reading is `");
    refused(format!("body,ticks\n1,{}\n", "x".repeat(5_000)), "x...`");
}

#[test]
fn numbers_at_the_end_of_their_range_are_survived() {
    for rows in [
        "1,1e308\n2,-1e308\n3,1e308\n4,5\n",
        "1e308,1\n2e307,2\n3,3\n4,4\n",
        "1,5e-324\n2,5e-324\n3,0\n4,0\n",
        "1,-1\n2,-2\n3,-3\n4,-4\n",
    ] {
        let ended =
            fit(format!("body,ticks\n{rows}")).with("--json").start().ends_with_any(&[0, 1]);
        if !ended.output.is_empty() {
            crate::document::Document::result(&ended.output);
        }
    }
}

#[test]
fn stages_that_do_not_exist_or_are_needed_cannot_be_left_out() {
    for (name, shown) in [
        ("nosuch", "'nosuch'"),
        ("spikes,nosuch", "'nosuch'"),
        ("line", "'line'"),
        ("express", "'express'"),
        ("Spikes", "'Spikes'"),
    ] {
        let ended = fit("body,ticks\n1,108\n2,208\n3,308\n").option("--without", name).ends_with(2);
        ended.complains(shown).complains("possible values: flags, quantum").complains("--help");
    }
    fit("body,ticks\n1,108\n2,208\n")
        .with("--without=")
        .ends_with(2)
        .complains("--without")
        .complains("spikes");
    fit("body,ticks\n1,108\n2,208\n").with("--without").ends_with(2);
}

#[test]
fn readings_go_to_a_file_that_can_be_written_and_lost() {
    let rows = "body,ticks\n1,108\n2,208\n3,308\n";
    fit(rows)
        .option("--readings", "nosuch/readings.csv")
        .fails("--readings nosuch/readings.csv: No such file")
        .in_one_line();
    fit(rows).option("--readings", ".").fails("--readings .: ").in_one_line();
    fit(rows).option("--readings", "").ends_with(2).complains("--readings");
    fit(rows)
        .option("--readings", "/dev/full")
        .fails("--readings: /dev/full: No space left")
        .in_one_line();
    fit(rows)
        .option("--readings", "-")
        .ends_with(2)
        .complains("--readings -: the report goes to standard output")
        .in_one_line();
    let ended = fit(rows)
        .option("--readings", "observations.csv")
        .ends_with(2)
        .complains("it is the file that is solved");
    assert_eq!(ended.file("observations.csv"), rows);
}
