//! Value change dumps: valid ones, and errors with their place.

use hairspring_capture::edge::Edge;
use hairspring_capture::read::{Recording, Remark, Request, read_vcd};
use hairspring_capture::{Captured, Input, Options, capture};

const HEAD: &str = "$timescale 10 ns $end\n$scope module top $end\n$var wire 1 ! PB7 $end\n\
                    $upscope $end\n$enddefinitions $end\n";

fn read(text: &str, channel: Option<&str>) -> Result<(Vec<Edge>, Recording), String> {
    let mut edges = Vec::new();
    let request = Request { channel: channel.map(str::to_owned), ..Request::default() };
    let recording = read_vcd(text.as_bytes(), &request, &mut |edge| edges.push(edge))
        .map_err(|error| error.to_string())?;
    Ok((edges, recording))
}

fn body(changes: &str) -> Result<(Vec<Edge>, Recording), String> {
    read(&format!("{HEAD}{changes}"), None)
}

fn times(edges: &[Edge]) -> Vec<f64> {
    edges.iter().map(|edge| edge.at).collect()
}

#[test]
fn undefined_and_repeated_levels_are_not_edges() {
    let (edges, recording) =
        body("$dumpvars\nx!\n$end\n#3\n0!\n#10\n1!\n#12\n1!\n#20\n0!\n#30\nz!\n#40\n1!\n").unwrap();
    assert_eq!(times(&edges), [10.0, 20.0]);
    assert_eq!((recording.hz, recording.edges), (Some(1e8), 2));
    assert_eq!(recording.remarks, [Remark::Undefined { times: 1, first: 30.0 }]);
}

#[test]
fn values_of_ghdl_are_levels_or_undefined() {
    let (edges, recording) =
        body("#0\nU!\n#3\n0!\n#10\n1!\n#20\nL!\n#30\nH!\n#40\n-!\n#50\n0!\n#60\nw!\n").unwrap();
    assert_eq!(times(&edges), [10.0, 20.0, 30.0]);
    assert_eq!(recording.remarks, [Remark::Undefined { times: 2, first: 40.0 }]);
}

#[test]
fn channels_are_found_by_name_number_and_bit() {
    let text = "$timescale 1us $end $scope module a $end $var wire 1 ! p $end $var wire 8 # bus \
                [7:0] $end $var reg 1 % q $end $upscope $end $enddefinitions $end #0 0! b0 # 1% \
                #5 1! b10000000 # #6 0% b101 #\n";
    let edge_times = |channel| read(text, Some(channel)).map(|(edges, _)| times(&edges));
    assert_eq!(edge_times("p"), Ok(vec![5.0]));
    assert_eq!(edge_times("a.q"), Ok(vec![6.0]));
    assert_eq!(edge_times("2"), Ok(vec![6.0]));
    assert_eq!(edge_times("bus[7]"), Ok(vec![5.0, 6.0]));
    assert_eq!(edge_times("bus[2]"), Ok(vec![6.0]));
    let message = read(text, None).unwrap_err();
    assert!(message.contains("2 channels: a.p, a.q") && message.contains("--channel"), "{message}");
    assert!(
        edge_times("bus")
            .unwrap_err()
            .ends_with("; a channel is one bit of a vector: `a.bus[0]` to `[7]`")
    );
    assert!(
        edge_times("bus[8]")
            .unwrap_err()
            .ends_with("; a channel is one bit of a vector: `a.bus[0]` to `[7]`")
    );
    assert!(
        edge_times("r")
            .unwrap_err()
            .ends_with("2 channels: a.p, a.q; and bits of vectors: `a.bus[0]` to `[7]`")
    );
    for wrong in ["r", "3", "0", "bus[8]", "bus"] {
        assert!(edge_times(wrong).unwrap_err().contains("there is no channel"), "{wrong}");
    }
}

