//! Structs that may grow: programs compiled with an older or a newer header work.
//!
//! The rules are those of Linux for the structs of its system calls (`copy_struct_from_user`,
//! `copy_struct_to_user`):
//!
//! - A smaller struct comes from an older header. Missing fields are read as 0, the default of
//!   every field. Nothing is written past its end.
//! - A larger struct comes from a newer header. On input, unknown fields must be 0: ignoring a
//!   field that is set would give a wrong result. On output, unknown fields are set to 0.
//!
//! So a struct grows at its end, by whole multiples of its alignment, and its fields keep their
//! offset and their meaning. New fields never use padding, because the padding of an older caller
//! may hold any bytes.

use crate::wall::{Answer, Refusal, Status, checked};
use std::mem::MaybeUninit;

/// The largest plausible size. An uninitialised size could otherwise cause accesses beyond the
/// caller's memory.
const MOST_BYTES: usize = 4096;

/// A struct that may grow.
///
/// # Safety
/// It is `repr(C)`, it begins with its size as a `usize` where `SIZE_FIRST` says so, and zero bytes
/// are valid in all its fields.
pub unsafe trait Growing: Copy {
    /// The smallest size that any header has had, in bytes.
    const LEAST_BYTES: usize;
    /// Whether its first member is its size. For some arrays the element size is an argument and
    /// not a member.
    const SIZE_FIRST: bool = true;
}

fn wrong(text: String) -> Refusal {
    Refusal::new(Status::WrongSize, text)
}

/// Whether the caller's struct may have this size.
pub fn check<T: Growing>(size: usize, argument: &str) -> Answer<()> {
    let (least_bytes, step) = (T::LEAST_BYTES, align_of::<T>());
    if (least_bytes..=MOST_BYTES).contains(&size) && size % step == 0 {
        return Ok(());
    }
    let text = format!(
        "{argument} has a size of {size} bytes: a multiple of {step} from {least_bytes} to \
         {MOST_BYTES} is expected; set its size to its sizeof"
    );
    Err(wrong(text))
}

/// The size that a struct begins with.
unsafe fn own_size<T: Growing>(pointer: *const T, argument: &str) -> Answer<usize> {
    checked(pointer, argument)?;
    // SAFETY: neither null nor misaligned; it begins with its size.
    let size = unsafe { *pointer.cast::<usize>() };
    check::<T>(size, argument)?;
    Ok(size)
}

/// A struct that begins with its size.
pub unsafe fn input<T: Growing>(pointer: *const T, argument: &str) -> Answer<T> {
    const { assert!(T::SIZE_FIRST) };
    // SAFETY: passed on to the caller.
    unsafe { own_size(pointer, argument).and_then(|size| read(pointer, size, argument)) }
}

/// The elements of an array with this element size; a size in an element must agree with it.
pub unsafe fn inputs<T: Growing>(
    array: *const T,
    element_size: usize,
    count: usize,
    argument: &str,
) -> Answer<Vec<T>> {
    check::<T>(element_size, argument)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    checked(array, argument)?;
    if count > isize::MAX as usize / element_size {
        return Err(Refusal::new(
            Status::BadValue,
            format!("{argument}: {count} elements do not fit into any memory"),
        ));
    }
    let element = |at: usize| {
        // SAFETY: the caller guarantees that the array has this many elements of this size.
        let pointer = unsafe { array.byte_add(at * element_size) };
        // SAFETY: as above.
        let named_size =
            if T::SIZE_FIRST { unsafe { own_size(pointer, argument) }? } else { element_size };
        if named_size != element_size {
            return Err(wrong(format!(
                "{argument} has a size of {named_size} bytes in an array of elements of \
                 {element_size}"
            )));
        }
        // SAFETY: as above.
        unsafe { read(pointer, element_size, argument) }
    };
    (0..count).map(element).collect()
}

/// Reads the caller's part of a struct; the rest is 0.
unsafe fn read<T: Growing>(pointer: *const T, size: usize, argument: &str) -> Answer<T> {
    let known_bytes = size.min(size_of::<T>());
    // SAFETY: the caller guarantees that the struct has its size.
    let unknown_bytes = unsafe {
        std::slice::from_raw_parts(pointer.cast::<u8>().add(known_bytes), size - known_bytes)
    };
    if let Some(at) = unknown_bytes.iter().position(|byte| *byte != 0) {
        let text = format!(
            "{argument} has {size} bytes, of which this library knows the first {known_bytes}, \
             and byte {} is not 0: a field is set that this library does not know; leave it 0, or \
             use the library of that header",
            known_bytes + at
        );
        return Err(wrong(text));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: both have that many bytes, and they do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(
            pointer.cast::<u8>(),
            value.as_mut_ptr().cast::<u8>(),
            known_bytes,
        )
    };
    // SAFETY: all bytes that are not the caller's are 0, which is valid.
    Ok(unsafe { value.assume_init() })
}

/// Room for a struct in the caller's memory.
#[derive(Debug)]
pub struct Output<T> {
    pointer: *mut T,
    size: usize,
}

