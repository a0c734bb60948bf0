//! Copies of assembly.

use super::*;

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
        // The dependence is not visible in the text.
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
}

#[test]
fn the_reason_names_what_assembly_is_chained_through() {
    let lets = lets(&["uint64_t x = 3", "uint64_t c = 3"]);
    let request = Request { lets, ..assembly() };
    for compiler in COMPILERS {
        assert_eq!(
            copies(&request, &["imul %[c], %[x]"], compiler)[0].judged.reason,
            "chained through x"
        );
        assert_eq!(
            copies(&assembly(), &["add [rdx], rcx"], compiler)[0].judged.reason,
            "chained through the memory at rdx"
        );
    }
}

#[test]
fn chains_side_by_side_are_counted() {
    let reason = |code: &str| copies(&assembly(), &[code], "gcc")[0].judged.reason.clone();
    let codes = [
        "imul rax, rcx; imul rbx, rcx",
        "inc rax; inc rsi; inc rdi; inc r8",
        "xchg rax, rcx; inc rax",
        "adc rax, rcx",
        "mulx rax, rdx, rsi",
    ];
    let expected =
        ["rax and rbx, side by side", "rax and 3 others, side by side", "rax", "rax", "rdx"];
    assert_eq!(codes.map(reason), expected.map(|places| format!("chained through {places}")));
    let request =
        Request { lets: lets(&["uint64_t x = 3", "uint64_t y = 3"]), ..Request::default() };
    let reason = |code: &str| copies(&request, &[code], "gcc")[0].judged.reason.clone();
    assert_eq!(reason("x = x * 5; y += 3"), "chained through x and y, side by side");
    assert_eq!(reason("x = x * 5 + y; y = x ^ 3"), "chained through x");
}

#[test]
fn assembly_that_overwrites_its_results_is_independent() {
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
        // The dependence is not visible in the text.
        "adc rax, rcx; xor eax, eax",
        "mov eax, 3; setc cl",
        "clc; lea rax, [rcx]; jz 1f; nop; 1:",
        "mov rax, [rdx]; mov [rsp - 64], rcx",
    ];
    let codes = codes.map(|code| {
        if code == "mov eax, 3; setc cl" { "mov eax, 3; mov ecx, 0; setc cl" } else { code }
    });
    expect(&assembly(), THROUGHPUT, &codes);
}

#[test]
fn assembly_with_unclear_dependences_is_unknown() {
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
