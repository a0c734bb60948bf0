//! Code repeated straight-line.

/// Repeats a block of code without a loop. The number of copies must be one that the row table
/// uses.
///
/// ```
/// let mut sum = 0;
/// hairspring_core::repeat!(12 { sum += 1; });
/// assert_eq!(sum, 12);
/// ```
#[macro_export]
macro_rules! repeat {
    (0 $code:block) => {};
    (1 $code:block) => { $code };
    (2 $code:block) => {{ $code $code }};
    (3 $code:block) => {{ $code $code $code }};
    (4 $code:block) => {{ $code $code $code $code }};
    (6 $code:block) => {{ $crate::repeat!(4 $code); $crate::repeat!(2 $code); }};
    (8 $code:block) => {{ $crate::repeat!(4 $code); $crate::repeat!(4 $code); }};
    (12 $code:block) => {{ $crate::repeat!(8 $code); $crate::repeat!(4 $code); }};
    (16 $code:block) => {{ $crate::repeat!(8 $code); $crate::repeat!(8 $code); }};
    (20 $code:block) => {{ $crate::repeat!(16 $code); $crate::repeat!(4 $code); }};
    (24 $code:block) => {{ $crate::repeat!(16 $code); $crate::repeat!(8 $code); }};
    (32 $code:block) => {{ $crate::repeat!(16 $code); $crate::repeat!(16 $code); }};
    (64 $code:block) => {{ $crate::repeat!(32 $code); $crate::repeat!(32 $code); }};
    (96 $code:block) => {{ $crate::repeat!(64 $code); $crate::repeat!(32 $code); }};
    (128 $code:block) => {{ $crate::repeat!(64 $code); $crate::repeat!(64 $code); }};
    (192 $code:block) => {{ $crate::repeat!(128 $code); $crate::repeat!(64 $code); }};
    (256 $code:block) => {{ $crate::repeat!(128 $code); $crate::repeat!(128 $code); }};
}
