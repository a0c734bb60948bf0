//! `hairspring instructions`: what it lists, measures, compares and refuses. No latency is
//! asserted: machines differ.

use crate::command::Hairspring;
use crate::document::Document;
use serde_json::Value;

fn instructions() -> Hairspring {
    Hairspring::new().with("instructions")
}

/// Some forms, in little time. A machine that is too busy gives status 1 and a message; any other
/// failure is an error.
fn measured(command: Hairspring) -> Option<String> {
    let ended = command.option("--budget", "1s").start().ends_with_any(&[0, 1]);
    assert!(ended.succeeded() || ended.error.contains("integer lattice"), "{ended}");
    ended.succeeded().then_some(ended.output)
}

fn document(text: &str) -> Value {
    Document::of(text, "instructions.schema.json")
}

#[test]
fn forms_are_listed_by_set_name_and_extension() {
    let all = instructions().with("--list").succeeds().output;
    assert!(
        all.lines().count() > 300 && all.contains("add r64, r64") && !all.contains("zmm"),
        "{all}"
    );
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    let some = instructions().with("--list").option("--set", "avx512").succeeds().output;
    assert!(some.contains("vaddpd zmm, zmm, zmm") && !some.contains("add r64, r64"), "{some}");
    let memory =
        instructions().with("--list").option("--set", "memory,memory512").succeeds().output;
    assert!(
        memory.contains("vfmadd231pd ymm, ymm, m256")
            && memory.contains("add m64, r64")
            && !memory.contains("r64, r64"),
        "{memory}"
    );
    assert!(
        memory.contains("vmovups m512, zmm")
            && memory.lines().all(|line| line.chars().count() <= 80),
        "{memory}"
    );
    let named =
        instructions().with("ADD_R64_R64").with("imul r64*").with("--list").succeeds().output;
    assert!(
        named
            .lines()
            .skip(1)
            .all(|line| line.contains("add r64, r64") || line.contains("imul r64")),
        "{named}"
    );
    let bits = instructions().with("--list").option("--extension", "bmi2").succeeds().output;
    assert!(
        bits.contains("pdep") && bits.lines().skip(1).all(|line| line.contains("bmi2")),
        "{bits}"
    );
}

#[test]
fn wrong_requests_say_what_there_is() {
    instructions().with("no-such-form").ends_with(2).complains("--list").in_one_line();
    instructions()
        .option("--set", "mmx")
        .ends_with(2)
        .complains("the sets are all, integer")
        .in_one_line();
    instructions()
        .option("--set", "memory,l3")
        .ends_with(2)
        .complains("there is no set `l3`")
        .complains("memory512")
        .in_one_line();
    instructions()
        .with("mov m48*")
        .ends_with(2)
        .complains("no form is called `mov m48*`")
        .in_one_line();
    instructions().with("mov [rax], rbx").ends_with(2).complains("--list").in_one_line();
    instructions()
        .option("--extension", "3dnow")
        .ends_with(2)
        .complains("the extensions are ")
        .in_one_line();
    instructions()
        .with("add")
        .option("--set", "fma")
        .ends_with(2)
        .complains("in the set integer")
        .in_one_line();
    instructions().with("fma").with("--pairs").ends_with(2).complains("--set fma").in_one_line();
}

#[test]
fn options_that_do_not_fit_say_why() {
    instructions()
        .with("add")
        .with("--json")
        .with("--csv")
        .ends_with(2)
        .complains("cannot be used with");
    instructions().with("add").option("--budget", "0").ends_with(2).complains("above 0");
    instructions()
        .with("add")
        .option("--cpu", "9999")
        .ends_with(2)
        .complains("may use the CPUs ")
        .in_one_line();
    instructions()
        .with("add")
        .option("--against", "llvm:")
        .ends_with(2)
        .complains("`llvm:` names no CPU");
    instructions()
        .with("add")
        .option("--against", "/dev/zero")
        .fails("/dev/zero: is larger than 16 MiB")
        .in_one_line();
    instructions()
        .with("add")
        .option("--against", "missing.csv")
        .fails("missing.csv: ")
        .in_one_line();
    instructions()
        .with("add")
        .beside("bad.csv", "form,latency\nadd,x\n")
        .option("--against", "bad.csv")
        .fails("bad.csv: line 2: `x`");
}