#[test]
fn errors_give_the_byte() {
    let at = |extra: usize| format!("byte {}: ", HEAD.len() + extra);
    assert_eq!(body("#10\n1!\n#9\n").unwrap_err(), at(7) + "the time goes backwards, from 10 to 9");
    assert!(body("#x\n").unwrap_err().starts_with(&(at(0) + "`#x` is not a time")));
    assert!(body("#99999999999999999\n").unwrap_err().contains("beyond 2^53"));
    assert!(body("#1\n?!\n").unwrap_err().starts_with(&(at(3) + "`?!` is not a value change")));
    assert!(read("", None).unwrap_err().contains("empty"));
    assert!(read("hello there", None).unwrap_err().contains("byte 0: `hello` where a declaration"));
    assert!(
        read("$timescale 1 ns $end\n$var wire 1 ! a $end\n", None)
            .unwrap_err()
            .contains("within its header")
    );
    assert!(
        read("$timescale 0 ns $end", None).unwrap_err().contains("timescale is `0ns`, expected a")
    );
    assert!(read("$timescale 1 ls $end", None).unwrap_err().contains("timescale is `1ls`"));
    assert!(read("$var wire ? ! a $end", None).unwrap_err().contains("width of `a` is `?`"));
    assert!(read("$var wire $end", None).unwrap_err().contains("$var needs"));
    assert!(read("$enddefinitions $end", None).unwrap_err().contains("no channel"));
    assert!(read(&"x".repeat(3 << 20), None).unwrap_err().contains("a word of more than"));
}

#[test]
fn a_truncated_file_is_used_with_a_remark() {
    for (end, edges) in [("#30\n1!\n#40\n0", 2), ("#30\n1!\n#4", 2), ("#30\n1", 1)] {
        let (found_body, recording) = body(&format!("#0\n0!\n#10\n1!\n#20\n0!\n{end}")).unwrap();
        assert_eq!(found_body.len(), edges + 1, "{end}");
        assert!(
            matches!(recording.remarks[..], [Remark::Truncated { .. }]),
            "{:?}",
            recording.remarks
        );
    }
}

/// A reader that returns few bytes at a time.
struct Slowly<'a>(&'a [u8], usize);

