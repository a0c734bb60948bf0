//! FST dumps: the same edges as those of the VCD they were made from, and damaged ones.

use hairspring_capture::edge::Edge;
use hairspring_capture::read::{Format, Recording, Remark, Request, read_fst, read_vcd};
use hairspring_capture::{Input, Options, capture, read_edges};
use std::fmt::Write as _;
use std::io::Cursor;

const LZ4: &[u8] = include_bytes!("cases/fst/lz4.fst");
const FAST_LZ: &[u8] = include_bytes!("cases/fst/fastlz.fst");
const ZLIB: &[u8] = include_bytes!("cases/fst/zlib.fst");
const WHOLE: &[u8] = include_bytes!("cases/fst/whole.fst");
const ICARUS: &[u8] = include_bytes!("cases/fst/icarus.fst");
const OFF: &[u8] = include_bytes!("cases/fst/off.fst");
const GHDL: &[u8] = include_bytes!("cases/fst/ghdl.fst");
const VERILATOR: &[u8] = include_bytes!("cases/fst/verilator.fst");
const PORT: &[u8] = include_bytes!("cases/fst/port.fst");
const ALL_FILES: [&[u8]; 9] = [LZ4, FAST_LZ, ZLIB, WHOLE, ICARUS, OFF, GHDL, VERILATOR, PORT];

const HEAD: &str = "$version Icarus Verilog $end\n$timescale 10 ns $end\n$scope module top $end\n\
                    $var wire 1 ! pin $end\n$var wire 1 ! same $end\n$var wire 12 # port [11:0] \
                    $end\n$var wire 12 $ up [0:11] $end\n$var real 64 % volts $end\n$scope module \
                    sub $end\n$var reg 1 & pin $end\n$upscope $end\n$upscope $end\n\
                    $enddefinitions $end\n#5\n$dumpvars\n0!\nb0 #\nb101 $\nr0.5 %\nx&\n$end\n";

/// The dump that `vcd2fst` converted.
fn dump() -> String {
    let (mut text, mut time) = (HEAD.to_owned(), 5);
    for n in 0..480 {
        time += 3 + n * n % 5;
        writeln!(text, "#{time}").unwrap();
        if n % 3 != 2 {
            writeln!(text, "{}!", (n / 3 + n) % 2).unwrap();
        }
        let port = if n % 7 == 6 { "z10".to_owned() } else { format!("{n:b}") };
        writeln!(text, "b{port} #").unwrap();
        if n % 5 == 0 {
            writeln!(text, "b{:b} $\nr{n} %", n / 5).unwrap();
        }
        if n % 11 == 0 {
            writeln!(text, "{}&", ["0", "1", "x", "z"][n / 11 % 4]).unwrap();
        }
    }
    text
}

type Read = Result<(Vec<Edge>, Recording), String>;

fn request(channel: &str) -> Request {
    Request { channel: Some(channel.to_owned()), ..Request::default() }
}

fn fst(file: &[u8], channel: &str) -> Read {
    let mut edges = Vec::new();
    let recording = read_fst(Cursor::new(file), &request(channel), &mut |edge| edges.push(edge));
    recording.map(|recording| (edges, recording)).map_err(|error| error.to_string())
}

fn vcd(text: &str, channel: &str) -> Read {
    let mut edges = Vec::new();
    let recording = read_vcd(text.as_bytes(), &request(channel), &mut |edge| edges.push(edge));
    recording.map(|recording| (edges, recording)).map_err(|error| error.to_string())
}

fn times(read: Read) -> Vec<f64> {
    read.unwrap().0.iter().map(|edge| edge.at).collect()
}

/// Both say the same about a channel, which has so many edges or more.
fn agree(file: &[u8], text: &str, channel: &str, least_edges: usize) {
    let (of_fst, of_vcd) = (fst(file, channel).unwrap(), vcd(text, channel).unwrap());
    assert_eq!(of_fst.0, of_vcd.0, "{channel}");
    assert!(of_fst.0.len() >= least_edges, "{channel}: {} edges", of_fst.0.len());
    assert_eq!(of_fst.1.format, Some(Format::Fst));
    assert_eq!(of_fst.1.channel, of_vcd.1.channel);
    assert_eq!(of_fst.1.remarks, of_vcd.1.remarks, "{channel}");
    assert_eq!((of_fst.1.exact, of_fst.1.unnamed), (of_vcd.1.exact, of_vcd.1.unnamed));
    assert_eq!(of_fst.1.granularity, of_vcd.1.granularity);
    let hz = |read: &(Vec<Edge>, Recording)| read.1.hz.unwrap();
    assert!((hz(&of_fst) / hz(&of_vcd) - 1.0).abs() < 1e-12);
}