#[test]
fn a_table_has_a_line_for_each_form_and_fits_the_page() {
    if let Some(output) =
        measured(instructions().with("add r64, r64").with("movq xmm, r64").with("--pairs"))
    {
        assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
        for part in [
            "add r64, r64",
            "1 to 1",
            "2 to flags",
            "movq xmm, r64",
            "with movq r64, xmm",
            "front end",
        ] {
            assert!(output.contains(part), "{part}: {output}");
        }
    }
}

#[test]
fn the_document_has_latencies_by_pairs_and_sums_where_only_these_are_known() {
    let Some(output) = measured(
        instructions()
            .with("add r64, r64")
            .with("movq xmm, r64")
            .with("addsd xmm, xmm")
            .with("--values")
            .with("--json"),
    ) else {
        return;
    };
    let document = document(&output);
    let forms = document["forms"].as_array().unwrap();
    assert_eq!(forms.len(), 3, "{document:#}");
    let pairs = forms[0]["latencies"].as_array().unwrap();
    assert!(
        pairs
            .iter()
            .any(|pair| pair["from"] == "2" && pair["to"] == "flags" && pair["sum"].is_object()),
        "{document:#}"
    );
    assert!(
        pairs
            .iter()
            .any(|pair| pair["from"] == "2" && pair["to"] == "1" && pair["cycles"].is_object()),
        "{document:#}"
    );
    let moved = &forms[1]["latencies"][0];
    assert!(
        moved["cycles"].is_null()
            && moved["with"][0].as_str().unwrap().starts_with("movq r64, xmm"),
        "{moved:#}"
    );
    let with_values = |form: &serde_json::Value, count: usize| {
        form["latencies"]
            .as_array()
            .unwrap()
            .iter()
            .any(|pair| pair["values"].as_array().is_some_and(|all| all.len() == count))
    };
    assert!(
        with_values(&forms[0], 3) && with_values(&forms[2], 4),
        "integers have no denormal values: {document:#}"
    );
    assert!(
        forms
            .iter()
            .all(|form| form["throughput"]["low"].as_f64() <= form["throughput"]["value"].as_f64())
    );
}

#[test]
fn a_store_and_a_load_are_a_sum_and_what_depends_on_addresses_is_compared() {
    let memory = || {
        instructions()
            .with("MOV_R64_M64")
            .with("MOV_M64_R64")
            .with("ADD_M64_R64")
            .with("movups xmm, m128")
    };
    if let Some(output) = measured(memory().with("--pairs")) {
        assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
        let words = output.split_whitespace().collect::<Vec<&str>>().join(" ");
        for part in ["base to 1", "m to m", "2 to m", "with mov r64, m64", "a store and a load"] {
            assert!(words.contains(part), "{part}: {output}");
        }
    }
    let Some(output) = measured(memory().with("--json")) else { return };
    let document = document(&output);
    let form = |name: &str| {
        document["forms"]
            .as_array()
            .unwrap()
            .iter()
            .find(|form| form["name"] == name)
            .unwrap()
            .clone()
    };
    let pair = |name: &str, from: &str, to: &str| {
        let pairs = form(name)["latencies"].as_array().unwrap().clone();
        pairs
            .into_iter()
            .find(|pair| pair["from"] == from && pair["to"] == to)
            .unwrap_or_else(|| panic!("{name} {from} {to}: {document:#}"))
    };
    assert!(
        pair("mov r64, m64", "base", "1")["sum"].is_null()
            && pair("add m64, r64", "m", "m")["sum"].is_null(),
        "{document:#}"
    );
    let stored = pair("mov m64, r64", "2", "m");
    assert!(
        stored["cycles"].is_null() && (stored["sum"].is_object() || stored["reason"].is_string()),
        "{stored:#}"
    );
    let vector = pair("movups xmm, m128", "base", "1");
    assert!(vector["cycles"].is_null(), "{vector:#}");
    assert!(
        form("mov r64, m64")["throughput_one_line"].is_null(),
        "only stores are measured on one line: {document:#}"
    );
}

