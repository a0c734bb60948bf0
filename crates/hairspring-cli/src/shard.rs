//! Shards: which part of the benchmarks this machine runs, and the document that it leaves behind.

use crate::{AnyError, output};
use clap::Args;
use hairspring_result::Identity;
use std::io::Write;
use std::path::PathBuf;

// Which part of the benchmarks is run, for the verbs that have several.
#[derive(Debug, Clone, Args)]
pub struct ShardArguments {
    /// Run only part I of N of the benchmarks, I from 1: every Nth. `auto` takes both from the
    /// scheduler: the array of Slurm, the rank of MPI (PMI, Open MPI, PMIx), or the index of a Job
    /// of Kubernetes; without one it runs all
    #[arg(long, value_name = "I/N|auto", value_parser = wanted, conflicts_with = "replicate")]
    pub shard: Option<Wanted>,
    /// Run all benchmarks, as without --shard: each machine runs the same ones
    #[arg(long)]
    pub replicate: bool,
    /// Also write the JSON document to a new file in this folder, named by machine and time
    #[arg(long, value_name = "FOLDER")]
    pub document: Option<PathBuf>,
}

impl ShardArguments {
    /// The part that is run, if it is not all. Says so if no scheduler names one.
    pub fn part(&self) -> Option<Shard> {
        if self.shard == Some(Wanted::All) {
            output::complain(NO_SCHEDULER);
        }
        self.named()
    }

    /// Those things of a list that the part has. Says so if it has none.
    pub fn of_part<T>(&self, what: &str, all: Vec<T>) -> Option<Vec<T>> {
        let Some(part) = self.part() else { return Some(all) };
        let count = all.len();
        let own: Vec<T> =
            all.into_iter().enumerate().filter(|(at, _)| part.has(*at)).map(|own| own.1).collect();
        if own.is_empty() {
            part.tell_empty(what, count);
        }
        (!own.is_empty()).then_some(own)
    }

    fn named(&self) -> Option<Shard> {
        match self.shard? {
            Wanted::Part(part) => Some(part),
            Wanted::All => None,
        }
    }
}

const NO_SCHEDULER: &str = "--shard auto: no scheduler names a part (neither SLURM_ARRAY_TASK_ID \
                            nor a rank of MPI nor JOB_COMPLETION_INDEX is set): nothing is left \
                            out";

/// What `--shard` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// One part.
    Part(Shard),
    /// All: `auto` outside of a scheduler.
    All,
}

/// One of several parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub number: u64,
    /// Number of parts.
    pub of: u64,
}

fn wanted(text: &str) -> Result<Wanted, String> {
    if text == "auto" {
        let value = |name: &str| std::env::var_os(name).map(|text| text.to_string_lossy().into());
        return Ok(Shard::of_scheduler(value)?.map_or(Wanted::All, Wanted::Part));
    }
    let numbers = text.split_once('/').and_then(|(number, of)| {
        Some(Shard { number: number.parse().ok()?, of: of.parse().ok()? })
    });
    numbers
        .filter(|shard| (1..=shard.of).contains(&shard.number))
        .map(Wanted::Part)
        .ok_or_else(|| "expected I/N with I from 1 to N, such as 2/8, or auto".into())
}

