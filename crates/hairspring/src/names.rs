//! Names of arguments: by `Display`, else by `Debug`, else by their position.

/// An argument to be named. The compiler picks the trait that needs the fewest references:
/// `Display` before `Debug` before the position.
#[derive(Debug)]
pub struct Named<'a, T>(pub &'a T, pub usize);

/// Arguments that can be displayed.
pub trait ByDisplay {
    /// The name.
    fn name(&self) -> String;
}

/// Arguments that can be printed for debugging.
pub trait ByDebug {
    /// The name.
    fn name(&self) -> String;
}

/// All arguments.
pub trait ByPlace {
    /// The name: 1 for the first.
    fn name(&self) -> String;
}

impl<T: std::fmt::Display> ByDisplay for &&Named<'_, T> {
    fn name(&self) -> String {
        self.0.to_string()
    }
}

impl<T: std::fmt::Debug> ByDebug for &Named<'_, T> {
    fn name(&self) -> String {
        format!("{:?}", self.0)
    }
}

impl<T> ByPlace for Named<'_, T> {
    fn name(&self) -> String {
        (self.1 + 1).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::needless_borrow, reason = "as the attribute writes it, for all types alike")]
    fn the_best_name_is_taken() {
        #[derive(Debug)]
        struct Printed(#[expect(dead_code, reason = "read by Debug")] u8);
        struct Silent;
        assert_eq!((&&&Named(&64, 0)).name(), "64");
        assert_eq!((&&&Named(&"a b", 0)).name(), "a b");
        assert_eq!((&&&Named(&Printed(3), 0)).name(), "Printed(3)");
        assert_eq!((&&&Named(&Silent, 1)).name(), "2");
    }
}
