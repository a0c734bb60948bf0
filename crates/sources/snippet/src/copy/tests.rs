//! Modes of real code, by both compilers.

mod assembly;

use super::*;
use crate::compile::{Job, compile_pilot, find};
use crate::declaration::Declaration;
use crate::mode::Mode;
use crate::plan;
use hairspring_host::process::Folder;

const COMPILERS: [&str; 2] = ["gcc", "clang"];
const CPP_COMPILERS: [&str; 2] = ["g++", "clang++"];

fn lets(texts: &[&str]) -> Vec<Declaration> {
    texts.iter().map(|text| Declaration::parse(text).unwrap()).collect()
}

/// Alternatives of one request, compiled and looked at; at most as many as a request may hold are
/// compiled at once.
fn copies(request: &Request, codes: &[&str], compiler: &str) -> Vec<Copy> {
    let chunk = |codes: &[&str]| {
        let codes: Vec<String> = codes.iter().map(|code| (*code).to_owned()).collect();
        let request = Request { codes, compiler: Some(compiler.into()), ..request.clone() };
        let folder = Folder::new().unwrap();
        let rows = plan::pilot_rows(&request);
        let found_compiler =
            find(&request).expect("gcc and clang are needed here: apt-get install gcc g++ clang");
        let job = Job {
            request: &request,
            compiler: &found_compiler,
            folder: folder.path(),
            repeated: None,
            cache: None,
        };
        let (library, _) = compile_pilot(&job, &rows, &crate::repeat::samples(&request))
            .unwrap_or_else(|e| panic!("{compiler}: {e}"));
        look(&request, &library.paths[0], &rows)
    };
    codes.chunks(16).flat_map(chunk).collect()
}

/// Messages about wrong modes of some codes, for all compilers.
fn wrong(request: &Request, expected: Option<Mode>, codes: &[&str]) -> Vec<String> {
    let compilers = if request.language == Language::Cpp { CPP_COMPILERS } else { COMPILERS };
    let mut wrong = Vec::new();
    for compiler in compilers {
        for (code, copy) in codes.iter().zip(copies(request, codes, compiler)) {
            if copy.judged.mode != expected {
                wrong.push(format!(
                    "{compiler}: {code}: {:?}\n    {}",
                    copy.judged,
                    copy.disassembly.join("\n    ")
                ));
            }
        }
    }
    wrong
}

fn expect(request: &Request, expected: Option<Mode>, codes: &[&str]) {
    let wrong = wrong(request, expected, codes);
    assert!(wrong.is_empty(), "expected {expected:?}\n{}", wrong.join("\n"));
}

const LATENCY: Option<Mode> = Some(Mode::Latency);
const THROUGHPUT: Option<Mode> = Some(Mode::Throughput);

fn cpp() -> Request {
    let all_lets = [
        "uint64_t x = 3",
        "uint64_t c = 5",
        "double d = 2",
        "void *p = &p",
        "double y = 2",
        "std::vector<int> v",
    ];
    let includes = ["vector", "algorithm", "cctype", "cmath"].map(String::from).to_vec();
    Request { lets: lets(&all_lets), language: Language::Cpp, includes, ..Request::default() }
}

#[test]
fn assignments_that_use_their_own_result_are_chains() {
    let codes = [
        "x = x * c",
        "x *= c",
        "x++",
        "--x",
        "x = c; c = x + 1",
        "p = *(void **)p",
        "if (x > 3) x = x / 2; else x = 3 * x + 1;",
        "if (c) x = x * 2",
        "x = x > 3 ? x / 2 : 3 * x + 1",
        "d = sqrt(d)",
        "d = std::max(d, 2.0) + (double)(d)",
        "while (x < 100) x = x * c",
        "for (int i = 0; i < 3; i++) { x += i; }",
        "do { x = x * 3; } while (x < 50)",
        "c = (x = x + 1)",
        // The end of the vector.
        "v.push_back(1)",
        "#define TWICE(a) \\\n  ((a) * 2)\nx = TWICE(x) + 1",
        "switch (c) { case 1: x = x + 1; break; default: x = x * 3; }",
    ];
    expect(&cpp(), LATENCY, &codes);
}

