//! Rows of repeated copies are the same machine code as rows of compiled copies.

use super::*;
use crate::declaration::Declaration;
use hairspring_core::design::table::{Order, RUNS_OF_A_BLOCK};
use hairspring_host::process::Folder;
use iced_x86::{Decoder, DecoderOptions, FlowControl, OpKind};
use object::{Object, ObjectSection, ObjectSymbol};

/// A piece of code for the comparison.
struct Case {
    code: &'static str,
    lets: &'static [&'static str],
    language: Language,
    includes: &'static [&'static str],
    file: &'static str,
}

const C: Case = Case { code: "", lets: &[], language: Language::C, includes: &[], file: "" };
const WORDS: &[&str] = &["uint64_t x = 3", "uint64_t c = 5"];

fn request(case: &Case, compiler: &str, folder: &Path) -> Request {
    let mut files = Vec::new();
    if !case.file.is_empty() {
        files.push(folder.join("own.c"));
        std::fs::write(&files[0], case.file).unwrap();
    }
    Request {
        codes: vec![case.code.into()],
        lets: case.lets.iter().map(|text| Declaration::parse(text).unwrap()).collect(),
        language: case.language,
        includes: case.includes.iter().map(|name| (*name).to_owned()).collect(),
        compiler: Some(compiler.into()),
        files,
        ..Request::default()
    }
}

/// Straight rows and blocks, from the shortest that is made of the samples on.
fn rows() -> Vec<RowSpec> {
    let row = |bodies, runs| RowSpec {
        subject: 0,
        order: Order::AtEnd,
        bodies,
        inits: bodies,
        flushes: bodies,
        runs,
    };
    [1, 2, 15, 127, 1_020]
        .map(|copies| row(copies, 1))
        .into_iter()
        .chain([16, 33, 48].map(|copies| row(copies, RUNS_OF_A_BLOCK)))
        .collect()
}

/// The instructions of the function with a row's copies, in which what lies elsewhere has no
/// address.
fn instructions(path: &Path, row: usize) -> Vec<String> {
    let data = std::fs::read(path).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let symbol = file
        .symbols()
        .filter(|symbol| symbol.name().ok().and_then(row_of) == Some(row))
        .max_by_key(ObjectSymbol::size)
        .unwrap();
    let (start, end) = (symbol.address(), symbol.address() + symbol.size());
    let code = file
        .section_by_index(symbol.section_index().unwrap())
        .unwrap()
        .data_range(start, end - start)
        .unwrap()
        .unwrap();
    let place = |address: u64| {
        if (start..end).contains(&address) {
            format!("+{}", address - start)
        } else {
            "elsewhere".to_owned()
        }
    };
    let text_of = |instruction: iced_x86::Instruction| {
        if instruction.op_kinds().any(|kind| kind == OpKind::NearBranch64)
            && instruction.flow_control() != FlowControl::Next
        {
            return format!("{:?} {}", instruction.code(), place(instruction.near_branch_target()));
        }
        let is_relative = instruction.is_ip_rel_memory_operand();
        let mut plain = instruction;
        if is_relative {
            plain.set_memory_displacement64(0);
        }
        format!(
            "{:?} {plain} {}",
            instruction.code(),
            if is_relative { place(instruction.ip_rel_memory_address()) } else { String::new() }
        )
    };
    Decoder::with_ip(64, code, start, DecoderOptions::NONE).into_iter().map(text_of).collect()
}

/// The instructions of a row, and its bytes.
type Listed = (Vec<String>, u64);

