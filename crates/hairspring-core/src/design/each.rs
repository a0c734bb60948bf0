//! The rows of the table for code that is repeated straight-line by macros. Generated from
//! `table.rs`: change it there.

/// An array of the results of the macro `$row` for rows without an init, called with the number of
/// bodies.
#[macro_export]
#[rustfmt::skip]
macro_rules! for_line {
    ($row:ident) => { [
        $row!(1),
        $row!(2),
        $row!(3),
        $row!(4),
        $row!(8),
        $row!(16),
        $row!(32),
        $row!(64),
        $row!(96),
        $row!(128),
        $row!(192),
        $row!(256),
    ] };
}

/// An array of the results of the macro `$row` for the rows of [`for_line`](crate::for_line) that
/// closures use.
#[macro_export]
#[rustfmt::skip]
macro_rules! for_closure_line {
    ($row:ident) => { [
        $row!(1),
        $row!(2),
        $row!(3),
        $row!(4),
        $row!(8),
        $row!(16),
        $row!(32),
        $row!(64),
        $row!(96),
        $row!(128),
    ] };
}

/// An array of the results of the macro `$row` for rows without an init that run a block several
/// times, called with the copies in the block.
#[macro_export]
#[rustfmt::skip]
macro_rules! for_blocks {
    ($row:ident) => { [
        $row!(8),
        $row!(12),
        $row!(16),
        $row!(20),
        $row!(24),
        $row!(32),
    ] };
}

/// An array of the results of the macro `$row` for rows with an init, called with the numbers of
/// bodies and of further inits.
#[macro_export]
#[rustfmt::skip]
macro_rules! for_plane {
    ($row:ident) => { [
        $row!(1, 0),
        $row!(1, 1),
        $row!(2, 0),
        $row!(2, 2),
        $row!(4, 0),
        $row!(4, 4),
        $row!(8, 0),
        $row!(8, 8),
        $row!(16, 0),
        $row!(16, 16),
        $row!(32, 0),
        $row!(32, 16),
    ] };
}

/// An array of the results of the macro `$row` for rows that check an init, called with the numbers
/// of bodies and of inits before each.
#[macro_export]
#[rustfmt::skip]
macro_rules! for_checks {
    ($row:ident) => { [
        $row!(1, 1),
        $row!(1, 2),
        $row!(2, 1),
        $row!(2, 2),
        $row!(4, 1),
        $row!(4, 2),
        $row!(8, 1),
        $row!(8, 2),
        $row!(16, 1),
    ] };
}
