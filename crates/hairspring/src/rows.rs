//! What the attribute's rows share: the state that is made once, and the catching of panics.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// An argument that can be passed to every copy by value.
#[diagnostic::on_unimplemented(
    message = "an argument is handed to every copy: `{Self}` cannot be, because it is not `Copy`",
    label = "take it by reference",
    note = "`args` may hold owned values; the function then takes a reference to them"
)]
pub trait Argument {}

impl<T: Copy> Argument for T {}

/// Runs a row; a panic in it becomes `None`.
pub fn catch_panic(row: impl FnOnce() -> u64) -> Option<u64> {
    catch_unwind(AssertUnwindSafe(row)).ok()
}

/// A state that is made once and passed to every copy of a benchmark, in all its rows.
pub struct State<S> {
    shared: Rc<RefCell<Made<S>>>,
}

struct Made<S> {
    make: Box<dyn FnMut() -> S>,
    made_state: Option<S>,
}

impl<S> Clone for State<S> {
    fn clone(&self) -> State<S> {
        State { shared: self.shared.clone() }
    }
}

impl<S> State<S> {
    /// A state that is made when it is first used.
    pub fn new(make: impl FnMut() -> S + 'static) -> State<S> {
        State { shared: Rc::new(RefCell::new(Made { make: Box::new(make), made_state: None })) }
    }

    /// Runs a row with it.
    pub fn with<T>(&self, row: impl FnOnce(&mut S) -> T) -> T {
        let mut shared = self.shared.borrow_mut();
        let Made { make, made_state: made } = &mut *shared;
        row(made.get_or_insert_with(make))
    }
}

impl<S> std::fmt::Debug for State<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_made_once() {
        let number_made = Rc::new(std::cell::Cell::new(0));
        let counter = number_made.clone();
        let state = State::new(move || {
            counter.set(counter.get() + 1);
            vec![0]
        });
        assert_eq!(number_made.get(), 0);
        let second_state = state.clone();
        state.with(|state| state.push(1));
        assert_eq!((second_state.with(|state| state.len()), number_made.get()), (2, 1));
    }

    #[test]
    fn a_panic_gives_no_reading() {
        assert_eq!(catch_panic(|| 3), Some(3));
        assert_eq!(catch_panic(|| std::panic::resume_unwind(Box::new("quietly"))), None);
    }
}
