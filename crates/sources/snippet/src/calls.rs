//! Calls that the source has and the compiled copy has not: the compiler dropped their work, or did
//! it beforehand.

use crate::copied::{Copy, Lost};

/// Functions that compilers make into instructions.
const INSTRUCTIONS: &str = " sqrt fabs floor ceil rint nearbyint round roundeven trunc fma fmin \
                            fmax copysign lrint llrint lround llround abs labs llabs ffs memcmp \
                            bcmp strcmp strncmp strchr strnlen isnan signbit toupper tolower \
                            isdigit isalpha isspace __errno_location pow powi __ctype_b_loc \
                            __ctype_tolower_loc __ctype_toupper_loc ";
/// Functions that compilers make into stores.
const STORES: &str = " memset memcpy memmove mempcpy bzero wmemset strcpy stpcpy strncpy strcat ";

fn has(list: &str, name: &str) -> bool {
    let is = |name: &str| list.contains(&format!(" {name} "));
    is(name) || name.strip_suffix('f').is_some_and(is) || name.strip_suffix('l').is_some_and(is)
}

/// Whether the copy may do the work of a function by instructions of its own.
fn may_be_inside(copy: &Copy, name: &str) -> bool {
    has(INSTRUCTIONS, name) || has(STORES, name) && copy.stores
}

/// Calls that a copy has in fewer places than the same code without optimisation. A copy that calls
/// other functions in their place does their work.
pub fn lost(copy: &Copy, plain: &Copy) -> Vec<Lost> {
    let number =
        |all: &Copy, name: &str| all.calls.iter().filter(|one| shown(one) == name).count() as u32;
    if copy.calls.iter().any(|name| number(plain, shown(name)) == 0) {
        return Vec::new();
    }
    let mut names: Vec<&str> = plain.calls.iter().map(|name| shown(name)).collect();
    names.sort_unstable();
    names.dedup();
    // Members of the standard library are inlined, as often as not.
    let is_inline = |name: &str| {
        ["_ZNSt", "_ZNKSt", "_ZSt", "_ZNSa"].iter().any(|start| name.starts_with(start))
    };
    names.retain(|name| !is_inline(name));
    let calls_by_name =
        names.into_iter().map(|name| (name, number(copy, name), number(plain, name)));
    let lost = calls_by_name
        .filter(|(name, copied, source)| copied < source && !may_be_inside(copy, name));
    lost.map(|(name, copied, source)| Lost {
        operation: format!("call of {name}"),
        copy: copied,
        source,
    })
    .collect()
}

/// The name of a function as its users know it.
fn shown(name: &str) -> &str {
    match name {
        _ if ["_Znw", "_Zna"].iter().any(|new| name.starts_with(new)) => "operator new",
        _ if ["_Zdl", "_Zda"].iter().any(|delete| name.starts_with(delete)) => "operator delete",
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Judged;

    fn copy(calls: &[&str], stores: bool) -> Copy {
        let calls = calls.iter().map(|name| (*name).to_owned()).collect();
        Copy { calls, stores, ..Copy::unknown(Judged::unknown("")) }
    }

    fn names(of: &Copy, plain: &[&str]) -> Vec<String> {
        lost(of, &copy(plain, true))
            .into_iter()
            .map(|lost| format!("{} {}/{}", lost.operation, lost.copy, lost.source))
            .collect()
    }

    #[test]
    fn calls_that_are_gone_are_lost() {
        assert_eq!(
            names(&copy(&["malloc", "free"], false), &["malloc", "memset", "free"]),
            ["call of memset 0/1"]
        );
        assert_eq!(names(&copy(&["sin"], false), &["sin", "sin"]), ["call of sin 1/2"]);
        assert_eq!(
            names(&copy(&[], true), &["_Znwm", "_ZdlPvm"]),
            ["call of operator delete 0/1", "call of operator new 0/1"]
        );
    }

    #[test]
    fn calls_whose_work_is_done_otherwise_are_not_lost() {
        assert!(names(&copy(&[], true), &["memcpy", "strcpy"]).is_empty());
        assert!(names(&copy(&[], false), &["sqrt", "floorf", "fabsl"]).is_empty());
        assert!(names(&copy(&["calloc", "free"], false), &["malloc", "memset", "free"]).is_empty());
        assert!(names(&copy(&["f", "f"], false), &["f"]).is_empty());
    }
}