/// Variables of a rank and of the number of ranks. PMIx states no number: that of Open MPI or of
/// the tasks of Slurm stands beside it. Neither does Kubernetes, whose Jobs set the second name
/// themselves.
const RANKS: [[&str; 2]; 5] = [
    ["PMI_RANK", "PMI_SIZE"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMIX_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMIX_RANK", "SLURM_NTASKS"],
    ["JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"],
];

impl Shard {
    /// The part that the variables of the scheduler name. An array of jobs with several ranks each
    /// has a part for each rank of each job.
    fn of_scheduler(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Shard>, String> {
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => text.trim().parse::<u64>().map(Some).map_err(|_| {
                format!("{name} is `{}`, which is no number: give I/N", text.escape_debug())
            }),
        };
        let (array, ranks) = (array(&number)?, ranks(&number)?);
        match (array, ranks) {
            (Some(job), Some(rank)) => {
                let of = job.of.checked_mul(rank.of).ok_or("there are too many parts: give I/N")?;
                Ok(Some(Shard { number: (job.number - 1) * rank.of + rank.number, of }))
            }
            (one, other) => Ok(one.or(other)),
        }
    }

    /// Whether this part has the benchmark at a place of the list of all.
    pub fn has(self, place: usize) -> bool {
        place as u64 % self.of == self.number - 1
    }

    /// Says that this part has nothing, of so many things.
    pub fn tell_empty(self, what: &str, count: usize) {
        let Shard { number, of } = self;
        let are = if count == 1 { "is" } else { "are" };
        output::complain(&format!("part {number} of {of} has no {what}: there {are} only {count}"));
    }
}

type Number<'n> = &'n dyn Fn(&str) -> Result<Option<u64>, String>;

/// The place of a job in its array. The indices of an array may start anywhere and have a step.
fn array(number: Number) -> Result<Option<Shard>, String> {
    let Some(task) = number("SLURM_ARRAY_TASK_ID")? else { return Ok(None) };
    let of = number("SLURM_ARRAY_TASK_COUNT")?
        .ok_or("SLURM_ARRAY_TASK_ID is set, and SLURM_ARRAY_TASK_COUNT is not: give I/N")?;
    let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
    let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
    let place = task.checked_sub(first).filter(|past| past % step == 0).map(|past| past / step);
    let place = place.filter(|place| *place < of).ok_or_else(|| {
        format!(
            "SLURM_ARRAY_TASK_ID {task} is no place in an array of {of} from {first} in steps of \
             {step}: give I/N, with the N of the first submission"
        )
    })?;
    Ok(Some(Shard { number: place + 1, of }))
}

fn ranks(number: Number) -> Result<Option<Shard>, String> {
    for [rank, size] in RANKS {
        if let (Some(rank_of), Some(of)) = (number(rank)?, number(size)?) {
            let shard = Shard { number: rank_of.saturating_add(1), of };
            return (rank_of < of).then_some(Some(shard)).ok_or_else(|| {
                format!(
                    "{rank} is {rank_of} of {of} ({size}), and ranks are counted from 0: give \
                         I/N"
                )
            });
        }
    }
    // One rank of an unknown number is no reason to run all on each.
    for [rank, size] in RANKS {
        if number(rank)?.is_some() {
            return Err(format!(
                "{rank} is set, and the number of ranks ({size}) is not: give I/N"
            ));
        }
    }
    Ok(None)
}

/// The file of a document in a folder, named by machine and time. It is replaced as a whole, so
/// that a reader never sees half of it, and holds what was measured so far.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    name: String,
}

impl Kept {
    /// The file of this run; the folder is made.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(arguments: &ShardArguments, identity: &Identity) -> Result<Option<Kept>, AnyError> {
        Kept::labelled(arguments, identity, "")
    }

    /// The same for one of several documents of a run.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn labelled(
        arguments: &ShardArguments,
        identity: &Identity,
        label: &str,
    ) -> Result<Option<Kept>, AnyError> {
        let Some(folder) = &arguments.document else { return Ok(None) };
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("--document {}: {error}", folder.display()))?;
        let node = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = file_name(node.trim(), identity, label, arguments.named());
        Ok(Some(Kept { folder: folder.clone(), name }))
    }

    /// Writes the document as it is now.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&self, text: &str) -> Result<(), AnyError> {
        let (new, file) =
            (self.folder.join(format!(".{}.new", self.name)), self.folder.join(&self.name));
        let written = std::fs::File::create(&new).and_then(|mut out| {
            out.write_all(text.as_bytes())?;
            out.sync_all()?;
            std::fs::rename(&new, &file)
        });
        written.map_err(|error| format!("--document {}: {error}", file.display()).into())
    }

    /// The same in the middle of a measurement, which an error does not end.
    pub fn write_so_far(&self, text: &str) {
        if let Err(error) = self.write(text) {
            output::complain(&error.to_string());
        }
    }
}