#[test]
fn a_table_is_compared_with_itself_and_with_a_model() {
    let Some(csv) =
        measured(instructions().with("add r64, r64").with("imul r64, r64").with("--csv"))
    else {
        return;
    };
    assert!(
        csv.starts_with("form,set,extension,quantity,from,to,cycles,low,high,with,doubtful\n"),
        "{csv}"
    );
    let other = "form,latency,throughput\nADD_R64_R64,50,40\nPOPCNT_R64_R64,1,1\n";
    let compared = instructions().with("add r64, r64").with("imul r64, r64").with("--json");
    let script = r#"case "$1" in --version) exit 0;; esac
read first; read line; while read rest; do :; done
case "$line" in add*) ;; *) echo "<stdin>:2:1: error: bad" >&2; exit 1;; esac
echo '{"CodeRegions":[{"InstructionInfoView":{"InstructionList":[{"Instruction":0,"Latency":77,"RThroughput":66}]}}],"TargetInfo":{"CPUName":"any"}}'
"#;
    let command = compared
        .beside("here.csv", &csv)
        .beside("other.csv", other)
        .with_script("llvm-mca", script);
    let command = command
        .option("--against", "here.csv")
        .option("--against", "other.csv")
        .option("--against", "llvm:any");
    let Some(output) = measured(command.variable("PATH", ".")) else { return };
    let document = document(&output);
    let against = document["against"].as_array().unwrap();
    assert_eq!(against.len(), 3, "{document:#}");
    assert_eq!(against[1]["unknown"][0], "POPCNT_R64_R64");
    // Nothing takes 50 or 77 cycles, unless it is in doubt.
    for other in &against[1..] {
        assert!(
            other["rows"].as_array().unwrap().iter().all(|row| row["agrees"] == false),
            "{document:#}"
        );
    }
    assert_eq!(against[2]["source"], "llvm-mca -mcpu=any");
}

#[test]
fn llvm_that_is_missing_is_named_with_its_package() {
    instructions()
        .with("add r64, r64")
        .option("--against", "llvm")
        .variable("PATH", "")
        .fails("apt-get install llvm")
        .in_one_line();
}

#[test]
fn a_model_of_no_cpu_is_named_so() {
    let script = r#"case "$1" in --version) exit 0;; esac
while read line; do :; done
echo '{"CodeRegions":[{"InstructionInfoView":{"InstructionList":[{"Instruction":0,"Latency":1,"RThroughput":1}]}}],"TargetInfo":{"CPUName":"generic"}}'
"#;
    let command = instructions()
        .with("add r64, r64")
        .with_script("llvm-mca", script)
        .option("--against", "llvm");
    if let Some(output) = measured(command.variable("PATH", ".")) {
        let words = output.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(words.contains("-mcpu=generic (NO MODEL OF THIS CPU"), "{output}");
    }
}

#[test]
fn a_machine_file_has_the_operands_in_the_order_of_the_assembler() {
    let Some(output) = measured(
        instructions().with("shl r64, imm8").with("lea r64, [r64+r64*8+i8]").with("--osaca"),
    ) else {
        return;
    };
    let form = "- name: shl\n  operands:\n  - class: immediate\n    imd: int\n  - class: \
                register\n    name: gpr\n  latency: ";
    assert!(output.contains(form), "{output}");
    assert!(
        output.contains("    base: gpr\n    offset: imd\n    index: gpr\n    scale: 8\n"),
        "{output}"
    );
    let Some(output) =
        measured(instructions().with("mov m64, r64").with("mov r64, m64").with("--osaca"))
    else {
        return;
    };
    let place = "  - class: memory\n    base: gpr\n    offset: '*'\n    index: ~\n    scale: 1\n";
    let register = "  - class: register\n    name: gpr\n";
    assert!(
        output.contains(&format!("- name: mov\n  operands:\n{register}{place}  latency: ~")),
        "{output}"
    );
    assert!(
        output.contains(&format!("- name: mov\n  operands:\n{place}{register}  latency: ")),
        "{output}"
    );
}