#[test]
fn copies_that_use_nothing_of_the_one_before_are_independent() {
    let codes = [
        "x * c",
        "x = c * 2",
        "#define N 12\nx = c * N",
        "sqrt(d)",
        "sqrtf(d) + __builtin_popcount(x) + isalpha(x)",
        "x == c",
        "y = 3 /* x = x + 1 */",
        "y = x; x = 3",
        "x = sizeof(x)",
        "x, x = 3",
        "3 & x",
        "std::min(x, c) + std::abs(d) + std::max<int>(x, 3)",
        "static_cast<double>(x) * double(c) + v.size()",
        "uint64_t t = x + 1; c = t",
        "if (c) d = 1; else d = 2;",
        "x = strlen(\"x = x\")",
    ];
    expect(&cpp(), THROUGHPUT, &codes);
}

#[test]
fn functions_that_may_keep_state_are_unknown() {
    let codes = [
        "rand()",
        "x = rand()",
        "getenv(\"x\")",
        "x = (uint64_t)malloc(3)",
        "(*f)(3)",
        "std::cout << x",
    ];
    let functions = ["vector", "iostream"].map(String::from).to_vec();
    let request = Request {
        lets: lets(&["uint64_t x = 3", "std::vector<int> v", "int (*f)(int) = abs"]),
        includes: functions,
        ..cpp()
    };
    expect(&request, None, &codes);
    let reason = &copies(&request, &["rand()"], "g++")[0].judged.reason;
    assert_eq!(
        reason,
        "latency or throughput: not known, rand may keep state or modify the data passed to it"
    );
}

#[test]
fn chains_through_memory_are_seen_where_the_address_is_the_same() {
    let all_lets = [
        "uint64_t x = 3",
        "int a[4]",
        "struct p { int v; } s",
        "int *p = calloc(4, 4)",
        "char *t = \"text\"",
        "int q[4]",
        "int i = 1",
    ];
    let request = Request { lets: lets(&all_lets), ..Request::default() };
    expect(
        &request,
        LATENCY,
        &[
            "a[0] = a[0] * 3",
            "a[1]++",
            "++a[1]",
            "s.v = s.v + 1",
            "p->v += 2",
            "*p = *p + 1",
            "(x) = x + 1",
            "x = x + a[0]",
        ]
        .map(|code| if code == "p->v += 2" { "((struct p *)p)->v += 2" } else { code }),
    );
    expect(&request, None, &["*p = q[1] + 3; q[1] = p[2]", "a[i] = a[x] + 1"]);
    let codes = [
        "x & 3",
        "a[0] * 3",
        "strlen(t)",
        "int y = x; y += 2; x = y < a[0]; x = 3",
        "for (int i = 0; i < 3; i++) x = i",
        "x = a[1] && *p",
        "a[0] = q[1] * 3",
    ];
    expect(&request, THROUGHPUT, &codes);
    let reason = |code| copies(&request, &[code], "gcc")[0].judged.reason.clone();
    assert_eq!(
        [reason("a[1]++"), reason("*p = *p + 1"), reason("x = x + a[0]")],
        ["chained through a", "chained through the memory at p", "chained through x"]
    );
}

#[test]
fn a_variable_that_each_copy_computes_may_decide_a_branch() {
    let all_lets = ["uint32_t r = 1", "uint64_t x = 3", "volatile uint64_t y = 5"];
    let request = Request { lets: lets(&all_lets), ..Request::default() };
    let codes = [
        "r = r * 1103515245 + 12345; if (r & 0x10000) y++;",
        "if (x > 7) y++;",
        "for (int i = 0; i < 9; i++) x = x * 3 + y;",
        "x = x * 3",
        "r = r * 5 + 1; if (x > 7) y++;",
    ];
    for compiler in COMPILERS {
        let decides: Vec<Vec<String>> =
            copies(&request, &codes, compiler).into_iter().map(|copy| copy.decides).collect();
        assert_eq!(
            decides.iter().map(|names| names.join(" ")).collect::<Vec<_>>(),
            ["r", "", "", "", ""],
            "{compiler}"
        );
    }
    let again = Request { init: Some("r = 1".into()), ..request };
    assert_eq!(copies(&again, &codes[..1], "gcc")[0].decides, Vec::<String>::new());
}

