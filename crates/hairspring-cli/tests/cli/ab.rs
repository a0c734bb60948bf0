//! `ab`: two builds. Programs are scripts with made-up times, which print documents, or which take
//! turns as programs of the library do.

use crate::command::{Hairspring, needs};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::process::Command;

/// A program that answers as one with benchmarks of these names. `taking` is lines of Python that
/// run before it writes its document; times spread by a thousandth.
fn program(names: &[&str], ns: f64, taking: &str) -> String {
    format!(
        "exec python3 - \"$@\" <<'END'
import json, os, random, socket, sys
names, ns = {}, {ns}
if '--list' in sys.argv:
    print(*(f'{{name}}: benchmark' for name in names), sep='\\n')
    sys.exit()
{taking}
def e(value):
    return dict(value=value, low=value, high=value, level=0.95)
def series(name):
    time = e(ns * random.uniform(0.999, 1.001))
    body = dict(time_ns=time, cycles=None, cycles_reason='none', below_resolution=False, mode=None)
    return dict(name=name, code=None, bytes_per_copy=None, components=dict(body=body),
        overhead=None)
document = dict(schema='hairspring/result/2', command='run', environment={{}}, run=None,
    results=[series(name) for name in names])
with open(sys.argv[sys.argv.index('--output') + 1], 'w') as file:
    json.dump(document, file)
END
",
        json!(names)
    )
}

/// Says where it is in a file, as often as a program with two groups of benchmarks.
const TAKES_TURNS: &str = "
partner = socket.socket(socket.AF_UNIX)
partner.connect(os.environ['HAIRSPRING_TURNS'])
stream = partner.makefile('rwb', buffering=0)
stream.readline()
def say(what):
    with open('turns', 'a') as file:
        file.write(f'{ns:g}{what} ')
    stream.write(what.encode())
    stream.read(1)
for group in range(2):
    for turn in 'srr':
        say(turn)
";

fn ab() -> Hairspring {
    needs("python3");
    Hairspring::new().with("ab")
}

