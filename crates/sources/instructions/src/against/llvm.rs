//! The scheduling model of LLVM, as `llvm-mca -instruction-info` reports it for each form.

use super::mca::{Ended, execute, program};
use super::{Figure, Quantity};
use crate::form::{Form, Shape};
use crate::register::File;
use iced_x86::{Formatter, IntelFormatter, MemorySizeOptions};
use serde_json::Value;

/// Forms that the program gets at a time.
const AT_A_TIME: usize = 8;

/// The figures of a model, and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The program and the CPU that it has a model of.
    pub name: String,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// Asks LLVM for its model of a CPU; `None` means the CPU that this runs on. Forms that its
/// assembler does not know, or with which it does not come to an end, are left out.
///
/// # Errors
/// The program is not installed, with the command that installs it; or it fails.
pub fn model(forms: &[Form], cpu: Option<&str>) -> Result<Model, String> {
    let program = program()?;
    let forms: Vec<&Form> = forms.iter().filter(|form| form.shape != Shape::Same).collect();
    let mut model = Model { name: program.clone(), figures: Vec::new() };
    for some in forms.chunks(AT_A_TIME) {
        if !ask(&program, cpu, some, &mut model)? {
            for one in some {
                ask(&program, cpu, &[one], &mut model)?;
            }
        }
    }
    Ok(model)
}

/// Adds the figures of some forms; false if the program does not come to an end.
fn ask(
    program: &str,
    asked_cpu: Option<&str>,
    forms: &[&Form],
    model: &mut Model,
) -> Result<bool, String> {
    let mut lines: Vec<(&Form, String)> =
        forms.iter().map(|form| (*form, assembly(form))).collect();
    // The model's latency of a store says nothing about when the value can be loaded.
    let stores = |name: &str| forms.iter().any(|form| form.name == name && form.stores());
    loop {
        match run(program, asked_cpu, &lines)? {
            Ran::Done(output) => {
                let names: Vec<&str> = lines.iter().map(|(form, _)| form.name.as_str()).collect();
                let (cpu, figures) = parse(&output, &names)?;
                model.name = named(program, &cpu, asked_cpu.is_none());
                model.figures.extend(
                    figures
                        .into_iter()
                        .filter(|one| !(one.quantity == Quantity::Latency && stores(&one.form))),
                );
                return Ok(true);
            }
            Ran::Endless => return Ok(false),
            Ran::Refused(refused) if refused.iter().any(|at| *at < lines.len()) => {
                let mut at = 0;
                lines.retain(|_| (!refused.contains(&at), at += 1).0);
                if lines.is_empty() {
                    return Ok(true);
                }
            }
            Ran::Refused(_) => return Err(format!("{program} cannot read its input")),
        }
    }
}

/// What LLVM calls a CPU that it does not know: its model is an average of old ones.
const NONE: &str = "generic";

/// The name of a model. LLVM goes by the model number of this CPU, which a virtual machine may hide
/// behind that of another one.
fn named(program: &str, cpu: &str, is_guessed: bool) -> String {
    let guessed = match is_guessed {
        true if cpu == NONE => {
            " (NO MODEL OF THIS CPU, which this version does not know; llvm:CPU names one that it \
             knows)"
        }
        true => " (taken for this CPU; llvm:CPU names another)",
        false => "",
    };
    format!("{program} -mcpu={cpu}{guessed}")
}

/// The CPU that a request names, as `llvm:CPU`; `None` for the one that this runs on.
///
/// # Errors
/// An empty name: with it the program fails without a message.
pub fn named_cpu(source: &str) -> Result<Option<&str>, String> {
    match source.split_once(':') {
        Some((_, cpu)) if cpu.trim().is_empty() => Err(format!(
            "`{source}` names no CPU: give one that LLVM knows, such as llvm:znver4, or llvm alone \
             for this CPU"
        )),
        named => Ok(named.map(|(_, cpu)| cpu)),
    }
}

/// Whether a source is a model of LLVM, and not a file.
pub fn is_llvm(source: &str) -> bool {
    source.split(':').next() == Some("llvm")
}

/// The instruction in Intel syntax.
fn assembly(form: &Form) -> String {
    let number = |at: u8, file: File| match file {
        File::Mask => at + 1,
        // The place that the register points to.
        File::Memory => 8,
        _ => at + 8,
    };
    let numbers: Vec<u8> =
        (0u8..).zip(&form.operands).map(|(at, operand)| number(at, operand.file)).collect();
    let mut formatter = IntelFormatter::new();
    if form.memory().is_some() {
        formatter.options_mut().set_memory_size_options(MemorySizeOptions::Always);
    }
    formatter.options_mut().set_hex_prefix("0x");
    formatter.options_mut().set_hex_suffix("");
    let mut text = String::new();
    formatter.format(&form.place(&numbers), &mut text);
    text
}

enum Ran {
    Done(String),
    /// Indexes of the instructions that the assembler does not know.
    Refused(Vec<usize>),
    /// It was ended because it took too long.
    Endless,
}