#[test]
fn a_variable_that_takes_its_next_value_from_where_it_points_walks() {
    let all_lets = [
        "void **p = 0",
        "uint64_t x = 3",
        "uint64_t t[4]",
        "struct node { int v; struct node *next; } *n = 0",
    ];
    let request = Request { lets: lets(&all_lets), ..Request::default() };
    let codes = [
        "p = *p",
        "n = n->next",
        "x = t[x]",
        "p = p[1]; x++",
        "x = x * 3",
        "x = t[x & 3] + 1",
        "x += (uint64_t)*p",
        "*p = 0",
    ];
    for compiler in COMPILERS {
        let walked: Vec<Vec<String>> =
            copies(&request, &codes, compiler).into_iter().map(|copy| copy.walked).collect();
        assert_eq!(
            walked.iter().map(|names| names.join(" ")).collect::<Vec<_>>(),
            ["p", "n", "x", "p", "", "", "", ""],
            "{compiler}"
        );
    }
    let again = Request { init: Some("p = (void **)&p".into()), ..request };
    assert_eq!(copies(&again, &["p = *p"], "gcc")[0].walked, Vec::<String>::new());
}

#[test]
fn an_init_is_part_of_the_chain() {
    let request = |init: &str| Request { init: Some(init.into()), ..cpp() };
    for (init, code, mode) in [
        ("d = y", "y = d * d", LATENCY),
        ("d = 1.5", "d = d * d", THROUGHPUT),
        ("if (y) d = 1.5; else d = 2.5", "d = d * d", THROUGHPUT),
        ("for (int i = 0; i < 4; i++) d = i", "d = d * d", THROUGHPUT),
        ("rand()", "d = y * y", None),
        ("d = rand()", "y = d * d", None),
        ("d = rand() + y", "y = d * d", LATENCY),
        ("x = x + 1", "x = x * x", LATENCY),
        ("memcpy(&d, &y, 8)", "d = d * d", THROUGHPUT),
    ] {
        expect(&request(init), mode, &[code]);
    }
    assert_eq!(
        copies(&request("d = 1.5"), &["d = d * d"], "g++")[0].judged.reason,
        "--init sets d again for each copy: copies are independent"
    );
}

fn assembly() -> Request {
    Request { language: Language::Asm, ..Request::default() }
}

/// A row of several copies of some machine code.
fn bare(copy: &[u8], copies: usize) -> Copy {
    const START: u64 = 0x1000;
    let code: Vec<u8> = copy.repeat(copies).into_iter().chain([0xc3]).collect();
    let number = NoteId { row: 0, copy: 0, in_body: false, what: None }.number();
    let note = |at: usize| Note {
        address: START + (at * copy.len()) as u64,
        number,
        operand: String::new(),
    };
    let image = Image::of_code(START, &code, (0..=copies).map(note).collect());
    Row::new(&image, &Request { codes: vec!["nop".into()], ..assembly() }, 0).copy()
}

#[test]
fn machine_code_is_judged() {
    // imul %rcx, %rax
    assert_eq!(
        bare(&[0x48, 0x0f, 0xaf, 0xc1], 4).judged,
        Judged::known(Mode::Latency, "chained through rax")
    );
    // movq %xmm0, %rax; movq %rax, %xmm0
    assert_eq!(
        bare(&[0x66, 0x48, 0x0f, 0x7e, 0xc0, 0x66, 0x48, 0x0f, 0x6e, 0xc0], 4).judged.mode,
        LATENCY
    );
    // lea (%rcx,%rdx), %rax
    let copy = bare(&[0x48, 0x8d, 0x04, 0x11], 4);
    assert_eq!(
        copy.judged,
        Judged::known(Mode::Throughput, "no variable carries a value from one copy to the next")
    );
    assert_eq!((copy.disassembly.len(), copy.written), (1, vec!["rax".to_owned()]));
    // mov %rax, 8(%rsp); mov 8(%rsp), %rax: a spill and a reload.
    assert_eq!(
        bare(&[0x48, 0x89, 0x44, 0x24, 0x08, 0x48, 0x8b, 0x44, 0x24, 0x08], 2).judged.mode,
        LATENCY
    );
    // mov %rax, 8(%rsp); mov 16(%rsp), %rax
    assert_eq!(
        bare(&[0x48, 0x89, 0x44, 0x24, 0x08, 0x48, 0x8b, 0x44, 0x24, 0x10], 2).judged.mode,
        THROUGHPUT
    );
    // Four bytes into the middle of eight: mov %eax, 12(%rsp); mov 8(%rsp), %rax
    assert_eq!(
        bare(&[0x89, 0x44, 0x24, 0x0c, 0x48, 0x8b, 0x44, 0x24, 0x08], 2).judged.mode,
        LATENCY
    );
}

