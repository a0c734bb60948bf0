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

#[test]
fn variables_are_operands() {
    for compiler in ["gcc", "clang"] {
        needs(compiler);
        let product = asm("imul %[c], %[x]").given("uint64_t x = 3").given("uint64_t c = 5");
        product.option("--cc", compiler).succeeds().says("chained through x");
    }
    asm("addsd %[y], %[x]").given("double x = 3").given("double y = 5").succeeds().says("chained through x");
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
