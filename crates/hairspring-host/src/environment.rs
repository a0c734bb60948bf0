//! The description of this machine.

use hairspring_core::machine::Machine;

/// Reads the description of this machine from the system.
pub fn machine() -> Machine {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        cpuinfo
            .lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
    };
    let kernel = nix::sys::utsname::uname().map(|name| {
        format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
    });
    Machine {
        cpu_model: field("model name").unwrap_or_else(|| "unknown".into()),
        // All online CPUs, even if this thread is bound to one.
        cpus: nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN)
            .ok()
            .flatten()
            .map_or(1, |cpus| cpus as usize),
        architecture: std::env::consts::ARCH.to_owned(),
        system: kernel.unwrap_or_else(|_| std::env::consts::OS.to_owned()),
        hypervisor: field("flags")
            .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
    }
}