#[test]
fn hostile_code_is_unknown() {
    let reason = |copy: &[u8], copies| {
        let copy = bare(copy, copies);
        assert_eq!(copy.judged.mode, None, "{:?}", copy.judged);
        copy.judged.reason
    };
    assert!(reason(&[0x06], 3).contains("are not an instruction"));
    assert!(reason(&[0xff, 0xff, 0xff], 3).contains("are not an instruction"));
    // A jump to itself, out of the code, and to a computed address.
    assert!(reason(&[0xeb, 0xfe], 3).contains("too long"));
    assert!(reason(&[0xe9, 0, 0, 0, 0x7f], 3).contains("are not an instruction"));
    assert!(reason(&[0xff, 0xe0], 3).contains("computed address"));
    assert!(reason(&[0xc3], 3).contains("is not reached"));
    // A call of itself, without end.
    assert!(reason(&[0xe8, 0xfb, 0xff, 0xff, 0xff], 3).contains("not known"));
    assert!(reason(&[0x90].repeat(300_000), 2).contains("too long"));
    // Stores everywhere: movb $0, N(%rax) for very many N.
    let stores: Vec<u8> = (0..3_000u32)
        .flat_map(|n| [vec![0xc6, 0x80], (n * 4).to_le_bytes().to_vec(), vec![0]].concat())
        .collect();
    assert!(reason(&stores, 2).contains("too long"));
    assert!(reason(&[0x90], 0).contains("cannot be found"));
}

/// Operations on two registers, as the oracle knows them: moves, sums, products, and constants.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Move,
    Add,
    Multiply,
    Constant,
    Clear,
}

/// Registers by the numbers that their encoding has; without the stack's and the frame's.
const NUMBERS: [u8; 6] = [0, 1, 2, 3, 6, 7];

fn encoded(program: &[(Operation, usize, usize)]) -> Vec<u8> {
    let encoded_operation = |(operation, to, from): &(Operation, usize, usize)| {
        let (to, from) = (NUMBERS[*to], NUMBERS[*from]);
        match operation {
            Operation::Move => vec![0x48, 0x89, 0xc0 | from << 3 | to],
            Operation::Add => vec![0x48, 0x01, 0xc0 | from << 3 | to],
            Operation::Multiply => vec![0x48, 0x0f, 0xaf, 0xc0 | to << 3 | from],
            Operation::Constant => vec![0xb8 | to, 1, 2, 3, 4],
            Operation::Clear => vec![0x31, 0xc0 | to << 3 | to],
        }
    };
    program.iter().flat_map(encoded_operation).collect()
}

/// Length of the longest chain of sums and products after `copies` copies, counted one by one.
fn longest_chain(program: &[(Operation, usize, usize)], copies: usize) -> u32 {
    let mut chains = [0; NUMBERS.len()];
    let mut longest = 0;
    for _ in 0..copies {
        for (operation, to, from) in program {
            chains[*to] = match operation {
                Operation::Move => chains[*from],
                Operation::Add | Operation::Multiply => chains[*to].max(chains[*from]) + 1,
                Operation::Constant | Operation::Clear => 0,
            };
            longest = longest.max(chains[*to]);
        }
    }
    longest
}

proptest::proptest! {
    #[test]
    fn judgement_of_straight_line_code_agrees_with_counted_chains(
        program in proptest::collection::vec((0..5usize, 0..NUMBERS.len(), 0..NUMBERS.len()), 1..12)
    ) {
        use Operation::*;
        let program: Vec<_> = program.into_iter().map(|(o, to,
            from)| ([Move, Add, Multiply, Constant, Clear][o], to, from)).collect();
        // A chain across copies grows with every round of the registers; any other ends within one
        // round.
        let grows = longest_chain(&program, 60) > longest_chain(&program, 30);
        let judged = bare(&encoded(&program), 4).judged;
        proptest::prop_assert_eq!(judged.mode, if grows { LATENCY } else { THROUGHPUT }, "{:?}: {}",
            program, judged.reason);
    }

    #[test]
    fn no_bytes_panic(code in proptest::collection::vec(0u8.., 1..60), copies in 0..4usize) {
        let _ = bare(&code, copies);
    }
}

/// What the compiler removed from some code.
fn lost(request: &Request, code: &str, compiler: &str) -> Vec<(String, u32, u32)> {
    let plain = Request { flags: "-O2 -O0".into(), ..request.clone() };
    let [fast, plain] =
        [request, &plain].map(|request| copies(request, &[code], compiler).remove(0));
    fast.lost(&plain).into_iter().map(|lost| (lost.operation, lost.copy, lost.source)).collect()
}

/// One operation that is lost.
fn one(operation: &str, copy: u32, source: u32) -> Vec<(String, u32, u32)> {
    vec![(operation.to_owned(), copy, source)]
}

