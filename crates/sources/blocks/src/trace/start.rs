//! Starts a program with an input, and stops it at the first instruction of the function.

use super::crowd::Crowd;
use super::follow::Begin;
use super::maps::{Mapping, entry_point, of_process};
use super::process::{BREAKPOINT, Process, Resume, Stop};
use super::replay::Translations;
use super::watchdog::Watchdog;
use crate::binary::{Code, Function, Image};
use crate::error::{Error, Result};
use crate::inputs::Input;
use hairspring_core::alike::alike;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The function in a running program.
#[derive(Debug, Clone)]
pub struct Target {
    /// The function by the addresses of its file.
    pub function: Function,
    /// Its code at the addresses where it runs.
    pub code: Code,
    /// Offset from addresses of the file to addresses in memory.
    pub bias: u64,
    /// Whether the function may have data among its instructions.
    pub has_data: bool,
}

impl Target {
    /// A function with its code at the addresses where it runs.
    pub fn new(function: Function, code: Code, bias: u64) -> Target {
        let has_data = code.has_data(function.entry.wrapping_add(bias));
        Target { function, code, bias, has_data }
    }

    /// The entry, where calls begin.
    pub fn entry(&self) -> u64 {
        self.function.entry.wrapping_add(self.bias)
    }

    /// The same function in a process that has it elsewhere.
    #[must_use]
    pub fn moved_to(&self, bias: u64) -> Target {
        let moved = |address: u64| address.wrapping_sub(self.bias).wrapping_add(bias);
        let parts =
            self.code.parts().iter().map(|(start, bytes)| (moved(*start), bytes.clone())).collect();
        Target {
            function: self.function.clone(),
            code: Code::new(parts),
            bias,
            has_data: self.has_data,
        }
    }
}

/// The state shared by all inputs.
#[derive(Debug)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// The folder of files with names and lines.
    debug_files: PathBuf,
    /// The requested function.
    pub wanted: String,
    /// CPU to run on.
    pub cpu: usize,
    /// Longest time of one step.
    pub timeout: Duration,
    /// Kills a process that takes longer.
    pub watchdog: Watchdog,
    /// Instrumented copies of the function.
    pub translations: Translations,
    images: HashMap<PathBuf, Rc<Image>>,
    /// The function found for an earlier input: searching all names again for every input would
    /// take long.
    located: Option<(Rc<Image>, Function)>,
}

/// A process that is stopped at the function.
#[derive(Debug)]
pub struct Started {
    /// The process.
    pub process: Process,
    /// The function in it.
    pub target: Target,
    /// Where its call begins.
    pub begin: Begin,
}

impl Program {
    /// A program whose function is given by name or by address.
    ///
    /// # Errors
    /// A program that cannot be traced.
    pub fn new(
        path: &Path,
        debug_files: &Path,
        wanted_name: &str,
        cpu: usize,
        timeout: Duration,
    ) -> Result<Program> {
        let (path, wanted_name, watchdog) =
            (path.to_owned(), wanted_name.to_owned(), Watchdog::start());
        let debug_files = debug_files.to_owned();
        let (translations, images) = (Translations::default(), HashMap::new());
        let mut program = Program {
            path: path.clone(),
            debug_files,
            wanted: wanted_name,
            cpu,
            timeout,
            watchdog,
            translations,
            images,
            located: None,
        };
        program.image(&path)?;
        Ok(program)
    }

    fn image(&mut self, path: &Path) -> Result<Rc<Image>> {
        if let Some(known_image) = self.images.get(path) {
            return Ok(known_image.clone());
        }
        let image = Rc::new(Image::open(path, &self.debug_files)?);
        self.images.insert(path.to_owned(), image.clone());
        Ok(image)
    }

    /// The deadline of a step that begins now, for a process.
    pub fn deadline(&self, process: &Process) {
        self.deadline_after(process, self.timeout);
    }

    /// The deadline of a step that begins now and has a limit of its own.
    pub fn deadline_after(&self, process: &Process, limit: Duration) {
        self.watchdog.watch(Some((process.members.clone(), Instant::now() + limit)));
    }

    /// The error of a failed step: a timeout if the watchdog killed the process, else `error`.
    pub fn explain(&self, step: &str, error: Error) -> Error {
        match self.watchdog.expired() {
            true => Error::system(
                step,
                format!("not finished after {} s (--timeout)", self.timeout.as_secs_f64()),
            ),
            false => error,
        }
    }

