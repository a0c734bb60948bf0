//! Functions that are known to give a value and to do nothing else.

use crate::tokens::{is_assignment, is_word, split_directives, tokens};

/// Functions of `math.h`; each has a form for `float` (f) and one for `long double` (l).
const MATH: &str = " acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 log log10 log1p log2 logb ilogb \
    ldexp scalbn scalbln cbrt fabs hypot pow sqrt erf erfc tgamma lgamma ceil floor nearbyint rint lrint llrint round lround llround \
    trunc fmod remainder copysign nan nextafter nexttoward fdim fmax fmin fma cabs creal cimag conj carg cexp csqrt j0 j1 y0 y1 ";
/// Others of the C library, and the macros of its headers.
const LIBRARY: &str = " abs labs llabs imaxabs div ldiv lldiv isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct \
    isspace isupper isxdigit tolower toupper isnan isinf isfinite isnormal signbit fpclassify isgreater isless isunordered \
    strlen strnlen strcmp strncmp strcasecmp strncasecmp memcmp strchr strrchr memchr strstr strspn strcspn strpbrk atoi atol atoll atof \
    htons htonl ntohs ntohl offsetof ";
/// Those of the compilers, behind `__builtin_`; each may end in l or ll.
const BUILTIN: &str = " popcount clz ctz ffs parity clrsb bswap16 bswap32 bswap64 expect huge_val inf isinf_sign constant_p ";
/// Those of C++'s `std`.
const STD: &str = " min max minmax clamp gcd lcm midpoint lerp popcount countl_zero countr_zero countl_one countr_one bit_width \
    bit_floor bit_ceil has_single_bit rotl rotr bit_cast byteswap size ssize empty begin end cbegin cend next prev distance accumulate \
    reduce inner_product min_element max_element count find lower_bound upper_bound binary_search equal is_sorted \
    cmp_less cmp_greater cmp_equal as_const move forward get norm real imag arg polar ";
/// Members of the containers and strings of `std` that only look.
const MEMBERS: &str = " begin end cbegin cend rbegin rend size length empty capacity at front back data c_str find rfind count \
    contains compare top real imag has_value value load ";
/// Words that stand before a parenthesis without calling anything.
const NO_CALL: &str = " int long short char signed unsigned float double bool _Bool auto void const volatile struct union enum \
    static_cast reinterpret_cast const_cast dynamic_cast sizeof alignof _Alignof typeof __typeof__ decltype noexcept return case else \
    and or not xor if while for switch do ";

fn has(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// Whether a word names a type of the language or ends as the names of types do, or is a keyword: no call.
pub fn is_no_call(word: &str) -> bool {
    has(NO_CALL, word) || word.ends_with("_t")
}

/// Whether the function whose name is the token at this place only gives a value.
pub fn is_pure(tokens: &[String], at: usize) -> bool {
    let name = tokens[at].as_str();
    let before = |back: usize| at.checked_sub(back).map_or("", |place| tokens[place].as_str());
    match (before(1), before(2)) {
        ("." | "->", _) => has(MEMBERS, name),
        ("::", "std") => has(STD, name) || of_the_library(name),
        ("::", space) if is_word(space) => false,
        // `double d(3)` makes an object, whatever its name is.
        (word, _) if is_word(word) && !is_no_call(word) => false,
        _ => is_no_call(name) || of_the_library(name) || is_intrinsic(name),
    }
}

fn of_the_library(name: &str) -> bool {
    let stem = name.strip_suffix(['f', 'l']).unwrap_or(name);
    has(MATH, name) || has(MATH, stem) || has(LIBRARY, name)
}

fn is_intrinsic(name: &str) -> bool {
    if let Some(builtin) = name.strip_prefix("__builtin_") {
        return has(BUILTIN, builtin) || has(BUILTIN, builtin.trim_end_matches('l')) || of_the_library(builtin);
    }
    const ACTING: [&str; 9] = ["store", "stream", "scatter", "fence", "flush", "csr", "pause", "fetch", "maskmove"];
    name.starts_with("_mm") && !ACTING.iter().any(|part| name.contains(part))
}

fn definitions(code: &str) -> Vec<String> {
    let lines = split_directives(code).0.replace("\\\r\n", " ").replace("\\\n", " ");
    let definition = |line: &str| Some(line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?.trim().to_owned());
    lines.lines().filter_map(definition).collect()
}

/// A macro without parameters that stands for more than numbers and operators.
pub fn hiding_macro(code: &str) -> Option<String> {
    definitions(code).into_iter().find_map(|definition| {
        let end = definition.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let (name, body) = definition.split_at(end);
        (!body.starts_with('(') && tokens(body).iter().any(|token| is_word(token))).then(|| name.to_owned())
    })
}

/// Macros at the head of the code that make a value of all their parameters and of nothing else.
pub fn pure_macros(code: &str) -> Vec<String> {
    definitions(code).iter().filter_map(|definition| pure_macro(definition)).collect()
}

fn pure_macro(definition: &str) -> Option<String> {
    let (name, rest) = definition.split_once('(')?;
    let (parameters, body) = rest.split_once(')')?;
    let parameters: Vec<&str> = parameters.split(',').map(str::trim).collect();
    let body = tokens(body);
    let known = |at: usize| parameters.contains(&body[at].as_str()) || is_no_call(&body[at]) || is_pure(&body, at);
    let acts = body.iter().any(|token| is_assignment(token) || matches!(token.as_str(), ";" | "{" | "&" | "?" | "&&" | "||" | "sizeof"));
    let only_known = (0..body.len()).all(|at| !is_word(&body[at]) || known(at));
    let uses_all = parameters.iter().all(|parameter| body.iter().any(|token| token == parameter));
    (!acts && only_known && uses_all && !name.trim().contains(char::is_whitespace)).then(|| name.trim().to_owned())
}