/// Rows of the case by the compiler and by the assembler, as their instructions and sizes; `None`
/// if the copies are not repeated.
fn both(case: &Case, compiler: &str) -> Option<[Vec<Listed>; 2]> {
    let folder = Folder::new().unwrap();
    let request = request(case, compiler, folder.path());
    let compiler =
        find(&request).expect("gcc and clang are needed here: apt-get install gcc g++ clang");
    let job = Job {
        request: &request,
        compiler: &compiler,
        folder: folder.path(),
        repeated: None,
        cache: None,
    };
    let (_, repeated) =
        compile_pilot(&job, &crate::plan::pilot_rows(&request), &crate::repeat::samples(&request))
            .unwrap();
    let rows = rows();
    let text = repeated?.rows(&source::in_turn(&rows, 1, 0), ALIGNMENT)?;
    let by_compiler = Name { base: "compiled", first: 0 };
    let compiled = by_compiler.write(&job, &rows, &|_| Borders::Plain).unwrap();
    let by_assembler = Name { base: "repeated", first: 0 };
    let assembled = by_assembler.written(&job, "s", &text, ASSEMBLER).unwrap();
    Some([(by_compiler, compiled), (by_assembler, assembled)].map(|(name, source)| {
        let library = one_library(&job, &source, name, rows.len()).unwrap();
        (0..rows.len())
            .map(|row| (instructions(&library.paths[0], row), library.row_bytes[row]))
            .collect()
    }))
}

/// Instructions before and behind the copies, which save registers and set variables: their order
/// may be another one in longer rows.
const INSTRUCTIONS_AROUND: usize = 12;
/// Copies up to which rows are the same instruction by instruction.
const LONGEST_SAME: u32 = 127;

/// Whether rows are the same: the same instructions in as many bytes. Compilers give variables
/// other registers in some long rows.
fn is_same(one: &Listed, other: &Listed) -> bool {
    let plain = |row: &Listed| {
        let mut lines: Vec<String> = row.0.iter().map(|line| without_names(line)).collect();
        let around = INSTRUCTIONS_AROUND.min(lines.len());
        lines[..around].sort();
        let end = lines.len() - around;
        lines[end..].sort();
        lines
    };
    one.1 == other.1 && plain(one) == plain(other)
}

/// Whether long rows compute the same. gcc moves a value to another register, or loads a constant
/// or an address again, in a copy of a hundred.
fn computes_same(one: &Listed, other: &Listed) -> bool {
    let moves = |line: &str| {
        line.starts_with("Mov") || line.starts_with("Lea") && line.ends_with("elsewhere")
    };
    let plain = |row: &Listed| {
        row.0
            .iter()
            .filter(|line| !moves(line))
            .map(|line| without_places(line))
            .collect::<Vec<_>>()
    };
    plain(one) == plain(other) && one.0.len().abs_diff(other.0.len()) <= one.0.len() / 100
}

/// An instruction without the names of registers and the places of jumps in the row.
fn without_places(line: &str) -> String {
    without_names(line).split(" +").next().unwrap_or_default().to_owned()
}

/// An instruction without the names of registers.
fn without_names(line: &str) -> String {
    let is_register = |word: &str| crate::registers::register(word).is_some();
    line.split_inclusive(|c: char| !c.is_alphanumeric())
        .map(|word| {
            if is_register(word.trim_end_matches(|c: char| !c.is_alphanumeric())) {
                "R"
            } else {
                word
            }
        })
        .collect()
}

const OWN_FUNCTION: &str = "__attribute__((noinline)) static unsigned long own(unsigned long n) { \
                            return n * 7 + (n > 3 ? n : 5); }";
const VECTOR: &[&str] = &["algorithm", "vector"];
/// A function that gcc inlines as long as its caller is small.
const INLINED_FUNCTION: &str = "static unsigned long own(unsigned long n) { for (int i = 0; i < \
                                9; i++) n = n * 7 + (n >> 3); return (n ^ (n << 3)) + n / 3; }";

