//! Library functions that are known to keep no state, by linker name.

/// A function's calling convention: the number of floating-point arguments in vector registers, of
/// integer and pointer arguments in general registers, and whether the result is a floating-point
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    pub floats: usize,
    pub integers: usize,
    pub gives_float: bool,
    /// Whether the value takes two registers.
    pub gives_pair: bool,
    /// Whether it reads what its arguments point to.
    pub reads_memory: bool,
}

const fn signature(
    floats: usize,
    integers: usize,
    gives_float: bool,
    reads_memory: bool,
) -> Signature {
    Signature { floats, integers, gives_float, gives_pair: false, reads_memory }
}

/// Functions of `math.h`; each has a form for `float` (f).
const MATH: [(Signature, &str); 5] = [
    (
        signature(1, 0, true, false),
        " acos asin atan cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 exp10 expm1 log \
         log10 log1p log2 logb cbrt fabs sqrt erf erfc tgamma ceil floor nearbyint rint round \
         roundeven trunc j0 j1 y0 y1 ",
    ),
    (
        signature(2, 0, true, false),
        " atan2 hypot pow copysign fmod remainder nextafter fdim fmax fmin ",
    ),
    (signature(3, 0, true, false), " fma "),
    (signature(1, 1, true, false), " ldexp scalbn scalbln "),
    (
        signature(1, 0, false, false),
        " ilogb lrint llrint lround llround __isnan __isinf __finite __fpclassify __signbit ",
    ),
];

/// Other functions of the C library, and functions of the compilers.
const OTHER_FUNCTIONS: [(Signature, &str); 6] = [
    (
        signature(0, 1, false, false),
        " abs labs llabs isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct \
         isspace isupper isxdigit tolower toupper htons htonl ntohs ntohl ffs ffsl ffsll \
         __popcountdi2 __popcountsi2 __clzdi2 __ctzdi2 __paritydi2 __bswapdi2 __bswapsi2 ",
    ),
    (
        signature(0, 0, false, false),
        " __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location ",
    ),
    (Signature { gives_pair: true, ..signature(0, 2, false, false) }, " div ldiv lldiv "),
    (signature(0, 1, false, true), " strlen atoi atol atoll "),
    (
        signature(0, 2, false, true),
        " strnlen strcmp strcasecmp strchr strrchr rawmemchr strstr strspn strcspn strpbrk ",
    ),
    (signature(0, 3, false, true), " strncmp strncasecmp memcmp bcmp memchr "),
];

/// Functions that never return.
const NO_RETURN: &str = " abort exit _exit _Exit quick_exit __stack_chk_fail __assert_fail \
                         __fortify_fail __chk_fail longjmp siglongjmp __cxa_throw __cxa_rethrow \
                         _Unwind_Resume __cxa_bad_cast __cxa_throw_bad_array_new_length \
                         __cxa_call_unexpected _ZSt9terminatev ";

fn has(list: &str, name: &str) -> bool {
    list.contains(&format!(" {name} "))
}

/// The signature of a function without state; `None` for any other.
pub fn pure(name: &str) -> Option<Signature> {
    let of = |lists: &[(Signature, &str)], name: &str| {
        lists.iter().find(|(_, list)| has(list, name)).map(|(signature, _)| *signature)
    };
    of(&OTHER_FUNCTIONS, name)
        .or_else(|| of(&MATH, name))
        .or_else(|| of(&MATH, name.strip_suffix('f')?))
}

/// Whether a function never returns: those of C, and `std::__throw_...`.
pub fn never_returns(name: &str) -> bool {
    has(NO_RETURN, name) || name.starts_with("_ZSt") && name.contains("__throw_")
}