impl std::io::Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(self.0.len()).min(buffer.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

#[test]
fn block_sizes_make_no_difference() {
    let changes: String =
        (0..500).map(|n| format!("#{}\n{}!\n$comment #1 1! $end b1 !\n", 7 * n, n % 2)).collect();
    let text = format!("{HEAD}{changes}");
    let (whole, _) = read(&text, None).unwrap();
    for size in [1, 2, 3, 7, 1000] {
        let mut edges = Vec::new();
        read_vcd(Slowly(text.as_bytes(), size), &Request::default(), &mut |edge| edges.push(edge))
            .unwrap();
        assert_eq!(edges, whole, "{size}");
    }
}

#[test]
fn a_last_word_that_is_whole_needs_no_line_end() {
    let ends = "#0\n0!\n#10\n1!";
    let (edges, recording) = body(ends).unwrap();
    assert_eq!((times(&edges), recording.remarks), (vec![10.0], vec![]));
    // The channel of another identifier is of no interest here.
    let two =
        HEAD.replace("$upscope", "$var wire 1 !! longer $end\n$var wire 1 # other $end\n$upscope");
    let (edges, recording) = read(&format!("{two}{ends}"), Some("PB7")).unwrap();
    assert_eq!(edges.len(), 0);
    assert!(matches!(recording.remarks[..], [Remark::Truncated { .. }]));
    let (edges, recording) = read(&format!("{two}{ends}\n#20\n0#"), Some("PB7")).unwrap();
    assert_eq!((times(&edges), recording.remarks), (vec![10.0], vec![]));
}

#[test]
fn bits_of_vectors_have_the_numbers_of_their_declaration() {
    let text = |range: &str| {
        format!(
            "$timescale 1us $end $var wire 8 # bus {range} $end $enddefinitions $end #0 b0 # #5 \
             b10000000 # #6 b1 # #7 b0 #\n"
        )
    };
    let edges =
        |range: &str, channel| read(&text(range), Some(channel)).map(|(edges, _)| times(&edges));
    for (range, left_name, right_name) in [
        ("[7:0]", "bus[7]", "bus[0]"),
        ("[0:7]", "bus[0]", "bus[7]"),
        ("[8:15]", "bus[8]", "bus[15]"),
    ] {
        assert_eq!(edges(range, left_name), Ok(vec![5.0, 6.0]), "{range}");
        assert_eq!(edges(range, right_name), Ok(vec![6.0, 7.0]), "{range}");
    }
    assert!(edges("[8:15]", "bus[7]").unwrap_err().ends_with("`bus[8]` to `[15]`"));
}

#[test]
fn a_blank_may_stand_before_an_identifier() {
    for id in ["$", "!"] {
        let head = HEAD.replace("1 !", &format!("1 {id}"));
        let (edges, _) =
            read(&format!("{head}#0\n0 {id}\n#10\n1 {id}\n#20\n0{id}\n"), None).unwrap();
        assert_eq!(times(&edges), [10.0, 20.0], "{id}");
    }
}

#[test]
fn a_name_that_fits_several_channels_is_refused() {
    let text = |second: &str| {
        format!(
            "$timescale 1us $end $scope module a $end $var wire 1 ! tx $end $upscope $end $scope \
             module b $end $var wire 1 {second} tx $end $upscope $end $enddefinitions $end #0 0! \
             #5 1!\n"
        )
    };
    let message = read(&text("%"), Some("tx")).unwrap_err();
    assert!(message.contains("several channels, such as a.tx and b.tx"), "{message}");
    assert!(read(&text("%"), Some("b.tx")).is_ok());
    // Two names of one signal.
    assert_eq!(times(&read(&text("!"), Some("tx")).unwrap().0), [5.0]);
}

#[test]
fn timescales_marks_and_times_of_other_writers_are_read() {
    for (scale, hz) in
        [("41666667 fs", 1e15 / 41_666_667.0), ("244 ns", 1e9 / 244.0), ("0.001 ps", 1e15)]
    {
        let (_, recording) = read(&HEAD.replace("10 ns", scale), None).unwrap();
        assert!((recording.hz.unwrap() / hz - 1.0).abs() < 1e-12, "{scale}");
    }
    let (edges, _) = read(&format!("\u{feff}{HEAD}#0\n0!\n#3.0\n1!\n"), None).unwrap();
    assert_eq!(times(&edges), [3.0]);
    assert!(body("#3.5\n").unwrap_err().contains("`#3.5` is not a time"));
    let string = HEAD.replace("$upscope", "$var string 0 % state $end\n$upscope");
    let (edges, _) = read(&format!("{string}#0\n0!\nsIDLE %\n#9\n1!\n"), Some("PB7")).unwrap();
    assert_eq!(times(&edges), [9.0]);
}

/// A recorder that rounds the times of its samples to stamps.
#[test]
fn a_comment_with_a_rate_is_the_resolution() {
    let with = |comment: &str| {
        let head = HEAD.replace("$scope", &format!("$comment {comment} $end\n$scope"));
        read(&head, None).unwrap().1.granularity.unwrap()
    };
    assert!((with("Acquisition with 1/1 channels at 3 MHz") - 100.0 / 3.0).abs() < 1e-9);
    assert_eq!(with("Acquisition with 1/1 channels at 1 GHz"), 1.0);
    for other in ["at 3 MHz", "Acquisition at noon", "Acquisition with 1/1 channels at -3 MHz"] {
        assert_eq!(with(other), 1.0, "{other}");
    }
}

/// Numbers from 0 to below `most_value`, in no order.
struct Mixed(u64);

impl Mixed {
    fn below(&mut self, most_value: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most_value
    }
}

/// A dump with identifiers of 1 to 9 characters, and all that may stand between two changes.
fn odd_dump(seed: u64) -> String {
    let mut random = Mixed(seed);
    let ids = ["!", "!!", "a", "abcdef", "abcdefg", "abcdefgh", "b", "$", "#"];
    let variable = |(n, id): (usize, &&str)| {
        let width = if n == 2 { 4 } else { 1 };
        format!("$var wire {width} {id} s{n} $end\n")
    };
    let mut text: String = ids.iter().enumerate().map(variable).collect();
    text += "$timescale 1 ns $end $enddefinitions $end\n";
    let mut time = 0;
    for _ in 0..300 {
        let digits = 1 + random.below(11) as u32;
        time += random.below(10u64.pow(digits));
        let id = ids[random.below(9) as usize];
        let value = ["0", "1", "x", "Z", "h", "L"][random.below(6) as usize];
        text += &match random.below(12) {
            0 => format!("$comment #{time} 1! $end"),
            1 => format!("#{time}.0"),
            2 => format!("b{value}01 {id}"),
            3 => format!("r-1.5e3  {id}"),
            4 => format!("sIDLE\t{id}"),
            5 => format!("b{}{value} {id}", "01".repeat(random.below(40) as usize)),
            6 => format!("{value} {id}"),
            7 => format!("p{value} 6 0 {id}"),
            _ => format!("#{time}\n{value}{id}"),
        };
        text += ["\n", " ", "\r\n", "\t\n", "\n\n"][random.below(5) as usize];
    }
    text
}

#[test]
fn words_one_by_one_mean_the_same_as_eight_bytes_at_a_time() {
    for seed in 0..40 {
        let text = odd_dump(seed);
        for channel in ["s0", "s1", "s2[1]", "s3", "s4", "s5", "s7", "s8"] {
            let request = Request { channel: Some(channel.to_owned()), ..Request::default() };
            let mut slow = Vec::new();
            let slowly =
                read_vcd(Slowly(text.as_bytes(), 1), &request, &mut |edge| slow.push(edge));
            let (fast, recording) = read(&text, Some(channel)).unwrap();
            assert_eq!((&fast, &recording), (&slow, &slowly.unwrap()), "{seed} {channel}");
        }
    }
}

#[test]
fn a_damaged_word_has_the_same_place_wherever_it_stands() {
    for (damaged, reason) in [
        ("#9", "the time goes backwards"),
        ("?!", "is not a value change"),
        ("#1x", "is not a time"),
        ("1!\u{1}", "is not text"),
    ] {
        let changes = "\n1!\n#3000\n0!\n#4000\n";
        for behind in ["", changes, &(changes.to_owned() + &"1!\n".repeat(40))] {
            let before = "#1000\n1!\n#2000\n0!\n";
            let message = body(&format!("{before}{damaged}\n{behind}")).unwrap_err();
            let inside = if reason == "is not text" { 2 } else { 0 };
            let place = format!("byte {}: ", HEAD.len() + before.len() + inside);
            assert!(message.starts_with(&place) && message.contains(reason), "{message}");
        }
    }
}

#[test]
fn ports_of_extended_dumps_are_levels() {
    let text = "$comment extended $end $timescale 1 ns $end $scope module top $end $var port 1 <0 \
                clk $end $var port [3:0] <1 bus $end $upscope $end $enddefinitions $end\n#0\n\
                $dumpports\npD 6 0 <0\npDDLL 6666 0000 <1\n$end\n#5\npU 0 6 <0\n#9\npL 6 0 <0\n\
                #12\npHDLU 6666 6666 <1\n#15\npX 6 6 <0\n#20\npH 0 6 <0\n#30\npl 6 0 <0\n\
                $vcdclose #40 $end\n";
    let (edges, recording) = read(text, Some("clk")).unwrap();
    assert_eq!(times(&edges), [5.0, 9.0, 30.0]);
    assert_eq!(recording.remarks, [Remark::Undefined { times: 1, first: 15.0 }]);
    let bit = |channel| read(text, Some(channel)).map(|(edges, _)| times(&edges));
    assert_eq!(
        (bit("bus[0]"), bit("bus[1]"), bit("bus[3]")),
        (Ok(vec![12.0]), Ok(vec![]), Ok(vec![12.0]))
    );
}

/// A capture of 4 pulses around 1 to 4 copies of 100 units, by a writer.
fn captured(version: &str, options: Options) -> Result<Captured, String> {
    let mut text = format!("$version {version} $end\n{HEAD}#0\n0!\n");
    let mut at = 1000;
    for copies in (0..5).flat_map(|_| 1..=4) {
        text += &format!("#{at}\n1!\n#{}\n0!\n", at + 100 * copies + 7);
        at += 100 * copies + 507;
    }
    let options = Options { ks: Some(vec![1.0, 2.0, 3.0, 4.0]), ..options };
    capture(Input::File(Box::new(std::io::Cursor::new(text.into_bytes()))), &options)
        .map_err(|error| error.to_string())
}

#[test]
fn the_clock_of_an_unnamed_writer_is_doubted_unless_it_is_known() {
    let doubted = |version: &str, options| {
        let captured = captured(version, options).unwrap();
        let ppm = captured.table.origin.rate.as_ref().unwrap().uncertainty_ppm;
        (captured.findings.iter().any(|finding| finding.is("writer_unknown")), ppm > 0.0)
    };
    assert_eq!(doubted("", Options::default()), (true, true));
    assert_eq!(doubted("GTKWave Analyzer v3.3.118", Options::default()), (true, true));
    assert_eq!(doubted("libsigrok 0.5.2", Options::default()), (false, true));
    assert_eq!(doubted("Generated by VerilatedVcd", Options::default()), (false, false));
    assert_eq!(doubted("", Options { exact_clock: true, ..Options::default() }), (false, false));
    assert_eq!(doubted("", Options { rate_ppm: Some(5.0), ..Options::default() }), (false, true));
    // An exact clock has no samples, even where all times are multiples of one.
    let exact = captured("", Options { exact_clock: true, ..Options::default() }).unwrap();
    assert_eq!(exact.table.origin.granularity, Some(1.0));
}

#[test]
fn dumps_of_other_formats_are_named_with_a_way_out() {
    let refused = |bytes: &[u8]| {
        let input = Input::Pipe(Box::new(std::io::Cursor::new(bytes.to_vec())));
        capture(input, &Options::default()).unwrap_err().to_string()
    };
    assert!(
        refused(b"GHDLwave\n\x10\0\0\x01")
            .contains("GHW dump, which is not read: convert it to VCD by")
    );
}

#[test]
fn bits_of_fixed_point_numbers_have_numbers_below_0() {
    for (range, low, high) in [("[3:-4]", "-4", "3"), ("[-4:3]", "3", "-4")] {
        let text = format!(
            "$timescale 1 ns $end\n$var wire 8 ! p {range} $end\n$enddefinitions $end\n\
             #0\nb0 !\n#5\nb1 !\n#9\nb0 !\n"
        );
        let edges = |bit: &str| read(&text, Some(&format!("p[{bit}]"))).unwrap().0.len();
        assert_eq!((edges(low), edges(high), edges("0")), (2, 0, 0), "{range}");
        assert!(read(&text, Some("p[4]")).is_err());
    }
}

#[test]
fn two_timescales_are_refused() {
    let text = |second: &str| {
        format!(
            "$timescale 1 ns $end\n$timescale {second} $end\n$var wire 1 ! p $end\n\
             $enddefinitions $end\n#0\n0!\n#5\n1!\n"
        )
    };
    assert!(read(&text("1 ns"), None).is_ok());
    assert!(read(&text("1 us"), None).unwrap_err().contains("two timescales"));
}