#[test]
fn removed_operations_are_counted() {
    let all_lets = [
        "uint64_t x = 3",
        "uint64_t c = 5",
        "double d = 2",
        "double y = 2",
        "int a[4]",
        "long z = 3",
        "int *p = a",
    ];
    let request = Request { lets: lets(&all_lets), ..Request::default() };
    for compiler in COMPILERS {
        let lost_operations = |code: &str| lost(&request, code, compiler);
        // Both compilers remove unused results.
        assert_eq!(
            lost_operations("uint64_t t = x * c; x = 3"),
            one("multiplication", 0, 1),
            "{compiler}"
        );
        assert_eq!(
            lost_operations("uint64_t t = x / c; x = 3"),
            one("division", 0, 1),
            "{compiler}"
        );
        assert_eq!(
            lost_operations("uint64_t t = x * c; x = t + x * c"),
            one("multiplication", 1, 2),
            "{compiler}"
        );
        for code in [
            "x = x * c",
            "x * c",
            "x = x * 3",
            "x = x * 10 + c * 7",
            "x / 3",
            "d = d * 2.0 + y / 4.0",
            "d = d * y * y",
            "x = x / c",
            "x = a[x & 3] * c",
            "for (int i = 0; i < 3; i++) x += i * 2",
            "int n = 5; x = x + n * 7",
            "*p = *p + a[2]",
            "z = (__int128)z * (long)c >> 64",
            "if (x) x = x * c",
            "x = c > 3 ? x * c : c * c",
            "d = d * y; x = x * c; z = z / (long)c",
            "d = sqrt(d) * y",
        ] {
            assert_eq!(lost_operations(code), [], "{code} with {compiler}");
        }
    }
    // A power takes fewer products than its factors.
    let power = lost(&request, &"x = x * c; ".repeat(10), "gcc");
    assert!(
        matches!(&power[..], [(operation, copy,
            10)] if operation == "multiplication" && *copy < 10),
        "{power:?}"
    );
}

#[test]
fn removed_calls_are_counted() {
    let all_lets = ["char *p = 0", "char b[4096]", "double d = 2"];
    let includes = vec!["string.h".to_owned(), "stdlib.h".to_owned(), "math.h".to_owned()];
    let request =
        Request { lets: lets(&all_lets), includes, link: "-lm".into(), ..Request::default() };
    for compiler in COMPILERS {
        let lost_calls = |code: &str| lost(&request, code, compiler);
        assert_eq!(
            lost_calls("p = malloc(1 << 22); memset(p, 1, 1 << 22); free(p)"),
            one("call of memset", 0, 1),
            "{compiler}"
        );
        for code in [
            "p = malloc(64); memset(p, 1, 64); __asm__ volatile(\"\" : : \"r\"(p) : \"memory\"); \
             free(p)",
            "memset(b, 1, 32)",
            "d = sin(d)",
            "d = sqrt(d)",
        ] {
            assert!(lost_calls(code).is_empty(), "{compiler}: {code}: {:?}", lost_calls(code));
        }
    }
}

#[test]
fn code_without_optimisation_is_judged_alike() {
    let request = Request {
        lets: lets(&["uint64_t x = 3", "uint64_t c = 5"]),
        flags: "-O0".into(),
        ..Request::default()
    };
    expect(&request, LATENCY, &["x = x * c", "x++", "x = c; c = x + 1"]);
    expect(&request, THROUGHPUT, &["x * c", "x = c * 2"]);
}

#[test]
fn the_disassembly_is_in_the_users_syntax() {
    let request =
        Request { lets: lets(&["uint64_t x = 3", "uint64_t c = 5"]), ..Request::default() };
    let shown_code =
        |request: &Request, code: &str| copies(request, &[code], "gcc")[0].disassembly.join("; ");
    let product = shown_code(&request, "x = x * c");
    assert!(product.starts_with("imul %") && product.matches(';').count() == 0, "{product}");
    assert_eq!(shown_code(&assembly(), "imul rax, rcx"), "imul rax, rcx");
    assert_eq!(shown_code(&assembly(), "imul %rcx, %rax"), "imul %rcx, %rax");
}

#[test]
fn long_code_is_judged_in_time() {
    let request =
        Request { lets: lets(&["uint64_t x = 3", "uint64_t c = 5"]), ..Request::default() };
    expect(&request, LATENCY, &[&"x = x + c; ".repeat(2_000)]);
}
