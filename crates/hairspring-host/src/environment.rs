//! The description of this machine.

use hairspring_core::machine::Machine;

/// Reads the description of this machine from the system.
pub fn machine() -> Machine {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kernel = nix::sys::utsname::uname().map(|name| {
        format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
    });
    Machine {
        cpu_model: field(&cpuinfo, "model name").unwrap_or("unknown").to_owned(),
        family: family(&cpuinfo),
        // All online CPUs, even if this thread is bound to one.
        cpus: nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN)
            .ok()
            .flatten()
            .map_or(1, |cpus| cpus as usize),
        architecture: std::env::consts::ARCH.to_owned(),
        system: kernel.unwrap_or_else(|_| std::env::consts::OS.to_owned()),
        hypervisor: field(&cpuinfo, "flags")
            .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
    }
}

/// The first value of this name in `/proc/cpuinfo`.
fn field<'c>(cpuinfo: &'c str, name: &str) -> Option<&'c str> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.into_iter().find(|(own, _)| own.trim() == name).map(|(_, value)| value.trim())
}

/// The family of the cores by their numbers: family and model on x86, implementer and part of the
/// first CPU on ARM.
fn family(cpuinfo: &str) -> Option<String> {
    let both = |one, two| Some(format!("{}-{}", field(cpuinfo, one)?, field(cpuinfo, two)?));
    both("cpu family", "model").or_else(|| both("CPU implementer", "CPU part"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_is_that_of_the_numbers_and_not_of_the_name() {
        let x86 = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Some(R) CPU: 3\n";
        assert_eq!(family(x86).as_deref(), Some("6-207"));
        assert_eq!(field(x86, "model name"), Some("Some(R) CPU: 3"));
        let arm = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n";
        assert_eq!(family(arm).as_deref(), Some("0x41-0xd0c"));
        assert_eq!((family("uarch: sifive"), family("")), (None, None));
    }
}
