//! Machines and their families.

use super::names::{Name, Names};
use crate::document::{Cpu, Environment};
use std::collections::HashMap;

/// A family of cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FamilyKey {
    /// Architecture.
    pub architecture: Name,
    /// Numbers of the family, or the model name.
    pub name: Name,
    /// Whether it is a model name.
    pub by_model: bool,
}

/// A machine.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Fingerprint of the machine.
    pub host: Option<Name>,
    /// Model name of its CPU.
    pub model: Option<Name>,
    /// Number of its family.
    pub family: u32,
    /// Its first document.
    pub document: u32,
}

/// All machines with their families.
#[derive(Debug, Default)]
pub struct Machines {
    numbers: HashMap<(Name, Name, usize), u32>,
    families: HashMap<FamilyKey, u32>,
    /// The machines.
    pub all: Vec<Machine>,
    /// The families.
    pub keys: Vec<FamilyKey>,
}

impl Machines {
    /// The machine of a document, which is new if the document does not name it. Also gives whether
    /// it names it: a document of observations from a file has the host that solved them.
    pub fn number(
        &mut self,
        environment: &Environment,
        document: u32,
        names: &mut Names,
    ) -> (u32, bool) {
        let cpu = environment.cpu.as_ref();
        let family = self.family(cpu, names);
        let host = names.number_of(environment.host());
        let model = names.number_of(cpu.map(|cpu| cpu.model.as_str()));
        let new = Machine { host, model, family, document };
        let (Some(cpu), Some(host), Some(model)) = (cpu, host, model) else {
            self.all.push(Machine { host: None, ..new });
            return (self.all.len() as u32 - 1, false);
        };
        let Machines { numbers, all, keys, .. } = self;
        let number = *numbers.entry((host, model, cpu.cpus)).or_insert_with(|| {
            all.push(new);
            all.len() as u32 - 1
        });
        // A later document of the machine may have the numbers of its family.
        let known = &mut all[number as usize];
        if keys[known.family as usize].by_model {
            known.family = family;
        }
        (number, true)
    }

    fn family(&mut self, cpu: Option<&Cpu>, names: &mut Names) -> u32 {
        let number = cpu.and_then(|cpu| cpu.family.as_deref());
        let name = number.or_else(|| cpu.map(|cpu| cpu.model.as_str())).unwrap_or("unknown");
        let architecture = cpu.map_or("unknown", |cpu| cpu.architecture.as_str());
        let key = FamilyKey {
            architecture: names.number(architecture),
            name: names.number(name),
            by_model: number.is_none(),
        };
        let Machines { families, keys, .. } = self;
        *families.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        })
    }

    /// The family of a machine.
    pub fn family_of(&self, machine: u32) -> u32 {
        self.all[machine as usize].family
    }

    /// The machines of each family.
    pub fn of_families(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new(); self.keys.len()];
        for (at, machine) in self.all.iter().enumerate() {
            all[machine.family as usize].push(at as u32);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;
    use std::time::SystemTime;

    fn environment(host: Option<&str>, cpu: Option<(&str, Option<&str>)>) -> Environment {
        Environment {
            identity: Some(Identity::new(SystemTime::UNIX_EPOCH, host.map(str::to_owned), None)),
            cpu: cpu.map(|(model, family)| Cpu {
                model: model.into(),
                family: family.map(str::to_owned),
                cpus: 2,
                architecture: "x86_64".into(),
                hypervisor: false,
            }),
            ..Environment::default()
        }
    }

    #[test]
    fn a_machine_is_its_host_and_cpu() {
        let (mut machines, mut names) = (Machines::default(), Names::default());
        let mut number = |host, cpu| machines.number(&environment(host, cpu), 0, &mut names);
        let (old, new) = (Some(("Masked", None)), Some(("Masked", Some("6-207"))));
        assert_eq!(number(Some("a"), old), (0, true));
        assert_eq!(number(Some("b"), new), (1, true));
        assert_eq!(number(Some("a"), new), (0, true));
        assert_eq!(number(Some("a"), old), (0, true));
        assert_eq!(number(None, new), (2, false));
        assert_eq!(number(Some("a"), None), (3, false));
        let families: Vec<&str> = machines.keys.iter().map(|key| names.text(key.name)).collect();
        assert_eq!(families, ["Masked", "6-207", "unknown"]);
        assert_eq!(machines.of_families(), [vec![], vec![0, 1, 2], vec![3]]);
    }
}