/// `node7-20261130T120000Z-9f3c-2of8.json`: the end of the machine's fingerprint tells machines of
/// one name apart.
fn file_name(node: &str, identity: &Identity, label: &str, shard: Option<Shard>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let short = |text: &str| text.chars().take(64).map(plain).collect::<String>();
    let words = label.split('-').filter(|_| !label.is_empty());
    let label: String = words.map(|word| format!("-{}", short(word))).collect();
    let node = short(node);
    let node = node.trim_start_matches('.');
    let time: String = identity.created.chars().filter(char::is_ascii_alphanumeric).collect();
    let host = identity.host.as_deref().unwrap_or("0000");
    let host = host.get(host.len().saturating_sub(4)..).unwrap_or(host);
    let part = shard.map_or_else(String::new, |one| format!("-{}of{}", one.number, one.of));
    let process = std::process::id();
    format!("{node}-{time}-{host}-{process}{label}{part}.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn auto(variables: &[(&str, &str)]) -> Result<(u64, u64), String> {
        let value = |name: &str| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        };
        let part = Shard::of_scheduler(value)?.ok_or("all")?;
        Ok((part.number, part.of))
    }

    #[test]
    fn parts_are_disjoint_and_whole() {
        let parts = [1, 2, 3].map(|number| Shard { number, of: 3 });
        for place in 0..10 {
            assert_eq!(parts.iter().filter(|part| part.has(place)).count(), 1);
        }
        assert_eq!(wanted("2/8"), Ok(Wanted::Part(Shard { number: 2, of: 8 })));
        for text in ["", "0/4", "5/4", "1", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert!(wanted(text).is_err(), "{text}");
        }
    }

    #[test]
    fn slurm_arrays_start_anywhere_and_have_steps() {
        let array = |id, count, min, step| {
            auto(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_COUNT", count),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_STEP", step),
            ])
        };
        assert_eq!(array("0", "4", "0", "1"), Ok((1, 4)));
        assert_eq!(array("7", "4", "1", "2"), Ok((4, 4)));
        assert!(array("7", "2", "3", "1").unwrap_err().contains("give I/N"));
        assert!(array("x", "2", "3", "1").unwrap_err().contains("SLURM_ARRAY_TASK_ID is `x`"));
        assert!(array("\u{1b}[2J", "2", "3", "1").unwrap_err().contains("`\\u{1b}[2J`"));
        assert!(auto(&[("SLURM_ARRAY_TASK_ID", "1")]).unwrap_err().contains("give I/N"));
        let last = u64::MAX.to_string();
        assert!(array(&last, "4", "0", "1").is_err() && array("0", &last, "0", "1").is_ok());
    }

    #[test]
    fn ranks_of_mpi_are_parts_and_multiply_with_an_array() {
        assert_eq!(auto(&[("PMI_RANK", "0"), ("PMI_SIZE", "3")]), Ok((1, 3)));
        let open = [("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "3")];
        assert_eq!(auto(&open), Ok((3, 3)));
        assert_eq!(auto(&[("PMIX_RANK", "1"), ("SLURM_NTASKS", "2")]), Ok((2, 2)));
        let both = [
            ("SLURM_ARRAY_TASK_ID", "1"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("PMI_RANK", "2"),
            ("PMI_SIZE", "4"),
        ];
        assert_eq!(auto(&both), Ok((7, 8)));
        assert!(auto(&[("PMI_RANK", "3"), ("PMI_SIZE", "3")]).is_err());
        assert!(auto(&[("PMIX_RANK", "1")]).unwrap_err().contains("give I/N"));
        assert!(auto(&[("PMI_RANK", "0")]).unwrap_err().contains("PMI_SIZE"));
        let huge = u64::MAX.to_string();
        let both = [
            ("SLURM_ARRAY_TASK_ID", "1"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("PMI_RANK", "2"),
            ("PMI_SIZE", &huge),
        ];
        assert!(auto(&both).unwrap_err().contains("too many parts"));
        assert_eq!(auto(&[]), Err("all".to_owned()));
    }

    #[test]
    fn jobs_of_kubernetes_have_an_index_and_state_their_number() {
        let index = ("JOB_COMPLETION_INDEX", "2");
        assert_eq!(auto(&[index, ("JOB_COMPLETIONS", "3")]), Ok((3, 3)));
        assert!(auto(&[index]).unwrap_err().contains("(JOB_COMPLETIONS) is not: give I/N"));
        let beyond = auto(&[index, ("JOB_COMPLETIONS", "2")]).unwrap_err();
        assert!(beyond.contains("JOB_COMPLETION_INDEX is 2 of 2"), "{beyond}");
        assert!(auto(&[index, ("JOB_COMPLETIONS", "many")]).unwrap_err().contains("is `many`"));
        let ranks = [("PMI_RANK", "0"), ("PMI_SIZE", "4"), index, ("JOB_COMPLETIONS", "3")];
        assert_eq!(auto(&ranks), Ok((1, 4)), "the ranks of one pod are its parts");
    }

    #[test]
    fn a_document_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let identity = Identity::new(at, Some("0011223344556677".into()), None);
        let name = file_name("../node 7", &identity, "", Some(Shard { number: 2, of: 8 }));
        let one_of_several = file_name("n", &identity, "3-../\u{1b}x", None);
        assert!(one_of_several.ends_with("-3-..__x.json"), "{one_of_several}");
        assert!(name.starts_with("_node_7-20231114T221320Z-6677-"), "{name}");
        assert!(name.ends_with("-2of8.json"), "{name}");
        let kept = Kept { folder: folder.path().to_owned(), name };
        kept.write("first").unwrap();
        kept.write("second").unwrap();
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(files.len(), 1);
        let text = std::fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap();
        assert_eq!(text, "second");
    }
}
