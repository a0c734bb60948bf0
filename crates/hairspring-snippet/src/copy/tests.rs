//! Modes of real code, by both compilers.

use super::*;
use crate::cleanup::Folder;
use crate::compile::{PILOT, compile, find};
use crate::declaration::Declaration;
use crate::mode::Mode;
use crate::plan;

const COMPILERS: [&str; 2] = ["gcc", "clang"];
const CPP_COMPILERS: [&str; 2] = ["g++", "clang++"];

fn lets(texts: &[&str]) -> Vec<Declaration> {
    texts.iter().map(|text| Declaration::parse(text).unwrap()).collect()
}

/// Alternatives of one request, compiled and looked at; at most as many as a request may hold are compiled at once.
fn copies(request: &Request, codes: &[&str], compiler: &str) -> Vec<Copy> {
    let chunk = |codes: &[&str]| {
        let codes: Vec<String> = codes.iter().map(|code| (*code).to_owned()).collect();
        let request = Request { codes, compiler: Some(compiler.into()), ..request.clone() };
        let folder = Folder::new().unwrap();
        let rows = plan::pilot_rows(&request);
        let found = find(&request).expect("gcc and clang are needed here: apt-get install gcc g++ clang");
        let library = compile(&request, &found, &rows, folder.path(), PILOT).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        look(&request, &library.path, &rows)
    };
    codes.chunks(16).flat_map(chunk).collect()
}

