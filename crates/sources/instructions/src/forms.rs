//! The forms of all sets, and the choice of them by name, set and extension.

use crate::form::{Form, Shape};
use crate::table::{SAME_REGISTER, SETS};
use iced_x86::Code;

/// Addresses of the instruction that only computes them.
const ADDRESSES: [(Option<u8>, i8); 5] =
    [(None, 16), (Some(1), 0), (Some(8), 0), (Some(1), 16), (Some(8), 16)];

/// All forms, in the order of the table.
pub fn all() -> Vec<Form> {
    let mut forms = Vec::new();
    for set in SETS {
        let add =
            |forms: &mut Vec<Form>, code, shape| forms.extend(Form::new(code, shape, set.name));
        for code in set.codes {
            add(&mut forms, *code, set.shape);
            if set.shape == Shape::Registers && SAME_REGISTER.contains(code) {
                add(&mut forms, *code, Shape::Same);
            }
        }
        if set.name == "integer" {
            for (scale, displacement) in ADDRESSES {
                add(&mut forms, Code::Lea_r64_m, Shape::Address { scale, displacement });
            }
        }
    }
    forms
}

/// Forms that users want.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Patterns of names, such as `add*` or `vaddpd ymm*`; none means all names.
    pub names: Vec<String>,
    /// Names of sets; none means those that are measured by default, or all if there are patterns.
    pub sets: Vec<String>,
    /// Extensions, such as `avx2`; none means all.
    pub extensions: Vec<String>,
}

/// The forms that are wanted, in the order of the table.
///
/// # Errors
/// A set that does not exist, or a pattern or an extension that fits no form.
pub fn choose(wanted_forms: &Wanted) -> Result<Vec<Form>, String> {
    if let Some(unknown) = wanted_forms
        .sets
        .iter()
        .find(|name| *name != "all" && !SETS.iter().any(|set| set.name == **name))
    {
        let names: Vec<&str> = SETS.iter().map(|set| set.name).collect();
        return Err(format!("there is no set `{unknown}`; the sets are all, {}", names.join(", ")));
    }
    let in_sets: Vec<Form> =
        all().into_iter().filter(|form| wanted_forms.has_set(form.set)).collect();
    for pattern in &wanted_forms.names {
        if !in_sets.iter().any(|form| fits(pattern, &form.name)) {
            return Err(no_form(pattern, wanted_forms));
        }
    }
    for extension in &wanted_forms.extensions {
        if !in_sets.iter().any(|form| has_extension(form, extension)) {
            let mut known_extensions: Vec<String> = in_sets.iter().map(Form::extension).collect();
            known_extensions.sort();
            known_extensions.dedup();
            let of = if wanted_forms.sets.is_empty() {
                "the extensions are"
            } else {
                "the extensions of the chosen sets are"
            };
            return Err(format!(
                "no form belongs to the extension `{extension}`; {of} {}",
                known_extensions.join(", ")
            ));
        }
    }
    let forms = in_sets.into_iter().filter(|form| {
        let named = wanted_forms.names.is_empty()
            || wanted_forms.names.iter().any(|pattern| fits(pattern, &form.name));
        named
            && (wanted_forms.extensions.is_empty()
                || wanted_forms.extensions.iter().any(|extension| has_extension(form, extension)))
    });
    Ok(forms.collect())
}

/// Why a pattern fits no form, and what to write instead.
fn no_form(pattern: &str, wanted_forms: &Wanted) -> String {
    let set = SETS.iter().find(|set| set.name.eq_ignore_ascii_case(pattern));
    let elsewhere = all().iter().find(|form| fits(pattern, &form.name)).map(|form| form.set);
    match (set, elsewhere) {
        (Some(set), _) => {
            format!("no form is called `{pattern}`, but a set is: --set {}", set.name)
        }
        (None, Some(other)) => format!(
            "no form of the sets {} is called `{pattern}`; one is in the set {other}",
            wanted_forms.sets.join(", ")
        ),
        (None, None) => format!(
            "no form is called `{pattern}`; list them (--list), or write * for any text: add*"
        ),
    }
}

