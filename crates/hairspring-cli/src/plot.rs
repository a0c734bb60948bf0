//! The files of `--plot`: plots of a result alone, for a paper.

use crate::AnyError;
use crate::html::{look, write};
use crate::misuse::Misuse;
use clap::{ArgMatches, Args};
use hairspring_page::svg::Plot;
use hairspring_view::clean::cut;
use std::path::{Path, PathBuf};

/// Options in messages.
const OPTION: &str = "--plot";
/// Columns of the names of plots in a message.
const MOST_NAMES: usize = 300;

// A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Default, Args)]
pub struct PlotArguments {
    /// Also write a plot of the result to this file, .svg or .png, fit for a paper; NAME: in front
    /// of the file chooses one of several (repeatable)
    #[arg(long, value_name = "[NAME:]FILE", value_parser = wanted)]
    pub plot: Vec<Wanted>,
}

/// A plot that is wanted as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name; without one the first plot is meant.
    name: Option<String>,
    path: PathBuf,
}

/// Reads `[NAME:]FILE`. Names have lower-case letters, digits and hyphens.
fn wanted(text: &str) -> Result<Wanted, String> {
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !name.is_empty() && name.chars().all(is_part)
    };
    let (name, path) = match text.split_once(':') {
        Some((name, path)) if is_name(name) => (Some(name.to_owned()), path),
        _ => (None, text),
    };
    let path = PathBuf::from(path);
    can_write(&path)?;
    Ok(Wanted { name, path })
}

/// What the name of a file ends in.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

#[cfg(feature = "plots")]
fn can_write(path: &Path) -> Result<(), String> {
    let ending = ending(path);
    if hairspring_plot::ENDINGS.contains(&ending.as_str()) {
        return Ok(());
    }
    Err(format!("the name of the file ends in .{}", hairspring_plot::ENDINGS.join(" or .")))
}

#[cfg(feature = "plots")]
fn file(plot: &Plot, path: &Path) -> Result<Vec<u8>, String> {
    hairspring_plot::file(&plot.file(), &ending(path))
}

#[cfg(not(feature = "plots"))]
const ABSENT: &str = "this build leaves out plots as files: build the command with the feature \
                      `plots` (./install has all)";

#[cfg(not(feature = "plots"))]
fn can_write(_: &Path) -> Result<(), String> {
    Err(ABSENT.into())
}

#[cfg(not(feature = "plots"))]
fn file(_: &Plot, path: &Path) -> Result<Vec<u8>, String> {
    Err(format!("{ABSENT}: .{} cannot be written", ending(path)))
}

impl PlotArguments {
    /// Writes the plots that are wanted, of all plots of a result.
    ///
    /// # Errors
    /// There is no such plot; a file cannot be written.
    pub fn write(&self, plots: impl FnOnce() -> Result<Vec<Plot>, String>) -> Result<(), AnyError> {
        if self.plot.is_empty() {
            return Ok(());
        }
        let plots = plots().map_err(|error| format!("{OPTION}: {error}"))?;
        for wanted in &self.plot {
            let plot = chosen(&plots, wanted.name.as_deref())?;
            let bytes = file(plot, &wanted.path)
                .map_err(|error| format!("{OPTION} {}: {error}", wanted.path.display()))?;
            write(OPTION, &wanted.path, &bytes)?;
        }
        Ok(())
    }
}

/// The plot of this name, or the first one.
fn chosen<'p>(plots: &'p [Plot], name: Option<&str>) -> Result<&'p Plot, AnyError> {
    let found = match name {
        Some(name) => plots.iter().find(|plot| plot.name == name),
        None => plots.first(),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
        let reason = match (name, names.is_empty()) {
            (_, true) => format!("{OPTION}: this result has no plot"),
            (name, false) => format!(
                "{OPTION}: this result has no plot `{}`; it has {}",
                name.unwrap_or_default(),
                cut(&names.join(", "), MOST_NAMES)
            ),
        };
        Misuse(reason).into()
    })
}

/// Looks whether the files of `--plot` can be written, if a verb has the option and it was given.
///
/// # Errors
/// One cannot, with the reason and a way out.
pub fn check(matches: &ArgMatches) -> Result<(), AnyError> {
    let wanted = matches.try_get_many::<Wanted>("plot").ok().flatten().into_iter().flatten();
    wanted.into_iter().try_for_each(|one| look(OPTION, &one.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(name: &str) -> Plot {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"></svg>";
        Plot { name: name.into(), title: "t".into(), svg: svg.into() }
    }

    #[cfg(feature = "plots")]
    #[test]
    fn names_stand_in_front_of_the_file() {
        let read = |text| wanted(text).map(|one| (one.name, one.path.display().to_string()));
        assert_eq!(read("line:a.svg"), Ok((Some("line".into()), "a.svg".into())));
        assert_eq!(read("A:b/a.PNG"), Ok((None, "A:b/a.PNG".into())));
        for text in ["a", "line:", "a.pdf", ""] {
            assert!(read(text).is_err_and(|error| error.contains(".svg or .png")), "{text}");
        }
    }

    #[cfg(feature = "plots")]
    #[test]
    fn files_are_written_and_a_wrong_name_lists_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            let plot = vec![wanted(&text.replace('/', &format!("{}/", folder.path().display())))];
            PlotArguments { plot: plot.into_iter().map(Result::unwrap).collect() }
                .write(|| Ok(vec![plot_of("line"), plot_of("budget")]))
        };
        fn plot_of(name: &str) -> Plot {
            plot(name)
        }
        of("/a.svg").unwrap();
        of("budget:/b.png").unwrap();
        let begin = |name| std::fs::read(folder.path().join(name)).unwrap()[..4].to_vec();
        assert_eq!((begin("a.svg"), begin("b.png")), (b"<svg".to_vec(), b"\x89PNG".to_vec()));
        let reason = of("pie:/c.svg").unwrap_err().to_string();
        assert!(reason.contains("no plot `pie`; it has line, budget"), "{reason}");
        let none = chosen(&[], None).unwrap_err().to_string();
        assert!(none.contains("has no plot"), "{none}");
    }
}
