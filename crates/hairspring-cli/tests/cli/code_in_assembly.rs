//! Assembly, in both syntaxes.

use crate::command::{Hairspring, needs, time};

fn asm(code: &str) -> Hairspring {
    time(code).option("--lang", "asm")
}

#[test]
fn both_syntaxes_are_known() {
    for code in ["imul rax, rcx", "imul %rcx, %rax"] {
        let document = asm(code).document();
        assert_eq!(document.mode(), ("latency", "chained through rax"), "{code}");
        assert_eq!(document.result_of(0)["bytes_per_copy"], 4.0, "{code}");
        document.takes_a_few_cycles();
    }
}

#[test]
fn independent_copies_are_a_throughput() {
    assert_eq!(asm("lea rax, [rcx + rdx]").document().mode().0, "throughput");
}

/// A core may learn which load takes what a store has written, and where branches and calls lead,
/// as in a loop.
#[cfg(target_arch = "x86_64")]
#[test]
fn code_that_a_core_learns_runs_in_repeated_blocks() {
    let several =
        "mov [rsp - 64], rcx; lea rax, [rcx + rdx]; lea rbx, [rcx + rdx]; push rax; pop rsi";
    let counts = |code: &dyn Fn() -> Hairspring| -> Vec<f64> {
        let document = code().document();
        let rows = document.result_of(0)["fit"]["rows_detail"].as_array().unwrap().clone();
        rows.iter().map(|row| row["counts"][0].as_f64().unwrap()).collect()
    };
    // The second block has a quarter more copies than the first, and the second straight row half
    // more. The fit may do without the longest rows. A pilot that something else disturbs by far
    // asks for a few copies.
    let is_of_blocks = |counts: &Vec<f64>| counts[1] / counts[0] == 1.25;
    let expect_blocks = |code: &dyn Fn() -> Hairspring| {
        let tries: Vec<Vec<f64>> = (0..3).map(|_| counts(code)).collect();
        assert!(tries.iter().any(is_of_blocks), "{tries:?}");
    };
    expect_blocks(&|| asm("inc qword ptr [rsp - 8]"));
    expect_blocks(&|| asm(several).option("--setup", "mov ecx, 3"));
    expect_blocks(&|| time("a[1] += x; x ^= a[1]").given("int a[4]").given("int x = 3"));
    expect_blocks(&|| {
        time("x = x & 1 ? x * 3 + 1 : x >> 1; if (x < 2) x = 27").given("uint64_t x = 27")
    });
    expect_blocks(&|| {
        time("x += abs(x) + strlen(s)")
            .given("int x = 3")
            .given("char *s = \"four\"")
            .option("--include", "string.h")
    });
    assert!((0..2).any(|_| !is_of_blocks(&counts(&|| asm("imul rax, rcx")))));
}

#[test]
fn variables_are_operands() {
    for compiler in ["gcc", "clang"] {
        needs(compiler);
        let product = asm("imul %[c], %[x]").given("uint64_t x = 3").given("uint64_t c = 5");
        product.option("--cc", compiler).succeeds().says("chained through x");
    }
    asm("addsd %[y], %[x]")
        .given("double x = 3")
        .given("double y = 5")
        .succeeds()
        .says("chained through x");
    asm("imul %[c], %rax").given("uint64_t c = 5").succeeds().says("chained through rax");
}

#[test]
fn several_lines_and_local_labels_are_possible() {
    asm("mov $3, %ecx\n1: dec %ecx\njnz 1b").succeeds();
    asm("mov rcx, 3; 1: dec rcx; jnz 1b").succeeds();
}

#[test]
fn the_setup_gives_registers_their_first_values() {
    // A division by an unset register would die of SIGFPE sooner or later.
    asm("mov eax, 9; xor edx, edx; div ecx").option("--setup", "mov ecx, 3").succeeds();
}

#[test]
fn an_init_is_a_component_of_its_own() {
    let document = asm("imul rax, rcx").option("--init", "mov rax, 3").document();
    assert_eq!(document.components(), ["body", "init"]);
    assert_eq!(document.mode().0, "throughput");
}

#[test]
fn clang_assembles_it_too() {
    needs("clang");
    for code in ["imul rax, rcx", "imul %rcx, %rax"] {
        asm(code).option("--cc", "clang").document().takes_a_few_cycles();
    }
}

