//! What each compiler makes of the same code: registers, or memory.

use crate::command::{needs, time};

#[test]
fn vectors_stay_in_registers_in_every_language_and_compiler() {
    for (language, compilers) in [("c", ["gcc", "clang"]), ("c++", ["g++", "clang++"])] {
        for compiler in compilers {
            needs(compiler);
            for (vector, sum) in [
                ("__m128i", "_mm_add_epi32(a, b)"),
                ("__m128", "_mm_add_ps(a, b)"),
                ("__m128d", "_mm_add_pd(a, b)"),
            ] {
                let chain = time(format!("a = {sum}"))
                    .given(&format!("{vector} a = {{1}}"))
                    .given(&format!("{vector} b = {{2}}"));
                let document = chain
                    .option("--include", "immintrin.h")
                    .option("--lang", language)
                    .option("--cc", compiler)
                    .document();
                let bytes = document.result_of(0)["bytes_per_copy"].as_f64().unwrap();
                assert!(
                    bytes <= 4.0 && document.mode().0 == "latency",
                    "{compiler} {vector}: {bytes}"
                );
                let findings = document.result_of(0)["findings"].as_array().unwrap().clone();
                assert!(
                    findings.iter().all(|finding| finding["code"] != "kept_in_memory"),
                    "{findings:?}"
                );
            }
        }
    }
}

/// A copy would load and store it otherwise, to have it in a register.
#[test]
fn a_variable_whose_address_is_taken_stays_in_memory() {
    for (language, compilers) in [("c", ["gcc", "clang"]), ("c++", ["g++", "clang++"])] {
        for compiler in compilers {
            needs(compiler);
            let add = time("__atomic_fetch_add(&v, 1, __ATOMIC_SEQ_CST)")
                .given("long v = 0")
                .option("--lang", language);
            let bytes = add.option("--cc", compiler).document().result_of(0)["bytes_per_copy"]
                .as_f64()
                .unwrap();
            assert!(bytes < 16.0, "{compiler}: {bytes}");
        }
    }
    for compiler in ["g++", "clang++"] {
        let of_class =
            time("x += (&w)->size(); w[0] = x").given("std::vector<int> w(3)").given("int x = 1");
        of_class
            .option("--include", "vector")
            .option("--lang", "c++")
            .option("--cc", compiler)
            .succeeds();
    }
}

/// An array of the size of a register is no number: a copy would load it into a register, and store
/// it.
#[test]
fn arrays_of_all_sizes_stay_in_memory() {
    for compiler in ["gcc", "clang"] {
        needs(compiler);
        for array in ["char s[1]", "char s[2]", "char s[3]", "char s[4]", "char s[8]", "char s[9]"]
        {
            let store = time("s[0] = x")
                .given(array)
                .given("char x = 3")
                .option("--cc", compiler)
                .option("--show", "asm");
            let lines = store.document().result_of(0)["disassembly"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            assert_eq!(lines.len(), 1, "{compiler} {array}: {lines:?}");
        }
    }
}