#[test]
fn all_compressions_have_the_edges_of_the_vcd() {
    let text = dump();
    for file in [LZ4, FAST_LZ, ZLIB, WHOLE] {
        for (channel, least_edges) in [
            ("top.pin", 100),
            ("same", 100),
            ("port[0]", 100),
            ("port[3]", 20),
            ("top.port[8]", 1),
            ("up[11]", 50),
            ("up[5]", 1),
            ("sub.pin", 10),
            ("2", 100),
        ] {
            agree(file, &text, channel, least_edges);
        }
    }
}

#[test]
fn blocks_of_icarus_follow_each_other() {
    let text = include_str!("cases/fst/icarus.vcd");
    for (channel, least) in [("top.pin", 60), ("port[2]", 20), ("top.up[1]", 20)] {
        agree(ICARUS, text, channel, least);
    }
}

#[test]
fn pipes_and_files_are_read_without_a_name_of_the_format() {
    let expected = times(vcd(&dump(), "top.pin"));
    for file in [LZ4, WHOLE] {
        for input in [Input::Pipe(Box::new(file)), Input::File(Box::new(Cursor::new(file)))] {
            let mut found_edges = Vec::new();
            let read =
                read_edges(input, None, &request("top.pin"), &mut |edge| found_edges.push(edge.at));
            assert_eq!((read.unwrap().format, found_edges), (Some(Format::Fst), expected.clone()));
        }
    }
}

#[test]
fn channels_are_those_of_the_vcd() {
    for wanted in ["missing", "port", "port[12]", "pin"] {
        assert_eq!(fst(LZ4, wanted).unwrap_err(), vcd(&dump(), wanted).unwrap_err());
    }
}

#[test]
fn no_edge_lies_within_a_blackout() {
    let (edges, recording) = fst(OFF, "tb.d.port[2]").unwrap();
    let at: Vec<f64> = edges.iter().map(|edge| edge.at).collect();
    assert_eq!(at, [1800.0, 5200.0, 34800.0, 46200.0, 59200.0, 73800.0, 90000.0]);
    assert!(matches!(recording.remarks[..], [Remark::Undefined { first: 8800.0, .. }]));
    // Icarus Verilog writes the changes at the time of $dumpoff behind it.
    let text = include_str!("cases/fst/off.vcd");
    assert_eq!(times(vcd(text, "tb.d.port[2]")), at);
    assert_eq!(times(vcd(text, "tb.pin")), times(fst(OFF, "tb.pin")));
}

#[test]
fn ports_have_states_and_strengths() {
    let text = include_str!("cases/fst/port.vcd");
    for (channel, least) in [("clk", 2), ("bus[3]", 2), ("top.bus[1]", 2), ("bus[2]", 2)] {
        agree(PORT, text, channel, least);
    }
}

#[test]
fn ghdl_writes_levels_of_vhdl_and_integers_that_are_none() {
    let (edges, recording) = fst(GHDL, "pin").unwrap();
    assert_eq!((edges.len(), edges[0].at, recording.exact), (39, 3e6, true));
    assert_eq!(recording.remarks, [Remark::Undefined { times: 1, first: 350e6 }]);
    let message = fst(GHDL, "n").unwrap_err();
    assert!(message.contains("no channel `n`; the file has 3 channels: pin, b, bb"), "{message}");
}

