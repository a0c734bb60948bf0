//! The wall between C and the engine: statuses, their text, checked pointers, and panics that end
//! here.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The status of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A required pointer is null, or a pointer is not aligned.
    BadPointer = 1,
    /// A struct has an impossible size, or has fields set that this library does not know.
    WrongSize = 2,
    /// An argument is out of its range, or is not UTF-8 text.
    BadValue = 3,
    /// The observations cannot be used.
    BadObservations = 4,
    /// Too few rows for the number of unknowns.
    TooFewRows = 5,
    /// There is no such clock here, or it cannot be used.
    ClockUnavailable = 6,
    /// The operating system or the state of the handle does not allow it.
    Refused = 7,
    /// No number of trips of a loop fills a timed interval.
    LoopTooShort = 8,
    /// A file cannot be read or written.
    InputOutput = 9,
    /// An internal failure of the library; the handle may still be freed.
    Internal = 10,
}

const NAMES: [&CStr; 11] = [
    c"ok",
    c"bad pointer",
    c"wrong size",
    c"bad value",
    c"bad observations",
    c"too few rows",
    c"clock unavailable",
    c"refused",
    c"loop too short",
    c"input or output failed",
    c"internal failure",
];

/// Why a call failed.
#[derive(Debug)]
pub struct Refusal {
    status: Status,
    text: String,
}

/// Result of the code behind the wall.
pub type Answer<T> = Result<T, Refusal>;

impl Refusal {
    pub fn new(status: Status, text: impl Into<String>) -> Refusal {
        Refusal { status, text: text.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

impl From<hairspring_core::Error> for Refusal {
    fn from(error: hairspring_core::Error) -> Refusal {
        use hairspring_core::Error;
        let status = match &error {
            Error::BadObservation { .. } | Error::BadTable(_) => Status::BadObservations,
            Error::TooFewRows { .. } | Error::Singular { .. } => Status::TooFewRows,
            _ => Status::Refused,
        };
        Refusal::new(status, error.to_string())
    }
}

impl From<hairspring_host::Error> for Refusal {
    fn from(error: hairspring_host::Error) -> Refusal {
        let is_clock = matches!(error, hairspring_host::Error::ClockUnavailable { .. });
        Refusal::new(
            if is_clock { Status::ClockUnavailable } else { Status::Refused },
            error.to_string(),
        )
    }
}

impl From<hairspring_measure::Error> for Refusal {
    fn from(error: hairspring_measure::Error) -> Refusal {
        match error {
            hairspring_measure::Error::Core(reason) => reason.into(),
            hairspring_measure::Error::Host(reason) => reason.into(),
            other => Refusal::new(Status::LoopTooShort, other.to_string()),
        }
    }
}

thread_local! {
    static LAST_ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs the work of a call; an error or a panic becomes a status, and its text is kept for the
/// calling thread.
pub fn wall(work: impl FnOnce() -> Answer<()>) -> Status {
    let refusal = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(refusal)) => refusal,
        Err(payload) => {
            let panic_text = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| payload.downcast_ref::<String>().cloned());
            let text = format!(
                "internal error of the library: {}; please report it",
                panic_text.unwrap_or_default()
            );
            // Dropping the payload of a panic may panic again.
            std::mem::forget(payload);
            Refusal::new(Status::Internal, text)
        }
    };
    // A thread that is ending no longer has a text.
    let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = refusal.text);
    refusal.status
}