/// Room for a struct that begins with its size.
pub unsafe fn output<T: Growing>(pointer: *mut T, argument: &str) -> Answer<Output<T>> {
    const { assert!(T::SIZE_FIRST) };
    // SAFETY: passed on to the caller.
    let size = unsafe { own_size(pointer, argument) }?;
    Ok(Output { pointer, size })
}

impl<T: Growing> Output<T> {
    /// Writes as much as fits, and 0 into fields that this library does not know; the caller's size
    /// is kept.
    pub fn write(self, value: &T) {
        let known_bytes = self.size.min(size_of::<T>());
        let bytes = self.pointer.cast::<u8>();
        // SAFETY: the caller guarantees that the struct has its size, which is at least that of the
        // first member.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::from_ref(value).cast::<u8>(),
                bytes,
                known_bytes,
            );
            bytes.add(known_bytes).write_bytes(0, self.size - known_bytes);
            self.pointer.cast::<usize>().write(self.size);
        }
    }
}

/// Copies as many elements as fit into the caller's array, and sets `count` to the number of all
/// elements.
pub unsafe fn fill<T: Growing>(
    array: *mut T,
    element_size: usize,
    room: usize,
    count: *mut usize,
    from: &[T],
) -> Answer<()> {
    const { assert!(T::SIZE_FIRST) };
    check::<T>(element_size, "an element of the array")?;
    // SAFETY: passed on to the caller.
    let count = unsafe { crate::wall::exclusive(count, "the pointer for the count") }?;
    let copied_items = room.min(from.len());
    if copied_items > 0 {
        checked(array, "the array")?;
    }
    for (at, value) in from[..copied_items].iter().enumerate() {
        // SAFETY: the caller guarantees that there is room for this many elements of this size.
        let pointer = unsafe { array.byte_add(at * element_size) };
        Output { pointer, size: element_size }.write(value);
    }
    *count = from.len();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Known {
        size: usize,
        needed: u64,
        added: f64,
    }

    // SAFETY: `repr(C)`, the size first, numbers.
    unsafe impl Growing for Known {
        const LEAST_BYTES: usize = offset_of!(Known, added);
    }

    const WHOLE_VALUE: Known = Known { size: 24, needed: 7, added: 0.5 };

    /// Reads a caller's struct, given as words that begin with the size; words after its end belong
    /// to the test.
    fn read_words(words: &[u64]) -> Answer<Known> {
        // SAFETY: the sizes in the tests are those of their words, or are refused.
        unsafe { input(words.as_ptr().cast::<Known>(), "the struct") }
    }

    #[test]
    fn a_smaller_struct_is_read_with_defaults() {
        assert_eq!(
            read_words(&[16, 7, 0.5f64.to_bits()]).unwrap(),
            Known { size: 16, needed: 7, added: 0.0 }
        );
        assert_eq!(read_words(&[24, 7, 0.5f64.to_bits()]).unwrap(), WHOLE_VALUE);
    }

    #[test]
    fn a_larger_struct_is_read_if_nothing_unknown_is_set() {
        assert_eq!(read_words(&[40, 7, 0, 0, 0]).unwrap().needed, 7);
        let refused = read_words(&[40, 7, 0, 0, 1 << 16]).unwrap_err().to_string();
        assert!(refused.contains("byte 34 is not 0"), "{refused}");
    }

    #[test]
    fn sizes_that_no_struct_has_are_refused_before_anything_is_read() {
        for size in [0, 8, 17, 23, 4104, u64::MAX, u64::MAX - 7] {
            let refused = read_words(&[size]).unwrap_err().to_string();
            assert!(
                refused.starts_with(&format!("the struct has a size of {size} bytes")),
                "{refused}"
            );
        }
    }

    #[test]
    fn only_the_callers_bytes_are_written() {
        for (size, expected) in [
            (16, [16, 7, 9, 9]),
            (24, [24, 7, 0.5f64.to_bits(), 9]),
            (32, [32, 7, 0.5f64.to_bits(), 0]),
        ] {
            let mut words = [size, 9, 9, 9];
            // SAFETY: the words are the room.
            unsafe { output(words.as_mut_ptr().cast::<Known>(), "the struct") }
                .unwrap()
                .write(&WHOLE_VALUE);
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn arrays_have_the_callers_stride() {
        let mut words = [9u64; 9];
        let mut count = 0;
        // SAFETY: room for two elements of 32 bytes.
        unsafe {
            fill(
                words.as_mut_ptr().cast::<Known>(),
                32,
                2,
                &raw mut count,
                &[WHOLE_VALUE, Known { needed: 8, ..WHOLE_VALUE }, WHOLE_VALUE],
            )
        }
        .unwrap();
        let half = 0.5f64.to_bits();
        assert_eq!((words, count), ([32, 7, half, 0, 32, 8, half, 0, 9], 3));
        // SAFETY: two elements of 32 bytes.
        let read = |size| unsafe { inputs(words.as_ptr().cast::<Known>(), size, 2, "an element") };
        assert_eq!(read(32).unwrap().iter().map(|one| one.needed).collect::<Vec<_>>(), [7, 8]);
        let refused = read(24).unwrap_err().to_string();
        assert!(refused.contains("32 bytes in an array of elements of 24"), "{refused}");
    }
}
