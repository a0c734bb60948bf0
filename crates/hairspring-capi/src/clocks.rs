//! Clocks by name.

use crate::sized::{Growing, output};
use crate::wall::{Refusal, Status, c_text, exclusive, text, wall};
use hairspring_host::clock::{Clock, catalogue, default_clock, find, granularity};
use std::ffi::{CString, c_char};
use std::mem::offset_of;
use std::sync::OnceLock;

/// A clock of this machine. The texts live as long as the program.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClockInfo {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Name by which it is found.
    pub name: *const c_char,
    /// Description in one sentence.
    pub description: *const c_char,
    /// Reads the clock, in ticks since some fixed point in time; null if it is unavailable.
    pub read: Option<extern "C" fn() -> u64>,
    /// Why it is unavailable; null if it is available.
    pub unavailable: *const c_char,
    /// Ticks per second as the interface defines them; 0 if they must be measured.
    pub nominal_hz: f64,
    /// Quantum in ticks, measured by `hairspring_clock_find`; 0 from `hairspring_clock_at`.
    pub quantum: u64,
    /// Width of the counter in bits; a counter of fewer than 64 bits wraps.
    pub bits: u32,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for ClockInfo {
    const LEAST_BYTES: usize = offset_of!(ClockInfo, unavailable);
}

/// A clock with its texts as C strings.
struct Listed {
    clock: Clock,
    name: CString,
    description: CString,
    unavailable: Option<CString>,
}

impl Listed {
    fn info(&self) -> ClockInfo {
        ClockInfo {
            size: size_of::<ClockInfo>(),
            name: self.name.as_ptr(),
            description: self.description.as_ptr(),
            read: self.unavailable.is_none().then_some(self.clock.read),
            unavailable: self
                .unavailable
                .as_ref()
                .map_or(std::ptr::null(), |reason| reason.as_ptr()),
            nominal_hz: self.clock.nominal_hz.unwrap_or(0.0),
            quantum: 0,
            bits: self.clock.width.count(),
        }
    }
}

/// The list of clocks. It is made once, because C may keep pointers into it.
fn list() -> &'static [Listed] {
    static LIST: OnceLock<Vec<Listed>> = OnceLock::new();
    LIST.get_or_init(|| {
        let entry_of = |(clock, available): (Clock, Result<(), String>)| Listed {
            name: c_text(clock.name),
            description: c_text(clock.description),
            unavailable: available.err().map(|reason| c_text(&reason)),
            clock,
        };
        catalogue().into_iter().map(entry_of).collect()
    })
}

/// The clock of that name, ready in the calling thread; null is the best clock here.
pub unsafe fn chosen(name: *const c_char) -> Result<Clock, Refusal> {
    if name.is_null() {
        let clock = default_clock();
        clock.ready()?;
        return Ok(clock);
    }
    // SAFETY: passed on to the caller.
    Ok(find(unsafe { text(name, "the clock's name") }?)?)
}

/// The number of clocks known for this system, available or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_clock_count(count: *mut usize) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        *unsafe { exclusive(count, "the pointer for the count") }? = list().len();
        Ok(())
    })
}

/// The clock at an index of the list, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_clock_at(index: usize, clock: *mut ClockInfo) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let clock = unsafe { output(clock, "the clock") }?;
        let listed_clock = list().get(index).ok_or_else(|| {
            Refusal::new(Status::BadValue, format!("clock {index}: there are {}", list().len()))
        })?;
        clock.write(&listed_clock.info());
        Ok(())
    })
}

/// Finds a clock by name (null: the best one here), enables it in the calling thread, checks that
/// it counts, and measures its quantum. Every thread that reads the clock must call this first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_clock_find(
    name: *const c_char,
    clock: *mut ClockInfo,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let (out, chosen_clock) = unsafe { (output(clock, "the clock")?, chosen(name)?) };
        let listed_clock =
            list().iter().find(|listed_clock| listed_clock.clock.name == chosen_clock.name);
        let listed_clock = listed_clock.ok_or_else(|| {
            Refusal::new(
                Status::ClockUnavailable,
                format!("clock `{}` is not in the list", chosen_clock.name),
            )
        })?;
        out.write(&ClockInfo {
            quantum: granularity(&chosen_clock).quantum,
            ..listed_clock.info()
        });
        Ok(())
    })
}