#[test]
fn messages_name_the_users_line() {
    asm("mov rax\nnop").fails("CODE:1:").complains("mov");
    asm("imul rax, nosuch").fails("nosuch").complains("does not link");
    asm("nop\nnosuch rax, rcx").fails("CODE:2:").complains("nosuch");
    asm("again: dec rax; jnz again").fails("already defined").complains("`jnz 1b`");
}

#[test]
fn cold_data_are_for_compiled_code() {
    asm("nop").given("int x").option("--cold", "x").ends_with(2).complains("--cold").in_one_line();
}

#[test]
fn an_illegal_instruction_is_reported() {
    asm("ud2").fails("SIGILL").complains("--cflags");
}

#[test]
fn a_division_by_zero_is_reported() {
    asm("xor ecx, ecx; mov eax, 1; xor edx, edx; div ecx").fails("SIGFPE");
}

/// Denormals are told by x86-64 alone.
const TELLS: bool = cfg!(target_arch = "x86_64");

#[test]
fn vector_registers_begin_with_ordinary_values() {
    // Divisions and products of the same number: a denormal, or a number far from 1, would end in
    // denormals.
    for code in ["mulsd xmm5, xmm6", "divps %xmm3, %xmm2", "divsd xmm0, xmm15\nmulsd xmm1, xmm15"] {
        let document = asm(code).document();
        assert!(
            !document.findings(0).contains(&"denormals"),
            "{code}: {:#}",
            document.result_of(0)["findings"]
        );
    }
}

#[test]
fn denormals_that_are_made_on_purpose_are_named() {
    if TELLS {
        let document =
            asm("mulsd xmm0, xmm1").option("--setup", "mov eax, 1000; movq xmm0, rax").document();
        let finding = document.finding("denormals");
        assert_eq!(
            (&finding["operands"], &finding["severity"]),
            (&true.into(), &"warning".into()),
            "{finding:#}"
        );
        assert!(finding["remedy"].as_str().unwrap().contains("--setup"));
    }
}

#[test]
fn a_product_that_shrinks_into_denormals_is_not_to_be_trusted() {
    if TELLS {
        // Every row begins with 2 to the power of -622, and a copy takes a quarter. After 200
        // copies the product is denormal: in the long rows, which have about 400 to 1,024, and not
        // in the short ones, which have an eighth of that.
        let setup = "mov rax, 0x1910000000000000; movq xmm0, rax; mov rax, 0x3fd0000000000000; \
                     movq xmm1, rax";
        let document = asm("mulsd xmm0, xmm1").option("--setup", setup).document();
        assert_eq!(document.finding("denormals")["severity"], "untrusted");
    }
}

#[test]
fn treating_denormals_as_zero_is_a_way_out() {
    let flushed = time("x *= y")
        .given("double x = 1e-310")
        .given("double y = 1.5")
        .option("--include", "xmmintrin.h");
    if TELLS {
        let flushed = flushed.option("--setup", "_mm_setcsr(_mm_getcsr() | 0x8040);").document();
        assert!(
            !flushed.findings(0).contains(&"denormals"),
            "{:#}",
            flushed.result_of(0)["findings"]
        );
    }
}

#[test]
fn divisions_say_on_which_values() {
    if TELLS {
        let values = |document: crate::document::Document| {
            document.finding("depends_on_values")["values"].clone()
        };
        let first = asm("divsd xmm0, xmm1").document();
        assert_eq!(
            first.finding("depends_on_values")["instructions"],
            serde_json::json!(["divsd"])
        );
        assert_eq!(
            values(first),
            serde_json::json!(["1.0125 in double precision in every vector register"])
        );
        let named = time("x / c")
            .given("uint64_t x = 1000")
            .given("uint64_t c = 10")
            .given("int other = 3")
            .document();
        assert_eq!(values(named), serde_json::json!(["uint64_t x = 1000", "uint64_t c = 10"]));
        assert!(!asm("mulsd xmm0, xmm1").document().findings(0).contains(&"depends_on_values"));
    }
}

#[test]
fn wide_registers_begin_with_ordinary_values_too() {
    #[cfg(target_arch = "x86_64")]
    for (has, code) in [
        (is_x86_feature_detected!("fma"), "vfmadd231pd ymm3, ymm4, ymm5"),
        (is_x86_feature_detected!("avx512f"), "vfmadd231ps zmm3, zmm4, zmm31"),
    ] {
        if has {
            let document = asm(code).document();
            assert!(
                !document.findings(0).contains(&"denormals"),
                "{code}: {:#}",
                document.result_of(0)["findings"]
            );
            document.takes_a_few_cycles();
        }
    }
}