/// Two builds of which the head takes so much longer.
fn builds(factor: f64) -> Hairspring {
    let base = program(&["copy", "sort"], 100.0, "");
    let head = program(&["copy", "sort"], 100.0 * factor, "");
    ab().with_script("base", &base).with_script("head", &head).with("./base").with("./head")
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_change_is_claimed_and_equal_builds_are_not() {
    let ended = builds(1.05).succeeds().says("head is slower").says("base over base");
    assert!(ended.output.lines().all(|line| line.chars().count() <= 80), "{}", ended.output);
    ended.says("whole processes alternate").says("2 benchmarks: 2 slower");
    builds(1.0).option("--pairs", "8").succeeds().says("no difference within");
}

#[test]
fn thresholds_come_from_the_command_line_or_from_a_file() {
    builds(1.05).option("--threshold", "2%").ends_with(3).says("past the threshold of 2 %");
    builds(1.05).option("--threshold", "20%").succeeds().says("within the threshold");
    let file = "[[ab.threshold]]\nname = 'so*'\nns = 2\n[[ab.threshold]]\nname = '*'\nrelative = \
                '20%'\n";
    let ended = builds(1.05).beside("hairspring.toml", file).ends_with(3);
    ended.says("past the threshold of 2 ns").says("within the threshold of 20 %");
    builds(1.05)
        .beside("other.toml", "[[ab.threshold]]\nname = 'x'\n")
        .option("--config", "other.toml")
        .fails("give `relative`");
}

#[test]
fn programs_take_turns_batch_by_batch_to_and_fro() {
    let base = program(&["a", "b"], 100.0, TAKES_TURNS);
    let head = program(&["a", "b"], 50.0, TAKES_TURNS);
    let command = ab().with_script("base", &base).with_script("head", &head);
    let command = command.with("./base").with("./head").option("--pairs", "1").with("--json");
    let ended = command.succeeds();
    let found = document(&ended.output);
    assert_eq!((&found["how"], &found["schema"]), (&json!("rounds"), &json!("hairspring/ab/1")));
    // The first group is begun by all before any goes on, then the order turns about.
    let turns: Vec<String> = ended.file("turns").split_whitespace().map(str::to_owned).collect();
    assert_eq!(turns.len(), 18, "{turns:?}");
    assert_eq!(turns[..3], ["100s", "50s", "100s"]);
    let starts = |part: &[String]| part.iter().filter(|turn| turn.ends_with('s')).count();
    assert_eq!((starts(&turns[..9]), starts(&turns[9..12])), (3, 3), "{turns:?}");
}

/// A program that prints observations of so many nanoseconds a copy.
fn observing(ns: u32) -> String {
    let row = |(round, copies): (u32, u32)| {
        format!("main,{copies},{round},{}\n", ns * copies + 30 + (round * copies) % 3)
    };
    let rounds = (0..12).flat_map(|round| [1, 2, 4, 8, 16].map(|copies| (round, copies)));
    let rows: String = rounds.map(row).collect();
    let head = "# hairspring observations: 1\n# rate_hz: 1e9\nseries,body,round,ticks\n";
    format!("cat <<'END'\n{head}{rows}END\n")
}

#[test]
fn programs_that_print_observations_alternate_as_whole_processes() {
    let ab = |head: u32| {
        let ab = ab().with_script("base", &observing(40)).with_script("head", &observing(head));
        ab.with("./base").with("./head").option("--pairs", "6").with("--json").succeeds()
    };
    let found = document(&ab(80).output);
    assert_eq!(
        (&found["how"], &found["results"][0]["verdict"]),
        (&Value::from("processes"), &Value::from("slower"))
    );
    assert_eq!(found["findings"][0]["kind"], "no_turns");
    let ratio = found["results"][0]["ratio"]["value"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
    assert_ne!(document(&ab(40).output)["results"][0]["verdict"], "slower");
}

#[test]
fn names_that_differ_are_told() {
    let command = ab()
        .with_script("base", &program(&["copy", "<script>old"], 1.0, ""))
        .with_script("head", &program(&["copy", "new"], 1.0, ""));
    let ended = command.with("./base").with("./head").option("--pairs", "2").succeeds();
    ended.says("only in the base: <script>old").says("only in the head: new").says("too few");
    let command = ab()
        .with_script("base", &program(&["old"], 1.0, ""))
        .with_script("head", &program(&["new"], 1.0, ""));
    command.with("./base").with("./head").ends_with(2).complains("no benchmark in common");
}

#[test]
fn programs_that_fail_are_named_with_what_they_say() {
    let fails = "print('no memory', file=sys.stderr); sys.exit(4)";
    let command = ab()
        .with_script("base", &program(&["a"], 1.0, ""))
        .with_script("head", &program(&["a"], 1.0, fails));
    let ended = command.with("./base").with("./head").ends_with(1);
    ended.complains("./head: ended with status 4").complains("no memory");
    ab().with("./missing").with("./head").ends_with(1).complains("./missing");
    ab().with("nothing").with("HEAD").ends_with(2).complains("nothing");
    let without = program(&[], 1.0, "");
    let command = ab().with_script("none", &without).with("./none").with("./none");
    command.ends_with(2).complains("no benchmark");
}

/// Hangs in its process of this number.
fn hangs(process: u32) -> String {
    let lines = format!(
        "with open('processes', 'a') as file:\n    file.write('x')\n\
         if len(open('processes').read()) >= {process}:\n    os.execvp('sleep', ['sleep', '1000'])"
    );
    program(&["a"], 1.0, &lines)
}

#[test]
fn ctrl_c_gives_the_result_so_far() {
    let command = ab().with_script("base", &hangs(17)).with("./base").with("./base");
    let running = command.option("--pairs", "30").start();
    running.until_it_runs("sleep 1000");
    running.signal(Signal::SIGINT);
    running.ends_with(0).says("5 pairs").says("stopped by a signal").says("no difference");
    let running = ab().with_script("base", &hangs(1)).with("./base").with("./base").start();
    running.until_it_runs("sleep 1000");
    running.signal(Signal::SIGTERM);
    running.ends_with(1);
}

#[test]
fn whole_commands_are_timed_beside_one_that_does_nothing() {
    let command = ab().with("--command").with("sleep 0.01").with("sleep 0.1");
    let ended = command.option("--pairs", "5").succeeds();
    ended.says("head is slower").says("a process that does nothing");
    let command = ab().with("--command").with("false").with("true");
    command.ends_with(1).complains("`false` ended with status 1");
    ab().with("--command").with("'open").with("true").ends_with(2).complains("open quote");
}

/// A repository with a program that another build would find in it.
const REPOSITORY: &str = "
set -e
git init -q . && git config user.email a@b && git config user.name n
cat > make.sh <<'END'
mkdir -p out && cp program out/bench
END
chmod 755 program && git add program make.sh && git commit -qm one && git tag one
sed -i s/100/110/ program && git commit -qam two && git tag two
echo 'exit 1' > make.sh && git commit -qam broken && git tag broken
git checkout -q two 2>/dev/null
";

/// In such a repository.
fn repository() -> Hairspring {
    needs("git");
    let command = ab().with_script("program", &program(&["copy"], 100.0, ""));
    let command = command.with_script("setup", REPOSITORY);
    let done = Command::new("sh").arg("setup").current_dir(command.folder()).status().unwrap();
    assert!(done.success());
    command.option("--build", "sh make.sh").option("--program", "out/bench")
}

#[test]
fn commits_are_built_and_git_knows_of_no_worktree_afterwards() {
    let ended = repository().with("one").with("two").with("--json").succeeds();
    let found = document(&ended.output);
    assert_eq!(found["results"][0]["verdict"], "slower");
    assert_eq!(found["head"]["commit"].as_str().unwrap().len(), 40);
    // Git removes the folder with the last worktree.
    assert!(!ended.files(".git").contains(&"worktrees".to_owned()));
    let ended = repository().with("one").with("broken").ends_with(1);
    ended.complains("broken").complains("ended with status 1");
    repository().with("one").with("no-such").ends_with(2).complains("neither a file nor a commit");
}

#[test]
fn the_working_tree_is_built_as_it_is() {
    let command = repository().beside("make.sh", "mkdir -p out; cp program out/bench\n# new\n");
    let ended = command.with("one").with(".").with("--json").succeeds();
    let found = document(&ended.output);
    assert_eq!((&found["head"]["dirty"], &found["head"]["named"]), (&json!(true), &json!(".")));
    let command = repository().beside("program", "x").with("one").with("two");
    command.option("--pairs", "1").succeeds().complains("not committed");
}
