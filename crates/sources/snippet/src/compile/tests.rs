//! Checks that compiled rows have exactly as many instructions as copies.

use super::*;
use crate::declaration::Declaration;
use hairspring_core::design::table::Order;
use hairspring_host::process as cleanup;
use object::{Object, ObjectSection, ObjectSymbol};

const COPIES: [u32; 3] = [1, 7, 40];

fn request(code: &str, lets: &[&str], language: Language) -> Request {
    let lets = lets.iter().map(|text| Declaration::parse(text).unwrap()).collect();
    Request { codes: vec![code.into()], lets, language, ..Request::default() }
}

fn rows() -> Vec<RowSpec> {
    COPIES
        .map(|copies| RowSpec {
            subject: 0,
            order: Order::AtEnd,
            bodies: copies,
            inits: copies,
            flushes: copies,
            runs: 1,
        })
        .to_vec()
}

fn job<'a>(request: &'a Request, compiler: &'a Compiler, folder: &'a Path) -> Job<'a> {
    Job { request, compiler, folder, repeated: None, cache: None }
}

/// How often a byte pattern occurs in the code of each row, if each runs its copies so many times.
fn occurrences(request: &Request, runs: u32, pattern: &[u8]) -> Vec<usize> {
    let folder = cleanup::Folder::new().unwrap();
    let compiler = find(request).expect("gcc and clang are needed here: apt-get install gcc clang");
    let rows: Vec<RowSpec> = rows().into_iter().map(|row| RowSpec { runs, ..row }).collect();
    let library = compile(&job(request, &compiler, folder.path()), &rows, 0).unwrap();
    let data = std::fs::read(&library.paths[0]).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let largest = |row| {
        file.symbols()
            .filter(|symbol| symbol.name().ok().and_then(row_of) == Some(row))
            .max_by_key(|symbol| symbol.size())
            .unwrap()
    };
    (0..COPIES.len())
        .map(|row| {
            let symbol = largest(row);
            let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
            let code = section.data_range(symbol.address(), symbol.size()).unwrap().unwrap();
            code.windows(pattern.len()).filter(|window| *window == pattern).count()
        })
        .collect()
}

fn expect_copies(request: &Request, pattern: &[u8]) {
    let expected: Vec<usize> = COPIES.iter().map(|copies| *copies as usize).collect();
    for compiler in ["gcc", "clang"] {
        for flags in ["-O0", "-O1", "-O2", "-O3"] {
            let request =
                Request { compiler: Some(compiler.into()), flags: flags.into(), ..request.clone() };
            // A block that runs again is there once, too.
            for runs in [1, 8] {
                assert_eq!(
                    occurrences(&request, runs, pattern),
                    expected,
                    "{} with {compiler} {flags}, {runs} runs",
                    request.codes[0]
                );
            }
        }
    }
}

/// `imul r64, r/m64`.
const IMUL: [u8; 2] = [0x0f, 0xaf];