fn run(program: &str, cpu: Option<&str>, lines: &[(&Form, String)]) -> Result<Ran, String> {
    /// Lines before the first instruction.
    const HEAD: &str = ".intel_syntax noprefix\n";
    let text: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
    let options = ["-iterations=1", "-instruction-info", "-json"];
    let Ended::Done(status, output, errors) =
        execute(program, cpu, &options, &format!("{HEAD}{text}"))?
    else {
        return Ok(Ran::Endless);
    };
    let refused: Vec<usize> =
        errors.lines().filter_map(refused_line).filter_map(|line| line.checked_sub(2)).collect();
    if !refused.is_empty() {
        return Ok(Ran::Refused(refused));
    }
    if !status.success() {
        return Err(format!(
            "{program}: {}",
            errors.lines().next().unwrap_or("it failed without a message")
        ));
    }
    Ok(Ran::Done(output))
}

/// The line number in a message such as `<stdin>:7:1: error: invalid instruction`.
fn refused_line(message: &str) -> Option<usize> {
    let (place, _) = message.split_once(": error:")?;
    let mut parts = place.rsplit(':');
    let _column = parts.next()?;
    parts.next()?.parse().ok()
}

/// The CPU and the figures in the program's JSON document.
fn parse(text: &str, names: &[&str]) -> Result<(String, Vec<Figure>), String> {
    let unreadable = || "the output of llvm-mca has no list of instructions".to_owned();
    // Older versions write warnings before the document.
    let start = text.find('{').ok_or_else(unreadable)?;
    let document: Value = serde_json::from_str(&text[start..])
        .map_err(|error| format!("the output of llvm-mca: {error}"))?;
    let list = document["CodeRegions"][0]["InstructionInfoView"]["InstructionList"]
        .as_array()
        .ok_or_else(unreadable)?;
    let cpu = document["TargetInfo"]["CPUName"].as_str().unwrap_or("native").to_owned();
    let mut figures = Vec::new();
    for entry in list {
        let Some(name) = entry["Instruction"].as_u64().and_then(|at| names.get(at as usize)) else {
            continue;
        };
        for (quantity, key) in
            [(Quantity::Latency, "Latency"), (Quantity::Throughput, "RThroughput")]
        {
            if let Some(cycles) = entry[key].as_f64() {
                figures.push(Figure { form: (*name).to_owned(), quantity, cycles });
            }
        }
    }
    Ok((cpu, figures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::all;

    #[test]
    fn forms_are_written_as_the_assembler_reads_them() {
        let written =
            |name: &str| assembly(&all().into_iter().find(|form| form.name == name).unwrap());
        assert_eq!(written("add r64, r64"), "add r8,r9");
        assert_eq!(written("lea r64, [r64+r64*8+i8]"), "lea r8,[r9+r10*8+0x10]");
        assert_eq!(written("shl r64, cl"), "shl r8,cl");
        assert_eq!(written("mov r64, m64"), "mov r8,qword ptr [r9]");
        assert_eq!(written("inc m64"), "inc qword ptr [r8]");
        assert_eq!(written("vaddpd ymm, ymm, m256"), "vaddpd ymm8,ymm9,ymmword ptr [r10]");
        assert_eq!(written("vpternlogd zmm, zmm, zmm, imm8"), "vpternlogd zmm8,zmm9,zmm10,0x96");
    }

    #[test]
    fn a_cpu_without_a_name_is_refused() {
        assert_eq!((named_cpu("llvm"), named_cpu("llvm:znver4")), (Ok(None), Ok(Some("znver4"))));
        assert!(
            named_cpu("llvm:").is_err_and(|error| error.contains("names no CPU"))
                && named_cpu("llvm: ").is_err()
        );
        assert!(
            is_llvm("llvm") && is_llvm("llvm:") && !is_llvm("llvm.csv") && !is_llvm("table:llvm")
        );
    }

    #[test]
    fn the_document_of_the_program_is_read() {
        let text = r#"warning: something
{"CodeRegions":[{"InstructionInfoView":{"InstructionList":[{"Instruction":0,"Latency":1,"RThroughput":0.25},
{"Instruction":1,"Latency":4}]}}],"TargetInfo":{"CPUName":"znver4"}}"#;
        let (cpu, figures) = parse(text, &["add r64, r64", "mulsd xmm, xmm"]).unwrap();
        let spelled: Vec<(&str, Quantity, f64)> =
            figures.iter().map(|one| (one.form.as_str(), one.quantity, one.cycles)).collect();
        let latency = Quantity::Latency;
        assert_eq!(
            (cpu.as_str(), spelled),
            (
                "znver4",
                vec![
                    ("add r64, r64", latency, 1.0),
                    ("add r64, r64", Quantity::Throughput, 0.25),
                    ("mulsd xmm, xmm", latency, 4.0)
                ]
            )
        );
        assert!(
            parse("no document", &[]).is_err()
                && parse("{}", &[]).is_err()
                && parse("{", &[]).is_err()
        );
        assert_eq!(named("llvm-mca", &cpu, false), "llvm-mca -mcpu=znver4");
        assert!(named("llvm-mca", &cpu, true).contains("llvm:CPU"));
        assert!(
            named("llvm-mca", "generic", true).contains("NO MODEL OF THIS CPU"),
            "it was taken for want of a better one"
        );
        assert_eq!(
            named("llvm-mca", "generic", false),
            "llvm-mca -mcpu=generic",
            "it was asked for"
        );
        assert_eq!(refused_line("<stdin>:7:1: error: invalid instruction mnemonic 'foo'"), Some(7));
        assert_eq!((refused_line("foo r8"), refused_line("x: error: y")), (None, None));
    }
}