#[test]
fn verilator_names_no_simulator() {
    let (edges, recording) = fst(VERILATOR, "TOP.dut.pin").unwrap();
    let expected: Vec<f64> = (0..30).map(|n| f64::from(14 * n + 7)).collect();
    assert_eq!(edges.iter().map(|edge| edge.at).collect::<Vec<_>>(), expected);
    assert_eq!((recording.exact, recording.unnamed), (false, true));
    assert_eq!(times(fst(VERILATOR, "wide[0]")), times(fst(VERILATOR, "TOP.dut.wide[0]")));
    let rate = |exact_clock| {
        let options = Options {
            exact_clock,
            request: request("TOP.clk"),
            ks: Some(vec![1.0]),
            ..Options::default()
        };
        let captured = capture(Input::Pipe(Box::new(VERILATOR)), &options).unwrap();
        captured.table.origin.rate.map(|rate| (rate.uncertainty_ppm, rate.provenance)).unwrap()
    };
    assert!(rate(false).0 > 50.0 && rate(false).1.contains("no simulator is named"));
    assert_eq!(rate(true).0, 0.0);
}

/// The blocks of a dump: their kinds, and what is behind their lengths.
fn blocks(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut rest = file;
    while let [kind, behind @ ..] = rest {
        let length = u64::from_be_bytes(behind[..8].try_into().unwrap()) as usize;
        blocks.push((*kind, behind[8..length].to_vec()));
        rest = &behind[length..];
    }
    blocks
}

fn file(blocks: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let block = |(kind, bytes): &(u8, Vec<u8>)| {
        [&[*kind][..], &(bytes.len() as u64 + 8).to_be_bytes(), bytes].concat()
    };
    blocks.iter().flat_map(block).collect()
}

#[test]
fn names_may_be_compressed_twice() {
    let mut all_blocks = blocks(LZ4);
    let (kind, names) = all_blocks.last_mut().unwrap();
    assert_eq!(*kind, 6);
    let (unpacked, once) = names.split_at(8);
    let twice = lz4_flex::block::compress(once);
    assert!(once.len() < 128);
    *names = [unpacked, &[once.len() as u8], &twice].concat();
    *kind = 7;
    assert_eq!(times(fst(&file(&all_blocks), "top.pin")), times(fst(LZ4, "top.pin")));
}

#[test]
fn older_kinds_of_blocks_are_read() {
    // Without aliases, whose encodings differ, both kinds of index are the same bytes.
    let mut all_blocks = blocks(LZ4);
    for older in [1, 5] {
        all_blocks[1].0 = older;
        for channel in ["top.pin", "up[11]", "sub.pin"] {
            assert_eq!(times(fst(&file(&all_blocks), channel)), times(fst(LZ4, channel)));
        }
    }
}

#[test]
fn dumps_that_were_not_closed_are_refused_with_a_way_out() {
    let mut all_blocks = blocks(LZ4);
    all_blocks.truncate(2);
    let cut = fst(&file(&all_blocks), "top.pin").unwrap_err();
    assert!(cut.contains("the dump was cut"), "{cut}");
    all_blocks[0].1[16..64].fill(0);
    all_blocks[0].1[16..24].copy_from_slice(&std::f64::consts::E.to_le_bytes());
    let open = [file(&all_blocks), [255, 0, 0, 0, 0, 0, 0, 0, 0].to_vec()].concat();
    for open in [&open[..], &open[..open.len() - 3], &open[..400]] {
        let message = fst(open, "top.pin").unwrap_err();
        assert!(message.contains("not closed") && message.contains("fst2vcd"), "{message}");
    }
}

/// Reads a channel of a damaged file; neither panics nor takes long, whatever it finds.
fn survives(file: &[u8], channel: &str) -> bool {
    fst(file, channel).is_ok()
}

#[test]
fn truncated_files_are_refused() {
    for file in ALL_FILES {
        for length in 0..file.len() {
            assert!(!survives(&file[..length], "1"), "{length} bytes");
        }
    }
}

#[test]
fn damaged_bytes_are_survived() {
    for file in ALL_FILES {
        let mut read = 0;
        for at in 0..file.len() {
            for (from, value) in [(at, 0xff), (at, 0), (at.saturating_sub(7), 0xff)] {
                let mut damaged = file.to_vec();
                damaged[from..=at].fill(value);
                read += usize::from(survives(&damaged, "1"));
                read += usize::from(survives(&damaged, "port[2]"));
            }
        }
        assert!(read > 0);
    }
}
