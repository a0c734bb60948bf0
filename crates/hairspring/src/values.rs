//! Values that bodies return and inits make while the clock runs: values with a destructor are
//! stored and dropped after the second reading; others stay in registers or in one place.
#![allow(
    unsafe_code,
    reason = "places are filled by number, without a test for the number while the clock runs"
)]

use crate::barrier::{keep, memory, opaque};
use std::mem::{MaybeUninit, needs_drop};

/// Stored values, in order and without gaps.
#[derive(Debug)]
pub struct Values<T> {
    places: Box<[MaybeUninit<T>]>,
    filled: usize,
}

impl<T> Values<T> {
    /// Room for this many values; none for values without a destructor, which are not stored.
    pub fn room(values: usize) -> Values<T> {
        let places = if needs_drop::<T>() { values } else { 0 };
        Values { places: Box::new_uninit_slice(places), filled: 0 }
    }

    /// The value counts as used; one with a destructor is dropped with the others.
    #[inline(always)]
    pub fn put(&mut self, value: T) {
        if needs_drop::<T>() {
            keep(&std::ptr::from_mut(self.place(value)));
        } else {
            keep(&value);
        }
        memory();
    }

    /// Drops them all. After a panic they are leaked instead: nothing has to be kept up to date for
    /// it while the clock runs.
    pub fn clear(mut self) {
        for place in &mut self.places[..self.filled] {
            // SAFETY: filled in order, and dropped here alone.
            unsafe { place.assume_init_drop() };
        }
    }

    #[inline(always)]
    fn place(&mut self, value: T) -> &mut T {
        // More values than room would be an error in the rows: the last place is then reused, and
        // its value leaks.
        let at = self.filled.min(self.places.len() - 1);
        self.filled = at + 1;
        self.places[at].write(value)
    }
}

/// Puts what an init made where the body gets it: on the stack, which the compiler replaces by
/// registers if it can, or among the stored values.
#[inline(always)]
pub fn hold<'a, T>(stack: &'a mut MaybeUninit<T>, aside: &'a mut Values<T>, value: T) -> &'a mut T {
    memory();
    if needs_drop::<T>() {
        opaque(aside.place(value))
    } else if size_of::<T>() <= 16 {
        stack.write(opaque(value))
    } else {
        let held = stack.write(value);
        keep(held);
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn values_are_dropped_once_and_late() {
        let counted = Rc::new(());
        let mut values = Values::room(3);
        (0..3).for_each(|_| values.put(counted.clone()));
        assert_eq!(Rc::strong_count(&counted), 4);
        values.clear();
        assert_eq!(Rc::strong_count(&counted), 1);
    }

    #[test]
    fn room_that_was_not_used_is_not_dropped() {
        let counted = Rc::new(());
        let mut values = Values::room(8);
        values.put(counted.clone());
        values.clear();
        assert_eq!(Rc::strong_count(&counted), 1);
    }

    #[test]
    fn held_values_can_be_changed() {
        let (mut stack, mut aside) = (MaybeUninit::uninit(), Values::room(1));
        *hold(&mut stack, &mut aside, [1u64; 9]) = [2; 9];
        assert_eq!(*hold(&mut stack, &mut aside, [3u64; 9]), [3; 9]);
        let (mut stack, mut aside) = (MaybeUninit::uninit(), Values::room(2));
        hold(&mut stack, &mut aside, vec![1]).push(2);
        assert_eq!(*hold(&mut stack, &mut aside, vec![5]), [5]);
    }
}