/// What is wrong with the modes of some codes, by all compilers.
fn wrong(request: &Request, expected: Option<Mode>, codes: &[&str]) -> Vec<String> {
    let compilers = if request.language == Language::Cpp { CPP_COMPILERS } else { COMPILERS };
    let mut wrong = Vec::new();
    for compiler in compilers {
        for (code, copy) in codes.iter().zip(copies(request, codes, compiler)) {
            if copy.judged.mode != expected {
                wrong.push(format!("{compiler}: {code}: {:?}\n    {}", copy.judged, copy.disassembly.join("\n    ")));
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
    let all = ["uint64_t x = 3", "uint64_t c = 5", "double d = 2", "void *p = &p", "double y = 2", "std::vector<int> v"];
    let includes = ["vector", "algorithm", "cctype", "cmath"].map(String::from).to_vec();
    Request { lets: lets(&all), language: Language::Cpp, includes, ..Request::default() }
}

#[test]
fn assignments_that_feed_on_themselves_are_chains() {
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
fn functions_that_may_keep_state_are_not_known() {
    let codes = ["rand()", "x = rand()", "getenv(\"x\")", "x = (uint64_t)malloc(3)", "(*f)(3)", "std::cout << x"];
    let functions = ["vector", "iostream"].map(String::from).to_vec();
    let request = Request { lets: lets(&["uint64_t x = 3", "std::vector<int> v", "int (*f)(int) = abs"]), includes: functions, ..cpp() };
    expect(&request, None, &codes);
    let reason = &copies(&request, &["rand()"], "g++")[0].judged.reason;
    assert_eq!(reason, "latency or throughput: not known, rand may keep state or change what it is handed");
}

#[test]
fn chains_through_memory_are_seen_where_the_address_is_the_same() {
    let all = ["uint64_t x = 3", "int a[4]", "struct p { int v; } s", "int *p = calloc(4, 4)", "char *t = \"text\"", "int q[4]", "int i = 1"];
    let request = Request { lets: lets(&all), ..Request::default() };
    expect(&request, LATENCY, &["a[0] = a[0] * 3", "a[1]++", "++a[1]", "s.v = s.v + 1", "p->v += 2", "*p = *p + 1", "(x) = x + 1", "x = x + a[0]"].map(|code| if code == "p->v += 2" { "((struct p *)p)->v += 2" } else { code }));
    expect(&request, None, &["*p = q[1] + 3; q[1] = p[2]", "a[i] = a[x] + 1"]);
    let codes = ["x & 3", "a[0] * 3", "strlen(t)", "int y = x; y += 2; x = y < a[0]; x = 3", "for (int i = 0; i < 3; i++) x = i", "x = a[1] && *p", "a[0] = q[1] * 3"];
    expect(&request, THROUGHPUT, &codes);
    let reason = |code| copies(&request, &[code], "gcc")[0].judged.reason.clone();
    assert_eq!([reason("a[1]++"), reason("*p = *p + 1"), reason("x = x + a[0]")], ["chained through a", "chained through the memory at p", "chained through x"]);
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
        ("d = rand() + y", "y = d * d", None),
        ("x = x + 1", "x = x * x", LATENCY),
        ("memcpy(&d, &y, 8)", "d = d * d", THROUGHPUT),
    ] {
        expect(&request(init), mode, &[code]);
    }
    assert_eq!(copies(&request("d = 1.5"), &["d = d * d"], "g++")[0].judged.reason, "--init sets d anew: copies are independent");
}

fn assembly() -> Request {
    Request { language: Language::Asm, ..Request::default() }
}

#[test]
fn chains_of_assembly_are_seen_in_both_syntaxes() {
    let codes = [
        "imul rax, rcx",
        "imul %rcx, %rax",
        "mov (%rdx), %rdx",
        "mov rdx, [rdx]",
        "popcnt rax, rax",
        "mulsd xmm0, xmm1",
        "xor eax, ecx; imul rax, rdx",
        "mov rbx, rax\nadd rbx, rcx\nmov rax, rbx",
        "inc rax",
        "vaddpd ymm0, ymm0, ymm1",
        "sqrtsd xmm0, xmm1",
        "cvtsi2sd xmm0, rax",
        "cvtss2sd xmm0, xmm1",
        "cvtsd2ss xmm0, xmm1",
        "rcpss xmm0, xmm1",
        "roundsd xmm0, xmm1, 1",
        "movhps xmm0, [rdx]",
        "movlpd xmm0, [rdx]",
        "movsd xmm0, xmm1",
        "insertps xmm0, xmm1, 16",
        "shufps xmm0, xmm1, 3",
        "shufps $3, %xmm1, %xmm0",
        "palignr xmm0, xmm1, 4",
        "pinsrd xmm0, eax, 1",
        "blendps xmm0, xmm1, 1",
        "cmpps xmm0, xmm1, 2",
        "cmpltsd xmm0, xmm1",
        "subsd xmm0, xmm0",
        "bsf rax, rcx",
        "bsr rax, rcx",
        "mov al, cl",
        "movw %cx, %ax",
        "test rcx, rcx; setz al",
        "test rax, rax; setz cl; movzx eax, cl",
        "mov ecx, 0; vucomisd xmm0, xmm1; setz cl; vcvtsi2sd xmm0, xmm2, ecx",
        "mov r8, rax; lea rax, [rcx + 1]; lea rcx, [r8 + 1]",
        "vfmadd231pd ymm0, ymm1, ymm2",
        "vaddpd zmm0{k1}, zmm1, zmm2",
        "mul rcx",
        // These the text could not tell.
        "cpuid",
        "add [rdx], rcx",
        "add qword ptr [rdx], 1",
        "mov [rdx], rax; mov rax, [rdx]",
        "push rax; pop rax",
        "cmc",
        "cdqe",
        "lfence",
        "xchg rax, rcx; inc rax",
        "adc rax, rcx",
    ];
    expect(&assembly(), LATENCY, &codes);
    let lets = lets(&["uint64_t x = 3", "uint64_t c = 3"]);
    let request = Request { lets, ..assembly() };
    for compiler in COMPILERS {
        assert_eq!(copies(&request, &["imul %[c], %[x]"], compiler)[0].judged.reason, "chained through x");
        assert_eq!(copies(&assembly(), &["add [rdx], rcx"], compiler)[0].judged.reason, "chained through the memory at rdx");
    }
}

#[test]
fn assembly_that_writes_its_results_whole_is_no_chain() {
    let codes = [
        "mov rax, rcx",
        "lea rax, [rcx + rdx]",
        "nop",
        "mov rax, 3; imul rax, rcx",
        "cmp rax, rcx",
        "vsqrtsd xmm0, xmm1, xmm1",
        "sqrtpd xmm0, xmm1",
        "vcvtsi2sd xmm0, xmm1, rax",
        "vsqrtpd ymm0, ymm1",
        "vmovapd ymm0, ymm1",
        "vshufps xmm0, xmm1, xmm2, 3",
        "vcmpps ymm0, ymm1, ymm2, 2",
        "pshufd xmm0, xmm1, 3",
        "movzx eax, cl",
        "mov eax, ecx",
        "pcmpeqd xmm0, xmm0",
        "vpcmpeqb ymm0, ymm1, ymm1; vpaddb ymm1, ymm0, ymm2",
        "xor eax, eax; test rcx, rcx; setz al",
        "mov r8d, 3; inc r8; cmovz r8, rcx",
        "cmp rcx, rdx; cmc; xor eax, eax",
        "mov [rdx], rax",
        "vaddpd ymm0, ymm1, ymm2",
        "xor eax, eax; imul rax, rax",
        "pxor xmm0, xmm0; addsd xmm0, xmm1",
        // These the text could not tell.
        "adc rax, rcx; xor eax, eax",
        "mov eax, 3; setc cl",
        "clc; lea rax, [rcx]; jz 1f; nop; 1:",
        "mov rax, [rdx]; mov [rsp - 64], rcx",
    ];
    let codes = codes.map(|code| if code == "mov eax, 3; setc cl" { "mov eax, 3; mov ecx, 0; setc cl" } else { code });
    expect(&assembly(), THROUGHPUT, &codes);
}

#[test]
fn assembly_that_cannot_be_told_is_not_known() {
    let codes = [
        "popcnt rax, rcx",
        "fadd st, st(1)",
        "fld1",
        "test rcx, rcx; jz 1f; mov rax, 3; 1: imul rax, rdx",
        "mov [rdx], rax; mov rax, [rcx]",
        "lea rax, [rip + 1f]; jmp rax; 1:",
        "call rax",
        "syscall",
    ];
    expect(&assembly(), None, &codes);
}
