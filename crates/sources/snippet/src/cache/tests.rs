//! What is taken from the cache is what would be compiled, and nothing in the cache can do harm.

use super::depends::listed;
use super::store::{Entry, Store};
use super::*;
use crate::compile::{Compiler, find};
use crate::request::Request;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

/// A folder of a cache, one of a compilation, and one with the user's files.
struct Rig {
    base: TempDir,
    compiler: Compiler,
}

impl Rig {
    fn new() -> Rig {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir(base.path().join("own")).unwrap();
        let compiler = find(&Request { compiler: Some("gcc".into()), ..Request::default() })
            .expect("gcc is needed here: apt-get install gcc");
        Rig { base, compiler }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn cache(&self) -> Cache {
        Cache::open_in(&self.path("cache")).unwrap()
    }

    /// The step that makes `out` from `in.c`, with these flags of the user.
    fn step<'s>(&'s self, flags: &[&str], output: &Path) -> Step<'s> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let arguments = flags.iter().map(Into::into).collect();
        Step {
            compiler: &self.compiler,
            arguments,
            flags,
            folder: self.base.path(),
            sources: vec![self.path("in.c")],
            objects: vec![],
            outputs: vec![output.to_owned()],
        }
    }

    /// Keeps `text` as the output of a step that read `own/one.h`.
    fn keep(&self, flags: &[&str], text: &str) {
        let (output, cache) = (self.path("out"), self.cache());
        let step = self.step(flags, &output);
        // What was written just now may have been written since.
        std::thread::sleep(std::time::Duration::from_millis(60));
        let slot = cache.slot(&step).unwrap();
        std::fs::write(&output, text).unwrap();
        self.write(
            "list.d",
            &format!(
                "out: {} \\\n {}\n",
                self.path("in.c").display(),
                self.path("own/one.h").display()
            ),
        );
        // The folder of the compilation is another one than that of the headers.
        slot.keep(&[self.path("list.d")], &self.path("in.c"));
        std::fs::remove_file(&output).unwrap();
    }

    /// The output of a step, if the cache has it.
    fn fetched(&self, flags: &[&str]) -> Option<String> {
        let (output, cache) = (self.path("out"), self.cache());
        let is_there = cache.slot(&self.step(flags, &output))?.fetch();
        is_there.then(|| std::fs::read_to_string(&output).unwrap())
    }

    /// A cache with the output `made` of a step.
    fn with_entry() -> Rig {
        let rig = Rig::new();
        rig.write("in.c", "int x;");
        rig.write("own/one.h", "int y;");
        rig.keep(&["-O2"], "made");
        assert_eq!(rig.fetched(&["-O2"]).as_deref(), Some("made"));
        rig
    }

    /// The files of the cache.
    fn entries(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.path("cache/compiled"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect()
    }
}

#[test]
fn another_source_header_or_flag_is_compiled_anew() {
    let rig = Rig::with_entry();
    assert_eq!(rig.fetched(&["-O3"]), None);
    rig.write("own/one.h", "int z;");
    assert_eq!(rig.fetched(&["-O2"]), None);
    rig.write("own/one.h", "int y;");
    assert_eq!(rig.fetched(&["-O2"]).as_deref(), Some("made"));
    rig.write("in.c", "int xx;");
    assert_eq!(rig.fetched(&["-O2"]), None);
    rig.write("in.c", "int x;");
    std::fs::remove_file(rig.path("own/one.h")).unwrap();
    assert_eq!(rig.fetched(&["-O2"]), None);
}

#[test]
fn a_header_that_comes_before_a_known_one_is_seen() {
    let rig = Rig::with_entry();
    std::fs::create_dir(rig.path("first")).unwrap();
    let flag = format!("-I{}", rig.path("first").display());
    rig.keep(&[&flag], "with a folder");
    assert_eq!(rig.fetched(&[&flag]).as_deref(), Some("with a folder"));
    rig.write("first/one.h", "int other;");
    assert_eq!(rig.fetched(&[&flag]), None);
}