/// Frees a handle; null is allowed.
pub unsafe fn free<T>(handle: *mut T) {
    wall(|| {
        if !handle.is_null() {
            // SAFETY: the caller passes a handle that `hand_out` made, and only once.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    });
}

/// Moves a value into a handle that the caller owns from now on.
pub unsafe fn hand_out<T>(out: *mut *mut T, value: T) -> Answer<()> {
    // SAFETY: passed on to the caller.
    let out = unsafe { exclusive(out, "the pointer for the new handle") }?;
    *out = Box::into_raw(Box::new(value));
    Ok(())
}

/// The content of the mutex, even if a thread panicked while it held the lock: the engine's tables
/// are always consistent.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses a pointer that is null or not aligned.
pub fn checked<T>(pointer: *const T, argument: &str) -> Answer<()> {
    let refuse = |why| Err(Refusal::new(Status::BadPointer, format!("{argument} is {why}")));
    match pointer {
        _ if pointer.is_null() => refuse("a null pointer"),
        _ if !pointer.is_aligned() => refuse("not aligned"),
        _ => Ok(()),
    }
}

/// The value that a pointer points to.
pub unsafe fn shared<'a, T>(pointer: *const T, argument: &str) -> Answer<&'a T> {
    checked(pointer, argument)?;
    // SAFETY: neither null nor misaligned; the caller guarantees that it points to a live T.
    Ok(unsafe { &*pointer })
}

/// The value that a pointer points to, as a mutable reference.
pub unsafe fn exclusive<'a, T>(pointer: *mut T, argument: &str) -> Answer<&'a mut T> {
    checked(pointer, argument)?;
    // SAFETY: neither null nor misaligned; the caller guarantees that it points to a live T that
    // nobody else uses.
    Ok(unsafe { &mut *pointer })
}

/// An array of `count` elements; the pointer may be null if there are none.
pub unsafe fn elements<'a, T>(pointer: *const T, count: usize, argument: &str) -> Answer<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    checked(pointer, argument)?;
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Refusal::new(
            Status::BadValue,
            format!("{argument} has {count} elements, which do not fit into any memory"),
        ));
    }
    // SAFETY: neither null, misaligned nor too long; the caller guarantees that the elements exist.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Text that ends with a 0 byte.
pub unsafe fn text<'a>(pointer: *const c_char, argument: &str) -> Answer<&'a str> {
    checked(pointer, argument)?;
    // SAFETY: not null; the caller guarantees that it ends with a 0 byte.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| Refusal::new(Status::BadValue, format!("{argument} is not UTF-8 text")))
}

/// Text for C, without any 0 bytes in it.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Checks a confidence level.
pub fn level(level: f64) -> Answer<f64> {
    let text = || format!("a confidence level of {level} is not between 0.5 and 0.9999");
    if (0.5..=0.9999).contains(&level) {
        Ok(level)
    } else {
        Err(Refusal::new(Status::BadValue, text()))
    }
}

/// Text of the last error of the calling thread.
pub fn last_error() -> String {
    LAST_ERROR.try_with(|last| last.borrow().clone()).unwrap_or_default()
}

/// Copies text, cut to `room` bytes including the terminating 0 byte; without room or buffer
/// nothing is written. Returns the length of the whole text in bytes, without the terminator.
pub unsafe fn copy_text(text: &str, buffer: *mut c_char, room: usize) -> usize {
    let text = text.replace('\0', "");
    if !buffer.is_null() && room > 0 {
        let mut end = text.len().min(room - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: the caller has room for that many bytes, one for the end included.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, end);
            *buffer.add(end) = 0;
        }
    }
    text.len()
}

/// Copies the text of the calling thread's last error, cut to `room` bytes including the
/// terminating 0 byte; with no room nothing is written. Returns the length of the whole text in
/// bytes, without the terminator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_last_error(buffer: *mut c_char, room: usize) -> usize {
    // SAFETY: passed on to the caller.
    unsafe { copy_text(&last_error(), buffer, room) }
}

/// A short text for a status, for any number; never null.
#[unsafe(no_mangle)]
pub extern "C" fn hairspring_status_name(status: i32) -> *const c_char {
    let name = usize::try_from(status).ok().and_then(|at| NAMES.get(at).copied());
    name.unwrap_or(c"unknown status").as_ptr()
}

/// Version of the library, such as `0.1.0`; never null.
#[unsafe(no_mangle)]
pub extern "C" fn hairspring_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_error() -> String {
        let mut buffer = [0 as c_char; 400];
        // SAFETY: the buffer has the room that is said.
        let length = unsafe { hairspring_last_error(buffer.as_mut_ptr(), buffer.len()) };
        // SAFETY: ended with a 0 byte.
        let text = unsafe { CStr::from_ptr(buffer.as_ptr()) }.to_str().unwrap().to_owned();
        assert_eq!(length, text.len());
        text
    }

    #[test]
    fn a_panic_becomes_a_status_with_its_text() {
        assert_eq!(wall(|| panic!("the spring is loose")), Status::Internal);
        assert!(last_error().contains("the spring is loose"));
        assert_eq!(wall(|| std::panic::panic_any(7)), Status::Internal);
        assert_eq!(wall(|| Ok(())), Status::Ok);
    }

    #[test]
    fn a_payload_that_panics_when_dropped_becomes_a_status_too() {
        struct Twice;
        impl Drop for Twice {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert_eq!(wall(|| std::panic::panic_any(Twice)), Status::Internal);
    }

    #[test]
    fn a_handle_can_be_used_after_a_thread_panicked_with_it() {
        let mutex = Mutex::new(3);
        let failed = wall(|| {
            let _held = locked(&mutex);
            panic!("while it was held")
        });
        assert_eq!((failed, *locked(&mutex)), (Status::Internal, 3));
    }

    #[test]
    fn each_thread_has_its_own_text_which_is_cut_between_letters() {
        wall(|| Err(Refusal::new(Status::BadValue, "aé")));
        std::thread::spawn(|| assert_eq!(last_error(), "")).join().unwrap();
        let mut buffer = [1 as c_char; 3];
        // SAFETY: the buffer has the room that is said.
        assert_eq!(unsafe { hairspring_last_error(buffer.as_mut_ptr(), 3) }, 3);
        assert_eq!(buffer, [b'a' as c_char, 0, 1]);
    }

    #[test]
    fn every_status_has_a_name() {
        let name = |status| {
            // SAFETY: a constant text.
            unsafe { CStr::from_ptr(hairspring_status_name(status)) }.to_str().unwrap()
        };
        assert_eq!((name(0), name(Status::Internal as i32)), ("ok", "internal failure"));
        assert_eq!((name(-1), name(11)), ("unknown status", "unknown status"));
    }
}
