//! Whether this CPU supports a form.

use crate::form::Form;
use iced_x86::CpuidFeature;

/// The features of this CPU as the operating system allows them.
#[derive(Debug, Clone)]
pub struct Features(Vec<String>);

impl Features {
    /// Those of this machine; empty where the system does not list them.
    pub fn here() -> Features {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("flags"));
        Features::new(line.and_then(|line| line.split_once(':')).map_or("", |(_, names)| names))
    }

    /// From the system's names with blanks between them.
    pub fn new(names: &str) -> Features {
        Features(names.split_whitespace().map(plain).collect())
    }

    /// Names of the features that a form needs and the CPU lacks.
    pub fn lacking(&self, form: &Form) -> Vec<String> {
        let lacking = form.features().iter().filter(|feature| !self.has(**feature));
        lacking.map(|feature| format!("{feature:?}").to_lowercase()).collect()
    }

    fn has(&self, feature: CpuidFeature) -> bool {
        let name = match feature {
            CpuidFeature::INTEL8086
            | CpuidFeature::INTEL186
            | CpuidFeature::INTEL286
            | CpuidFeature::INTEL386
            | CpuidFeature::INTEL486
            | CpuidFeature::MULTIBYTENOP
            | CpuidFeature::X64 => "lm".to_owned(),
            CpuidFeature::SSE3 => "pni".to_owned(),
            CpuidFeature::LZCNT => "abm".to_owned(),
            CpuidFeature::SHA => "shani".to_owned(),
            other => plain(&format!("{other:?}")),
        };
        self.0.contains(&name)
    }
}

/// A name in lower case without underscores, which the system and the decoder library set in
/// different places.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::all;

    #[test]
    fn forms_that_the_cpu_lacks_are_named() {
        let old = Features::new("fpu lm cmov sse sse2");
        let lacking =
            |name: &str| old.lacking(&all().into_iter().find(|form| form.name == name).unwrap());
        assert!(lacking("add r64, r64").is_empty() && lacking("addpd xmm, xmm").is_empty());
        assert_eq!(lacking("pshufb xmm, xmm"), ["ssse3"]);
        assert!(lacking("vaddpd ymm, ymm, ymm").contains(&"avx".to_owned()));
    }

    #[test]
    fn a_server_of_2023_has_all_forms() {
        let flags = "lm cmov mmx sse sse2 pni ssse3 sse4_1 sse4_2 popcnt abm bmi1 bmi2 adx aes \
                     pclmulqdq sha_ni gfni vaes vpclmulqdq f16c fma avx avx2 avx_vnni avx512f \
                     avx512vl avx512bw avx512dq avx512cd avx512ifma avx512vbmi avx512_vbmi2 \
                     avx512_vnni avx512_bitalg avx512_vpopcntdq avx512_bf16 avx512_fp16 lahf_lm \
                     fxsr";
        let features = Features::new(flags);
        let lacking: Vec<(String, Vec<String>)> = all()
            .iter()
            .map(|form| (form.name.clone(), features.lacking(form)))
            .filter(|(_, lacking)| !lacking.is_empty())
            .collect();
        assert_eq!(lacking, []);
    }
}