#[test]
fn what_is_not_known_is_not_kept() {
    let rig = Rig::with_entry();
    let (output, cache) = (rig.path("out"), rig.cache());
    for flag in [
        "@file",
        "-fplugin=x.so",
        "-specs=x",
        "-Wl,-T,x",
        "-include",
        "-B.",
        "-fprofile-use=x",
        "x.o",
        "-L.",
        "--sysroot=/",
        "-fbasic-block-sections=list=x",
        "-load=x.so",
    ] {
        assert!(cache.slot(&rig.step(&[flag], &output)).is_none(), "{flag}");
    }
    for flag in [
        "-O2",
        "-march=native",
        "-std=c11",
        "-DA=1",
        "-Iinclude",
        "-ffast-math",
        "-Wall",
        "-lm",
        "-pthread",
        "-g",
    ] {
        assert!(cache.slot(&rig.step(&[flag], &output)).is_some(), "{flag}");
    }
    for text in ["__asm__(\".incbin \\\"x\\\"\");", "const char *t = __TIME__;"] {
        rig.write("in.c", text);
        assert!(cache.slot(&rig.step(&["-O2"], &output)).is_none(), "{text}");
    }
    let script = rig.path("wrapper");
    std::fs::write(&script, "#!/bin/sh\nexec gcc \"$@\"\n").unwrap();
    let compiler =
        Compiler { command: script.display().to_string(), flags: vec![], version: "x".into() };
    rig.write("in.c", "int x;");
    assert!(cache.slot(&Step { compiler: &compiler, ..rig.step(&["-O2"], &output) }).is_none());
}

#[test]
fn a_header_that_changes_meanwhile_is_not_kept() {
    let rig = Rig::with_entry();
    let (output, cache) = (rig.path("out"), rig.cache());
    let step = rig.step(&["-O1"], &output);
    let slot = cache.slot(&step).unwrap();
    rig.write("out", "made of the first header");
    rig.write("own/one.h", "int second;");
    rig.write("list.d", &format!("out: {}\n", rig.path("own/one.h").display()));
    slot.keep(&[rig.path("list.d")], &rig.path("in.c"));
    assert_eq!(rig.fetched(&["-O1"]), None);
}

#[test]
fn a_header_beside_another_one_is_seen() {
    let rig = Rig::with_entry();
    std::fs::create_dir_all(rig.path("own/a/b/c/d/e")).unwrap();
    rig.write("own/a/b/c/d/e/deep.h", "int deep;");
    rig.write("own/one.h", "#include \"a/b/c/d/e/deep.h\"");
    rig.write("list.d", "");
    std::thread::sleep(std::time::Duration::from_millis(60));
    let (output, cache) = (rig.path("out"), rig.cache());
    let step = rig.step(&["-Os"], &output);
    let slot = cache.slot(&step).unwrap();
    let list = format!(
        "out: {} {}\n",
        rig.path("own/one.h").display(),
        rig.path("own/a/b/c/d/e/deep.h").display()
    );
    rig.write("list.d", &list);
    rig.write("out", "made");
    slot.keep(&[rig.path("list.d")], &rig.path("in.c"));
    assert_eq!(rig.fetched(&["-Os"]).as_deref(), Some("made"));
    rig.write("own/deep.h", "int nearer;");
    assert_eq!(rig.fetched(&["-Os"]), None);
}

#[test]
fn files_that_ask_for_others_and_files_that_are_no_objects_are_not_kept() {
    let rig = Rig::with_entry();
    rig.write("own/one.h", "#if __has_include(\"later.h\")\n#endif");
    rig.keep(&["-O1"], "asks");
    assert_eq!(rig.fetched(&["-O1"]), None);
    let (output, cache) = (rig.path("out"), rig.cache());
    for (name, text, is_known) in
        [("a.c", "int x;", false), ("thin.a", "!<thin>\nx", false), ("a.a", "!<arch>\nx", true)]
    {
        rig.write(name, text);
        let step = Step { objects: vec![rig.path(name)], ..rig.step(&["-O2"], &output) };
        assert_eq!(cache.slot(&step).is_some(), is_known, "{name}");
    }
}