    /// The function, in the program or in a library that it has loaded; `None` if it is in neither.
    fn locate(&mut self, mappings: &[Mapping]) -> Result<Option<(Rc<Image>, Function)>> {
        let is_loaded =
            |image: &Image| image.path == self.path || loaded_files(mappings).contains(&image.path);
        if let Some(known_place) = self.located.as_ref().filter(|(image, _)| is_loaded(image)) {
            return Ok(Some(known_place.clone()));
        }
        let path = self.path.clone();
        let program = self.image(&path)?;
        if let Some(address) = as_address(&self.wanted) {
            return Ok(Some((program.clone(), program.at(address)?)));
        }
        if let Some((file, address)) = self
            .wanted
            .rsplit_once(':')
            .and_then(|(file, address)| Some((file, as_address(address)?)))
        {
            let is_named = |path: &PathBuf| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(file))
            };
            let Some(path) = loaded_files(mappings).into_iter().find(is_named) else {
                return Ok(None);
            };
            let image = self.image(&path)?;
            let function = image.at(address)?;
            return Ok(Some((image, function)));
        }
        if let Some(function) = program.find(&self.wanted)? {
            return Ok(Some((program, function)));
        }
        for file in loaded_files(mappings) {
            let Ok(image) = self.image(&file) else { continue };
            if let Some(function) = image.find(&self.wanted)? {
                return Ok(Some((image, function)));
            }
        }
        Ok(None)
    }

    /// Whether the program or one of its libraries may load others while it runs.
    fn loads_later(&self) -> bool {
        self.images.values().any(|image| image.calls_for("dlopen") || image.calls_for("dlmopen"))
    }

    fn not_found(&self) -> Error {
        if self.located.is_some() {
            // Concerns this input only.
            return Error::system(
                "find the function",
                format!("no library that has `{}` was loaded", self.wanted),
            );
        }
        let libraries = self.images.len().saturating_sub(1);
        let Some(program) = self.images.get(&self.path) else {
            return Error::Function("the program was not read".into());
        };
        let mut near = program.similar(&self.wanted);
        near.extend(
            self.images
                .values()
                .filter(|image| image.path != self.path)
                .flat_map(|image| image.similar(&self.wanted)),
        );
        let mut seen_names = HashSet::new();
        near.retain(|name| seen_names.insert(name.clone()));
        // The nearest names of all files come first.
        let near = alike(&self.wanted, near);
        let hint = match (near.is_empty(), program.has_symbols()) {
            (_, false) => {
                "; the program is stripped: give the address of the function in place of its name, \
                 as 0x1149 (--list shows all), or install its debug symbols"
                    .to_owned()
            }
            (false, true) => format!("; there is {}", near[..near.len().min(5)].join(", ")),
            (true, true) => "; the compiler may have put it into its callers: compile with \
                             __attribute__((noinline))"
                .to_owned(),
        };
        let (program, wanted) = (self.path.display(), &self.wanted);
        Error::Function(format!(
            "no function `{wanted}` in {program} nor in the {libraries} libraries that it \
             loads{hint}"
        ))
    }
}

/// An address in place of a name.
fn as_address(wanted_name: &str) -> Option<u64> {
    u64::from_str_radix(
        wanted_name.strip_prefix("0x").or_else(|| wanted_name.strip_prefix("0X"))?,
        16,
    )
    .ok()
}

/// Files with mapped code.
fn loaded_files(mappings: &[Mapping]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        mappings.iter().filter(|mapping| mapping.executable).filter_map(Mapping::file).collect();
    files.dedup();
    files
}

/// Offset from the addresses of a file to addresses in memory.
fn bias(image: &Image, mappings: &[Mapping]) -> Result<u64> {
    const PAGE: u64 = 4095;
    let path = std::fs::canonicalize(&image.path).unwrap_or_else(|_| image.path.clone());
    let loads = image.loads()?;
    let of_file = mappings
        .iter()
        .filter(|mapping| mapping.executable && mapping.file().as_ref() == Some(&path));
    let found_bias = of_file.into_iter().find_map(|mapping| {
        let load = loads.iter().find(|(offset, size, _)| {
            offset & !PAGE <= mapping.offset && mapping.offset < offset + size
        })?;
        let address = (load.2 & !PAGE) + (mapping.offset - (load.0 & !PAGE));
        Some(mapping.range.start.wrapping_sub(address))
    });
    found_bias.ok_or_else(|| {
        Error::system(
            "find the function in the running program",
            format!("{} is not mapped", path.display()),
        )
    })
}

/// The program with an input, on its way from call to call.
#[derive(Debug)]
pub struct Journey {
    crowd: Crowd,
    /// The function in it.
    pub target: Target,
    /// The file that the function is in.
    pub image: Rc<Image>,
    /// Its memory map when the function was found.
    pub mappings: Vec<Mapping>,
    /// An address of code that runs no more, for system calls.
    pub from: u64,
    /// Calls that were reached.
    calls: u64,
    /// Where the last one begins.
    begin: Begin,
    /// Arrivals at a place inside of it.
    arrivals: u64,
    /// Whether it is at the next call, which the last one made of the function itself.
    at_next: bool,
    /// Whether it failed on the way to one, and cannot go on.
    pub failed: bool,
}