/// Code whose copies are the same from the second one on: a chain, independent copies, memory,
/// floating point, calls, branches, C++.
const SAME_COPIES: &[(Case, &[&str])] = &[
    (Case { code: "x = x * c", lets: WORDS, ..C }, &["gcc", "clang"]),
    (Case { code: "x ^= c", lets: WORDS, ..C }, &["gcc", "clang"]),
    (Case { code: "x + c", lets: WORDS, ..C }, &["gcc", "clang"]),
    (
        Case {
            code: "x = a[x & 63]",
            lets: &["uint64_t a[64] = {1, 2, 3}", "uint64_t x = 3"],
            ..C
        },
        &["gcc", "clang"],
    ),
    (Case { code: "y = y * 1.5 + 0.25", lets: &["double y = 2"], ..C }, &["gcc", "clang"]),
    (Case { code: "y = sin(y)", lets: &["double y = 2"], ..C }, &["gcc", "clang"]),
    (Case { code: "x = own(x)", lets: WORDS, file: OWN_FUNCTION, ..C }, &["gcc", "clang"]),
    (
        Case { code: "for (int i = 0; i < 16; i++) x += x >> i", lets: WORDS, ..C },
        &["gcc", "clang"],
    ),
    (Case { code: "free(malloc(x))", lets: WORDS, ..C }, &["gcc", "clang"]),
    (Case { code: "x = x * c", lets: WORDS, language: Language::Cpp, ..C }, &["g++", "clang++"]),
    (
        Case {
            code: "std::sort(v.begin(), v.end())",
            lets: &["std::vector<int> v(8)"],
            language: Language::Cpp,
            includes: VECTOR,
            ..C
        },
        &["clang++"],
    ),
    (
        Case {
            code: "x = v[x & 7] + 3",
            lets: &["std::vector<int> v(8)", "int x = 5"],
            language: Language::Cpp,
            includes: VECTOR,
            ..C
        },
        &["g++", "clang++"],
    ),
];

/// Where two rows differ.
fn first_difference(first_listed: &Listed, second_listed: &Listed) -> String {
    let at = first_listed.0.iter().zip(&second_listed.0).position(|(one, other)| one != other);
    let around =
        |row: &Listed| at.map(|at| row.0[at.saturating_sub(2)..(at + 3).min(row.0.len())].to_vec());
    format!(
        "{} and {} bytes, from instruction {at:?} on {:?} and {:?}",
        first_listed.1,
        second_listed.1,
        around(first_listed),
        around(second_listed)
    )
}

#[test]
fn copies_that_differ_are_compiled() {
    let cases = [
        Case { code: "{ static uint64_t n; x += n++; }", lets: WORDS, ..C },
        Case { code: "if (x > 100) x = x / 3; else x = x * c + 1", lets: WORDS, ..C },
        Case {
            code: "__asm__ volatile(\".pushsection .text; .popsection; nop\")",
            lets: WORDS,
            ..C
        },
        Case { code: "__asm__ volatile(\"mark%=: nop\" : : : \"memory\")", lets: WORDS, ..C },
        Case { code: "x = own(x)", lets: WORDS, file: INLINED_FUNCTION, ..C },
        Case {
            code: "std::sort(v.begin(), v.end())",
            lets: &["std::vector<int> v(8)"],
            language: Language::Cpp,
            includes: VECTOR,
            ..C
        },
    ];
    for case in &cases {
        let compiler = if case.language == Language::Cpp { "g++" } else { "gcc" };
        assert!(both(case, compiler).is_none(), "{}", case.code);
    }
}

mod long {
    use super::*;

    #[test]
    fn repeated_copies_are_the_machine_code_of_compiled_ones() {
        for (case, compilers) in SAME_COPIES {
            for compiler in *compilers {
                let [compiled, repeated] = both(case, compiler)
                    .unwrap_or_else(|| panic!("{compiler}: {} is not repeated", case.code));
                for (row, (compiled_row, repeated_row)) in
                    compiled.iter().zip(&repeated).enumerate()
                {
                    let same =
                        if rows()[row].bodies > LONGEST_SAME { computes_same } else { is_same };
                    assert!(
                        same(compiled_row, repeated_row),
                        "{compiler}: {}, row {row}: {}",
                        case.code,
                        first_difference(compiled_row, repeated_row)
                    );
                }
            }
        }
    }
}