#[test]
fn damaged_entries_are_compiled_anew() {
    for damage in [
        &(|bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2)) as &dyn Fn(&mut Vec<u8>),
        &|bytes| bytes.clear(),
        &|bytes| bytes.truncate(7),
        &|bytes| {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
        },
        &|bytes| bytes.fill(0xff),
        &|bytes| *bytes = vec![0x5a; 100_000],
    ] {
        let rig = Rig::with_entry();
        let entry = rig.entries().remove(0);
        let mut bytes = std::fs::read(&entry).unwrap();
        damage(&mut bytes);
        std::fs::write(&entry, bytes).unwrap();
        assert_eq!(rig.fetched(&["-O2"]), None);
        rig.keep(&["-O2"], "made again");
        assert_eq!(rig.fetched(&["-O2"]).as_deref(), Some("made again"));
    }
}

#[test]
fn entries_that_others_may_have_written_do_not_count() {
    let rig = Rig::with_entry();
    let entry = rig.entries().remove(0);
    std::fs::set_permissions(&entry, PermissionsExt::from_mode(0o666)).unwrap();
    assert_eq!(rig.fetched(&["-O2"]), None);
    std::fs::set_permissions(&entry, PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(rig.fetched(&["-O2"]).as_deref(), Some("made"));
    std::fs::rename(&entry, rig.path("elsewhere")).unwrap();
    symlink(rig.path("elsewhere"), &entry).unwrap();
    assert_eq!(rig.fetched(&["-O2"]), None);
    std::fs::set_permissions(rig.path("cache/compiled"), PermissionsExt::from_mode(0o777)).unwrap();
    assert!(Cache::open_in(&rig.path("cache")).is_none());
}

#[test]
fn a_folder_that_cannot_be_is_no_cache() {
    let rig = Rig::new();
    rig.write("file", "");
    assert!(Cache::open_in(&rig.path("file")).is_none());
    symlink(rig.path("own"), rig.path("link")).unwrap();
    assert!(Cache::open_in(&rig.path("link")).is_none());
    assert!(Cache::open_in(Path::new("/proc/none")).is_none());
}

#[test]
fn what_was_used_the_longest_time_ago_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("cache")).unwrap();
    for number in 0..8_u64 {
        store.write(
            &number.to_string(),
            &Entry { depends: vec![], folders: vec![], outputs: vec![vec![number as u8; 1_000]] },
        );
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(number);
        std::fs::File::options()
            .write(true)
            .open(folder.path().join(format!("cache/compiled/{number}")))
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    assert!(store.read("0").is_some());
    store.shrink(8_000, 3_500);
    let entries_left: Vec<u64> =
        (0..8).filter(|number| store.read(&number.to_string()).is_some()).collect();
    assert_eq!(entries_left, [0, 6, 7]);
    store.shrink(8_000, 0);
    assert_eq!((0..8).filter(|number| store.read(&number.to_string()).is_some()).count(), 3);
}

#[test]
fn writers_at_the_same_time_leave_a_whole_entry() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("cache")).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4_u8 {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..50 {
                    store.write(
                        "one",
                        &Entry {
                            depends: vec![],
                            folders: vec![],
                            outputs: vec![vec![writer; 20_000]],
                        },
                    );
                    let output = store.read("one").unwrap().outputs.remove(0);
                    assert!(output.len() == 20_000 && output.iter().all(|byte| *byte == output[0]));
                }
            });
        }
    });
    assert_eq!(std::fs::read_dir(folder.path().join("cache/compiled")).unwrap().count(), 1);
}

#[test]
fn lists_of_files_are_rules_of_make() {
    let files = |rule: &str| {
        listed(rule).unwrap().iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        files("a.o: in.c \\\n /usr/include/a\\ b.h c$$d.h e\\#f.h\n"),
        ["in.c", "/usr/include/a b.h", "c$d.h", "e#f.h"]
    );
    assert_eq!(files("rows.so: \\\n  a.o \\\n  b.so\n\na.o:\n\nb.so:\n"), ["a.o", "b.so"]);
    assert!(listed("nothing").is_none() && listed("").is_none());
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _ = (listed(&String::from_utf8_lossy(&bytes)),
            postcard::from_bytes::<Entry>(&bytes).is_ok());
    }
}