impl Journey {
    /// Starts the program, and runs it until the function is loaded.
    ///
    /// # Errors
    /// The function does not exist, or it is changed when the program starts.
    pub fn begin(program: &mut Program, input: &Input) -> Result<Journey> {
        let process =
            Process::start(&program.path, &input.arguments, input.stdin.as_deref(), program.cpu)?;
        program.deadline(&process);
        let journey = loaded(program, process)?;
        check_bytes(&journey.crowd.process, &journey.target)?;
        Ok(journey)
    }

    /// The thread that runs.
    pub fn process(&mut self) -> &mut Process {
        &mut self.crowd.process
    }

    /// Runs up to the next call of the function, and stops at its first instruction.
    ///
    /// # Errors
    /// The program ends before ([`Error::Ended`]), crashes, or replaces itself with another one.
    pub fn next_call(&mut self, program: &Program) -> Result<()> {
        program.deadline(&self.crowd.process);
        let (entry, name, number) =
            (self.target.entry(), &self.target.function.name, self.calls + 1);
        let has_others = !self.crowd.is_alone();
        let end_error = |how: String| {
            let hint = if has_others { IN_OTHERS } else { "" };
            Error::system(&format!("reach call {number} of `{name}`"), how + hint)
        };
        let original =
            self.target.code.byte(entry).ok_or_else(|| end_error("no byte there".into()))?;
        if !std::mem::take(&mut self.at_next) {
            if self.calls > 0 {
                self.crowd.step(&end_error)?;
            }
            if let Err(error) = self.crowd.run_to(&[(entry, original)], None, &end_error) {
                return Err(if self.crowd.exited { error.into_ended() } else { error });
            }
        }
        self.calls += 1;
        (self.begin, self.arrivals) = (Begin { at: entry, slot: self.crowd.process.stack()? }, 0);
        Ok(())
    }

    /// Runs on in the call up to the next arrival at a place in the function, which errors call by
    /// this name.
    ///
    /// # Errors
    /// The call ends before ([`Error::Ended`]), or the function calls itself.
    pub fn next_arrival(&mut self, program: &Program, place: u64, name: &str) -> Result<()> {
        program.deadline(&self.crowd.process);
        let number = self.arrivals + 1;
        let end_error = |how: String| {
            Error::system(&format!("reach arrival {number} at {name} in the call"), how)
        };
        let process = &mut self.crowd.process;
        let (mut back, mut under) = ([0u8; 8], [0u8]);
        if !process.read(self.begin.slot, &mut back)
            || !process.read(u64::from_ne_bytes(back), &mut under)
        {
            return Err(end_error("the return address cannot be read".into()));
        }
        let (back, entry) = (u64::from_ne_bytes(back), self.target.entry());
        let byte = |address: u64| {
            self.target.code.byte(address).ok_or_else(|| end_error("no byte there".into()))
        };
        let places = [(place, byte(place)?), (entry, byte(entry)?), (back, under[0])];
        loop {
            let at = self.crowd.step_to(&places, &end_error).inspect_err(|_| self.failed = true)?;
            match at {
                at if at == place => break,
                // A jump to the entry, the head of a loop there, leaves the stack as it is.
                at if at == entry && self.crowd.process.stack()? != self.begin.slot => {
                    self.at_next = true;
                    return Err(end_error(
                        "the function calls itself before, and a part of such a call cannot be \
                         told from another"
                            .into(),
                    ));
                }
                _ if self.crowd.process.stack()? == self.begin.slot.wrapping_add(8) => {
                    return Err(end_error("the call ends before".into()).into_ended());
                }
                _ => {}
            }
        }
        (self.begin.at, self.arrivals) = (place, number);
        Ok(())
    }

    /// A copy of the process where it is stopped; the journey can go on.
    ///
    /// # Errors
    /// The system's error.
    pub fn copy(&mut self) -> Result<Started> {
        let process = self.crowd.process.fork(self.from)?;
        Ok(Started { process, target: self.target.clone(), begin: self.begin })
    }

    /// The process where it is stopped. Its other threads and processes end.
    ///
    /// # Errors
    /// The system's error.
    pub fn end(self) -> Result<Started> {
        Ok(Started {
            process: self.crowd.into_process(self.from)?,
            target: self.target,
            begin: self.begin,
        })
    }
}