#[cfg(target_arch = "x86_64")]
#[test]
fn a_chain_has_one_multiplication_for_each_copy() {
    expect_copies(&request("x = x * c", &["uint64_t x = 3", "uint64_t c = 5"], Language::C), &IMUL);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn independent_copies_are_neither_folded_nor_merged() {
    expect_copies(&request("x * c", &["uint64_t x = 3", "uint64_t c = 5"], Language::C), &IMUL);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn assembly_is_repeated_as_often_as_requested() {
    expect_copies(&request("imul rax, rcx", &[], Language::Asm), &IMUL);
    expect_copies(&request("imul %rcx, %rax", &[], Language::Asm), &IMUL);
    expect_copies(
        &request("imul %[c], %[x]", &["uint64_t x = 3", "uint64_t c = 5"], Language::Asm),
        &IMUL,
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn cpp_has_one_multiplication_for_each_copy() {
    // `mulsd xmm, xmm/m64`.
    let request = request("x = x * y", &["double x = 3", "double y = 2"], Language::Cpp);
    for flags in ["-O0", "-O2"] {
        let request = Request { flags: flags.into(), ..request.clone() };
        for runs in [1, 8] {
            assert_eq!(
                occurrences(&request, runs, &[0x0f, 0x59]),
                [1, 7, 40],
                "{flags}, {runs} runs"
            );
        }
    }
}

#[test]
fn the_size_of_a_row_grows_with_its_copies() {
    let request = request("x = x * c", &["uint64_t x = 3", "uint64_t c = 5"], Language::C);
    let folder = cleanup::Folder::new().unwrap();
    let library =
        compile(&job(&request, &find(&request).unwrap(), folder.path()), &rows(), 0).unwrap();
    assert!(library.row_bytes.is_sorted() && library.row_bytes[0] > 0, "{:?}", library.row_bytes);
}

/// Address of the code of each row and of the user's functions, or of the user's data, within a
/// line of the cache.
fn places(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<u64> {
    let data = std::fs::read(path).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let mut all_places: Vec<(String, u64)> = file
        .symbols()
        .filter_map(|symbol| {
            Some((symbol.name().ok().filter(|name| is_wanted(name))?.to_owned(), symbol.address()))
        })
        .collect();
    all_places.sort();
    all_places.into_iter().map(|(_, address)| address % 64).collect()
}

#[test]
fn layouts_have_the_same_code_and_data_at_every_place_in_a_line_of_the_cache() {
    let own_source = "static int data_set[64] = {1};\nint data_unset[64];\n\
               static const volatile int data_fixed[64] = {2};\n\
               __attribute__((noinline)) static int own(int n) { data_set[n & 63] += n; \
               data_unset[n & 63] ^= n; return n > 3 ? n * 7 : n + data_fixed[n & 63]; }";
    let folder = cleanup::Folder::new().unwrap();
    let file = folder.path().join("own.c");
    std::fs::write(&file, own_source).unwrap();
    for compiler in ["gcc", "clang"] {
        let mut request = request("n = own(n)", &["int n = 3"], Language::C);
        (request.files, request.compiler) = (vec![file.clone()], Some(compiler.into()));
        let library =
            compile_in_layouts(&job(&request, &find(&request).unwrap(), folder.path()), &rows())
                .unwrap();
        let moved = |is_wanted: fn(&str) -> bool, least_places: usize| -> Vec<Vec<u64>> {
            let layouts: Vec<Vec<u64>> =
                library.paths.iter().map(|path| places(path, is_wanted)).collect();
            assert!(
                layouts.len() == LAYOUTS && layouts[0].len() >= least_places,
                "{compiler}: {layouts:?}"
            );
            let of = |at: usize| {
                let mut moved: Vec<u64> =
                    layouts.iter().map(|layout| (layout[at] + 64 - layouts[0][at]) % 64).collect();
                moved.sort_unstable();
                moved
            };
            (0..layouts[0].len()).map(of).collect()
        };
        let of_code = moved(|name| name == "own" || row_of(name).is_some(), COPIES.len() + 1);
        assert!(of_code.iter().all(|moved| moved == &[0, 16, 32, 48]), "{compiler}: {of_code:?}");
        let of_data = moved(|name| name.starts_with("data_"), 3);
        assert!(of_data.iter().all(|moved| moved == &[0, 0, 32, 32]), "{compiler}: {of_data:?}");
    }
}

/// Address of the code of each row.
fn of_rows(path: &Path, rows: usize) -> Vec<u64> {
    let data = std::fs::read(path).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let of_row =
        |row| file.symbols().filter(move |symbol| symbol.name().ok().and_then(row_of) == Some(row));
    (0..rows).map(|row| of_row(row).max_by_key(|symbol| symbol.size()).unwrap().address()).collect()
}

#[test]
fn equal_alternatives_have_the_places_of_each_other() {
    let folder = cleanup::Folder::new().unwrap();
    let lets = ["uint64_t x = 3", "uint64_t c = 5"];
    for (compiler, language) in [
        ("gcc", Language::C),
        ("clang", Language::C),
        ("gcc", Language::Cpp),
        ("gcc", Language::Asm),
    ] {
        for (alternatives, straight) in
            [(1, true), (2, true), (3, true), (4, true), (1, false), (2, false), (3, false)]
        {
            let code = if language == Language::Asm { "imul %[c], %[x]" } else { "x = x * c" };
            let mut request = request(code, &lets, language);
            request.codes = vec![code.into(); alternatives];
            request.compiler =
                Some(if language == Language::Cpp { "g++" } else { compiler }.into());
            let rows: Vec<RowSpec> = (0..alternatives)
                .flat_map(|subject| rows().into_iter().map(move |row| RowSpec { subject, ..row }))
                .collect();
            let compile = if straight { compile_in_turns } else { compile_in_layouts };
            let library =
                compile(&job(&request, &find(&request).unwrap(), folder.path()), &rows).unwrap();
            let (layouts, turns) =
                (if straight { 1 } else { LAYOUTS }, [1, 2, 3, 1][alternatives - 1]);
            assert_eq!(
                (library.paths.len(), library.crossover),
                (layouts * turns, turns),
                "{compiler} {language:?} {alternatives}"
            );
            for neighbours in library.paths.chunks(turns).filter(|_| turns > 1) {
                let places: Vec<Vec<u64>> =
                    neighbours.iter().map(|path| of_rows(path, rows.len())).collect();
                let of = |library: usize, alternative: usize| {
                    &places[library][alternative * COPIES.len()..][..COPIES.len()]
                };
                let at = |place: usize| -> Vec<&[u64]> {
                    (0..turns).map(|library| of(library, (place + library) % turns)).collect()
                };
                // In each library another alternative is first, and the place of the first is the
                // same.
                assert!(
                    (0..turns).all(|place| at(place).iter().all(|one| *one == at(place)[0])),
                    "{compiler} {language:?}: {places:?}"
                );
                assert_ne!(of(0, 0), of(0, 1));
            }
        }
    }
}

#[test]
fn a_compiler_that_cannot_link_in_two_steps_gives_one_layout() {
    let folder = cleanup::Folder::new().unwrap();
    let wrapper = folder.path().join("one-step");
    std::fs::write(
        &wrapper,
        "#!/bin/sh\nfor word; do [ \"$word\" != -r ] || exit 1; done\nexec cc \"$@\"\n",
    )
    .unwrap();
    let mut request =
        request("x = x > 3 ? x * c : c", &["uint64_t x = 3", "uint64_t c = 5"], Language::C);
    // The shell reads the file: one that was just written may not be executed while another thread
    // starts a process.
    request.compiler = Some(format!("sh {}", wrapper.display()));
    let library =
        compile_in_layouts(&job(&request, &find(&request).unwrap(), folder.path()), &rows())
            .unwrap();
    assert!(library.paths.len() == 1 && library.row_bytes.is_sorted(), "{library:?}");
}

#[test]
fn messages_are_about_the_users_lines() {
    let request = request("x = x *\n nonsense", &["uint64_t x = 3"], Language::C);
    let folder = cleanup::Folder::new().unwrap();
    let error = compile(&job(&request, &find(&request).unwrap(), folder.path()), &rows(), 0)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("CODE:2:") && error.contains("nonsense") && !error.contains("hs_"),
        "{error}"
    );
    assert_eq!(error.matches("error:").count(), 1, "{error}");
}

#[test]
fn a_missing_compiler_names_the_package_to_install() {
    let request =
        Request { compiler: Some("nosuchcompiler".into()), ..request("1", &[], Language::Cpp) };
    let message = find(&request).unwrap_err().to_string();
    assert!(
        message.contains("nosuchcompiler") && message.contains("apt-get install g++"),
        "{message}"
    );
}
