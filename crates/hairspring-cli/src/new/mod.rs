//! `hairspring new`: a first benchmark in a project of Cargo, CMake, Python or fpm.
//!
//! Nothing is overwritten: new files must not exist, and existing ones only get lines at their end.
//! All is checked before anything is written.

mod kind;
mod manifest;
mod place;

use crate::misuse::Misuse;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use kind::{Addition, Kind, RECIPES, Recipe};
use place::{Place, checked_name};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hairspring new
  hairspring new --name parsing ../project
  hairspring new --kind fpm --source ~/hairspring";

/// Write a first benchmark into a project of Cargo, CMake, Python or fpm
///
/// The project is known by its Cargo.toml, CMakeLists.txt, pyproject.toml (setup.py, setup.cfg) or
/// fpm.toml. Nothing is overwritten: new files, and lines at the end of the manifest.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct NewArguments {
    /// The folder of the project
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// The name of the benchmark's file and target
    #[arg(long, default_value = "speed", value_parser = checked_name)]
    pub name: String,
    /// The build system, where the folder has manifests of several
    #[arg(long, value_enum)]
    pub kind: Option<Kind>,
    /// A clone of Hairspring to depend on, instead of the released package (Cargo, fpm)
    #[arg(long, value_name = "FOLDER")]
    pub source: Option<PathBuf>,
}

/// The verb.
pub const VERB: Verb = Verb::of::<NewArguments>();

impl Runs for NewArguments {
    const NAME: &'static str = "new";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb.
fn run(arguments: &NewArguments) -> Result<Outcome, AnyError> {
    let folder = &arguments.folder;
    let recipe = recipe(folder, arguments.kind)?;
    let source = arguments.source.as_deref().map(checked_source).transpose()?;
    let place = Place { name: arguments.name.clone(), source };
    let added = recipe.addition.as_ref().map(|addition| lines(folder, addition, &place));
    let added = added.transpose()?;
    let files = new_files(folder, recipe, &place)?;
    for (path, text) in &files {
        write_new(path, text)?;
    }
    if let Some((path, lines)) = &added {
        append(path, lines)?;
    }
    output::print(&report(&files, added.as_ref(), &place.fill(recipe.next)))?;
    Ok(Outcome::Done)
}

/// The recipe of the kind that was named, or of the only one whose manifest is in the folder.
fn recipe(folder: &Path, kind: Option<Kind>) -> Result<&'static Recipe, AnyError> {
    if !folder.is_dir() {
        return Err(Misuse(format!("there is no folder {}", folder.display())).into());
    }
    let marked = |recipe: &&Recipe| recipe.markers.iter().any(|file| folder.join(file).is_file());
    if let Some(recipe) = kind.and_then(Kind::recipe) {
        let markers = recipe.markers.join(", ");
        return Some(recipe).filter(marked).ok_or_else(|| {
            Misuse(format!("{} has no {markers}: make the project first", folder.display())).into()
        });
    }
    let marked: Vec<&Recipe> = RECIPES.iter().filter(marked).collect();
    match marked[..] {
        [one] => Ok(one),
        [] => {
            let all: Vec<&str> =
                RECIPES.iter().flat_map(|recipe| recipe.markers).copied().collect();
            let what = format!("{} has none of {}", folder.display(), all.join(", "));
            Err(Misuse(format!("{what}: give the folder of a project")).into())
        }
        _ => {
            let words: Vec<String> = marked.iter().map(|recipe| recipe.kind.word()).collect();
            Err(Misuse(format!(
                "this is a project of {}: choose one with --kind",
                words.join(" and ")
            ))
            .into())
        }
    }
}

/// The clone, as an absolute path.
fn checked_source(source: &Path) -> Result<PathBuf, AnyError> {
    let whole = std::fs::canonicalize(source)
        .map_err(|error| Misuse(format!("--source {}: {error}", source.display())))?;
    if ["crates/hairspring", "probe/fortran"].iter().any(|part| whole.join(part).is_dir()) {
        return Ok(whole);
    }
    let what = format!("--source {}: this is no clone of Hairspring", source.display());
    Err(Misuse(format!("{what}: it has neither crates/hairspring nor probe/fortran")).into())
}

/// The manifest, and the lines for its end.
fn lines(folder: &Path, addition: &Addition, place: &Place) -> Result<(PathBuf, String), AnyError> {
    let path = folder.join(addition.file);
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines =
        (addition.lines)(&text, place).map_err(|reason| format!("{}: {reason}", path.display()))?;
    let is_there = text.contains(lines.trim());
    let gap = if text.is_empty() || text.ends_with('\n') { "\n" } else { "\n\n" };
    let lines = if is_there { String::new() } else { format!("{gap}{lines}") };
    Ok((path, if text.contains("\r\n") { lines.replace('\n', "\r\n") } else { lines }))
}

/// The new files with their texts, none of which exists.
fn new_files(
    folder: &Path,
    recipe: &Recipe,
    place: &Place,
) -> Result<Vec<(PathBuf, String)>, AnyError> {
    let mut files = Vec::new();
    for (path, text) in recipe.files {
        let what_next = if path.contains("NAME") {
            "choose another name (--name)"
        } else {
            "add the benchmark there yourself"
        };
        let path = folder.join(place.fill(path));
        if path.symlink_metadata().is_ok() {
            let what = format!("{} exists, and stays as it is", path.display());
            return Err(format!("{what}: {what_next}").into());
        }
        files.push((path, place.fill(text)));
    }
    Ok(files)
}

fn write_new(path: &Path, text: &str) -> Result<(), AnyError> {
    let written = (|| {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
    })();
    written.map_err(|error| format!("{}: {error}", path.display()).into())
}

fn append(path: &Path, lines: &str) -> Result<(), AnyError> {
    let file = OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(lines.as_bytes()))
        .map_err(|error| format!("{}: {error}; add these lines:\n{lines}", path.display()).into())
}

fn report(files: &[(PathBuf, String)], added: Option<&(PathBuf, String)>, next: &str) -> String {
    let shown = |path: &Path| path.strip_prefix(".").unwrap_or(path).display().to_string();
    let mut text: String =
        files.iter().map(|(path, _)| format!("wrote    {}\n", shown(path))).collect();
    if let Some((path, lines)) = added.filter(|(_, lines)| !lines.is_empty()) {
        text += &format!("added to {}:\n", shown(path));
        let indented = |line: &str| format!("         {line}\n");
        text.extend(lines.lines().filter(|line| !line.is_empty()).map(indented));
    }
    text + &format!("next     {next}\n")
}