/// Runs the loader, and finds the function.
fn loaded(program: &mut Program, mut process: Process) -> Result<Journey> {
    let start = entry_point(process.id())?;
    let mut original = [0u8];
    if !process.read(start, &mut original) {
        return Err(Error::system(
            "start the program",
            "its memory cannot be read (process_vm_readv; some containers and sandboxes forbid it)",
        ));
    }
    process.poke(start, &[BREAKPOINT])?;
    match process.run(Resume::Run)? {
        Stop::Trap => {}
        Stop::Exited(code) => {
            return Err(Error::system(
                "start the program",
                format!("the loader ended it with status {code}: a library is missing?"),
            ));
        }
        Stop::Signal(signal) | Stop::Killed(signal) => {
            return Err(Error::system(
                "start the program",
                format!("{signal} before its first instruction: is it a library?"),
            ));
        }
        _ => {
            return Err(Error::system(
                "start the program",
                "it did something else before its first instruction",
            ));
        }
    }
    process.poke(start, &original)?;
    process.go_to(start)?;
    let mut crowd = Crowd::new(process);
    let (image, function, mappings) = find(program, &mut crowd)?;
    program.located = Some((image.clone(), function.clone()));
    let bias = bias(&image, &mappings)?;
    let mut parts = Vec::new();
    for range in &function.ranges {
        parts.push((range.start.wrapping_add(bias), image.bytes(range)?));
    }
    Ok(Journey {
        crowd,
        target: Target::new(function, Code::new(parts), bias),
        image,
        mappings,
        from: start,
        calls: 0,
        begin: Begin { at: 0, slot: 0 },
        arrivals: 0,
        at_next: false,
        failed: false,
    })
}

/// The function, once a library that has it is loaded.
fn find(program: &mut Program, crowd: &mut Crowd) -> Result<(Rc<Image>, Function, Vec<Mapping>)> {
    let mut mappings = of_process(crowd.process.id())?;
    let mut hook = None;
    loop {
        if let Some((image, function)) = program.locate(&mappings)? {
            return Ok((image, function, mappings));
        }
        if hook.is_none() && program.loads_later() {
            let image = program.image(&program.path.clone())?;
            hook = bias(&image, &mappings)
                .ok()
                .and_then(|bias| loader_hook(&crowd.process, image.dynamic()?.wrapping_add(bias)));
        }
        let Some(hook) = hook else { return Err(program.not_found()) };
        // The program ended without loading it.
        let end_error = |_| program.not_found();
        if crowd.process.instruction()? == hook {
            crowd.step(&end_error)?;
        }
        let mut original = [0u8];
        crowd.process.read(hook, &mut original);
        crowd.run_to(&[(hook, original[0])], None, &end_error)?;
        mappings = of_process(crowd.process.id())?;
    }
}

/// The function of the loader that it calls whenever it has loaded something, for debuggers:
/// `r_brk` of `struct r_debug`, whose address the loader writes into the program's dynamic section,
/// entry `DT_DEBUG` (link.h).
fn loader_hook(process: &Process, dynamic: u64) -> Option<u64> {
    const MOST_ENTRIES: u64 = 256;
    const DT_NULL: u64 = 0;
    const DT_DEBUG: u64 = 21;
    const R_BRK: u64 = 16;
    let word = |address: u64| {
        let mut bytes = [0u8; 8];
        process.read(address, &mut bytes).then_some(u64::from_ne_bytes(bytes))
    };
    let entries = (0..MOST_ENTRIES)
        .map_while(|at| Some((word(dynamic + 16 * at)?, word(dynamic + 16 * at + 8)?)));
    let debug = entries
        .take_while(|(kind, _)| *kind != DT_NULL)
        .find(|(kind, value)| *kind == DT_DEBUG && *value != 0)?;
    word(debug.1 + R_BRK).filter(|hook| *hook != 0)
}

/// Whether the bytes in memory are those of the file.
fn check_bytes(process: &Process, target: &Target) -> Result<()> {
    match is_unchanged(process, &target.code) {
        true => Ok(()),
        false => Err(Error::Function(format!(
            "the bytes of `{}` in memory are not those of the file: it is changed when the \
             program starts (relocations in the text, a packer)",
            target.function.name
        ))),
    }
}

/// Whether the code of a process is the same as in the file.
pub fn is_unchanged(process: &Process, code: &Code) -> bool {
    code.parts().iter().all(|(start, bytes)| {
        let mut now = vec![0; bytes.len()];
        process.read(*start, &mut now) && now == *bytes
    })
}

/// The hint for a program that has threads or starts others.
const IN_OTHERS: &str = "; it has threads or starts other processes, and no call was seen in any: \
                         a program that another process runs (exec) is another one, give that";