impl Wanted {
    fn has_set(&self, name: &str) -> bool {
        let is_default = SETS.iter().any(|set| set.name == name && set.is_default);
        match self.sets.as_slice() {
            [] => is_default || !self.names.is_empty() || !self.extensions.is_empty(),
            sets => sets.iter().any(|set| set == "all" || set == name),
        }
    }
}

fn has_extension(form: &Form, extension: &str) -> bool {
    form.extension().split('+').any(|part| part.eq_ignore_ascii_case(extension))
}

/// Whether a pattern with `*` for any text fits a name. Upper case, and what separates words, make
/// no difference, so that `ADD_R64_R64` fits `add r64, r64`. A pattern of one word fits every form
/// of that mnemonic.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (words(pattern), words(name));
    matches(&pattern, &name)
        || !pattern.contains(' ') && matches(&pattern, name.split(' ').next().unwrap_or_default())
}

/// A name as words in lower case with single blanks between them; `imm` is `i`, as in published
/// tables.
pub fn words(name: &str) -> String {
    let lower = name.to_lowercase().replace("imm", "i");
    let separated: String = lower
        .chars()
        .map(|c| if c.is_alphanumeric() || "*[]+".contains(c) { c } else { ' ' })
        .collect();
    separated.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Whether a text fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let (between, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in between.split('*') {
        // The first place is as good as a later one: it leaves more text for what follows.
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::encode;
    use crate::register::File;
    use std::collections::HashSet;

    #[test]
    fn every_code_of_the_table_is_a_form_with_its_own_name() {
        let forms = all();
        let codes: usize = SETS.iter().map(|set| set.codes.len()).sum();
        assert_eq!(forms.len(), codes + SAME_REGISTER.len() + ADDRESSES.len());
        let names: HashSet<&str> = forms.iter().map(|form| form.name.as_str()).collect();
        let mut seen_names = HashSet::new();
        let twice: Vec<&str> = forms
            .iter()
            .map(|form| form.name.as_str())
            .filter(|name| !seen_names.insert(*name))
            .collect();
        assert_eq!(names.len(), forms.len(), "{twice:?}");
        assert!(
            names.contains("add r64, r64")
                && names.contains("shl r64, cl")
                && names.contains("lea r64, [r64+r64*8+i8]")
        );
    }

    #[test]
    fn every_form_encodes_and_is_decoded_as_itself() {
        for form in all() {
            let numbers: Vec<u8> = form
                .operands
                .iter()
                .map(|operand| if operand.file == File::Mask { 1 } else { 9 })
                .collect();
            encode(&[form.place(&numbers)])
                .unwrap_or_else(|error| panic!("{}: {error}", form.name));
        }
        let wrong = iced_x86::Instruction::default();
        assert!(encode(&[wrong]).is_err());
    }

    #[test]
    fn operands_are_read_and_written_as_the_instruction_does() {
        let form = |name: &str| all().into_iter().find(|form| form.name == name).unwrap();
        let spelled = |name: &str| -> Vec<String> {
            let access = |reads, writes| {
                if reads && writes {
                    "rw"
                } else if reads {
                    "r"
                } else if writes {
                    "w"
                } else {
                    "-"
                }
            };
            form(name)
                .operands
                .iter()
                .map(|one| format!("{} {}", one.label, access(one.reads, one.writes)))
                .collect()
        };
        assert_eq!(spelled("add r64, r64"), ["1 rw", "2 r", "flags w"]);
        assert_eq!(spelled("adc r64, r64"), ["1 rw", "2 r", "flags rw"]);
        assert_eq!(spelled("imul r64, r64, imm8"), ["1 w", "2 r", "flags w"]);
        assert_eq!(spelled("lea r64, [r64+r64]"), ["1 w", "base r", "index r"]);
        assert_eq!(spelled("vaddpd ymm, ymm, ymm"), ["1 w", "2 r", "3 r"]);
        assert_eq!(spelled("vfmadd231pd ymm, ymm, ymm"), ["1 rw", "2 r", "3 r"]);
        assert_eq!(spelled("cmp r64, r64"), ["1 r", "2 r", "flags w"]);
        assert_eq!(spelled("mov r64, m64"), ["1 w", "base r", "m r"]);
        assert_eq!(spelled("mov m64, r64"), ["base r", "m w", "2 r"]);
        assert_eq!(spelled("add m64, r64"), ["base r", "m rw", "2 r", "flags w"]);
        assert_eq!(spelled("movsd xmm, m64"), ["1 w", "base r", "m r"]);
        assert_eq!(spelled("vfmadd231pd ymm, ymm, m256"), ["1 rw", "2 r", "base r", "m r"]);
        let divide: HashSet<String> = spelled("div r64").into_iter().collect();
        assert!(
            ["1 r", "rax rw", "rdx rw", "flags w"].iter().all(|one| divide.contains(*one)),
            "{divide:?}"
        );
        assert!(spelled("cmovb r64, r64").contains(&"flags r".to_owned()));
    }

    #[test]
    fn names_fit_in_the_spelling_of_published_tables() {
        assert!(
            fits("ADD_R64_R64", "add r64, r64")
                && fits("add", "add r32, r32")
                && fits("add r64*", "add r64, imm8")
        );
        assert!(fits("ADD_R64_I8", "add r64, imm8") && fits("*ymm", "vaddpd ymm, ymm, ymm"));
        assert!(
            !fits("add", "adc r64, r64")
                && !fits("add r64", "add r64, r64")
                && !fits("", "add r64, r64")
        );
        assert!(
            fits("a*d*r64", "add r64, r64")
                && fits("**", "nop")
                && !fits("nop*op", "nop")
                && !fits("*b*x", "bsf r64, r64")
        );
        assert!(!fits(&"a*".repeat(1000), "add r64, r64"));
    }

    #[test]
    fn forms_are_chosen_and_unknown_names_are_refused() {
        let chosen = |names: &[&str], sets: &[&str], extensions: &[&str]| {
            let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
            choose(&Wanted {
                names: owned(names),
                sets: owned(sets),
                extensions: owned(extensions),
            })
        };
        assert!(
            chosen(&[], &[], &[])
                .unwrap()
                .iter()
                .all(|form| form.set != "avx512" && form.set != "memory512")
        );
        assert!(chosen(&["*m64*"], &[], &[]).unwrap().iter().all(|form| form.memory_bytes() == 8));
        assert!(chosen(&["kandw*"], &[], &[]).unwrap().len() == 1);
        assert!(chosen(&[], &["fma"], &[]).unwrap().iter().all(|form| form.set == "fma"));
        assert!(
            chosen(&[], &[], &["BMI2"]).unwrap().iter().any(|form| form.name.starts_with("pdep"))
        );
        assert_eq!(chosen(&[], &["all"], &[]).unwrap().len(), all().len());
        assert!(chosen(&["no such"], &[], &[]).unwrap_err().contains("--list"));
        assert!(chosen(&[], &["x"], &[]).unwrap_err().contains("avx512"));
        assert!(chosen(&[], &[], &["x"]).unwrap_err().contains("bmi2"));
        assert!(chosen(&["add"], &["fma"], &[]).unwrap_err().contains("in the set integer"));
        assert!(chosen(&["FMA"], &[], &[]).unwrap_err().contains("--set fma"));
        assert!(
            chosen(&[], &["avx"], &["bmi2"])
                .unwrap_err()
                .contains("of the chosen sets are avx, f16c")
        );
    }
}
