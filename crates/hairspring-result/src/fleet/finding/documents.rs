//! Findings about the files of a fleet, and about who made them.

use hairspring_core::judge::words::{counted, shortened};
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// A file could not be read, or holds no result.
pub struct NotMerged {
    pub file: String,
    pub reason: String,
}

impl Kind for NotMerged {
    fn describe(self) -> Description {
        let NotMerged { file, reason } = self;
        Description {
            code: "not_merged",
            message: format!("{file}: {reason}"),
            numbers: numbers! { file, reason },
            remedy: "run the job of this file again, or leave the file out",
        }
    }
}

/// Further files of that kind, which are not listed.
pub struct MoreNotMerged {
    pub files: usize,
}

impl Kind for MoreNotMerged {
    fn describe(self) -> Description {
        let MoreNotMerged { files } = self;
        Description {
            code: "not_merged",
            message: format!("{} not merged either", counted(files as u64, "file is", "files are")),
            numbers: numbers! { files },
            remedy: "run the jobs of these files again, or leave the files out",
        }
    }
}

/// Documents were given more than once.
pub struct MergedTwice {
    pub documents: usize,
    pub files: Vec<String>,
}

impl Kind for MergedTwice {
    fn describe(self) -> Description {
        let MergedTwice { documents, files } = self;
        Description {
            code: "merged_twice",
            message: format!(
                "{} given before with the same contents, and counted once: {}",
                counted(documents as u64, "document was", "documents were"),
                shortened(&files)
            ),
            numbers: numbers! { documents, files },
            remedy: "nothing to do; look whether a job copied its result instead of measuring",
        }
    }
}

/// The merge was stopped before all documents were read.
pub struct Interrupted {
    pub read: usize,
    pub given: usize,
}

impl Kind for Interrupted {
    fn describe(self) -> Description {
        let Interrupted { read, given } = self;
        Description {
            code: "merge_interrupted",
            message: format!("the merge was stopped: {read} of {given} files were read"),
            numbers: numbers! { read, given },
            remedy: "merge all of them before you use these numbers",
        }
    }
}

/// Documents that do not say on which machine they were made.
pub struct MachineUnknown {
    pub documents: usize,
    pub files: Vec<String>,
}

impl Kind for MachineUnknown {
    fn describe(self) -> Description {
        let MachineUnknown { documents, files } = self;
        Description {
            code: "machine_unknown",
            message: format!(
                "{} not say on which machine the times were measured, and each counts as a machine \
                 of its own: {}",
                counted(documents as u64, "document does", "documents do"),
                shortened(&files)
            ),
            numbers: numbers! { documents, files },
            remedy: "measure with a version that names the machine; a table that was solved later \
                     does not name it",
        }
    }
}

/// Machines of which no document has the numbers of the family.
pub struct FamilyByName {
    pub machines: usize,
}

impl Kind for FamilyByName {
    fn describe(self) -> Description {
        let FamilyByName { machines } = self;
        Description {
            code: "family_by_name",
            message: format!(
                "{} by the model name, because no document has the numbers of the family; a \
                 hypervisor may give one name to several families",
                counted(machines as u64, "machine is grouped", "machines are grouped")
            ),
            numbers: numbers! { machines },
            remedy: "measure again with this version, which writes the numbers",
        }
    }
}
