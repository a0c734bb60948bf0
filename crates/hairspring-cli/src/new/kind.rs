//! The kinds of projects that get a first benchmark, a table.

use super::place::Place;
use clap::ValueEnum;

/// The build system of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Cargo: a bench target
    Rust,
    /// CMake: a program in a folder of its own
    Cmake,
    /// Python: a file
    Python,
    /// The Fortran package manager: a program
    Fpm,
}

/// What a kind of project is known by, and what it gets.
pub struct Recipe {
    /// The kind.
    pub kind: Kind,
    /// Files of which such a project has one.
    pub markers: &'static [&'static str],
    /// New files: their path, and their text. `NAME` stands for the name in both.
    pub files: &'static [(&'static str, &'static str)],
    /// The existing file that names the benchmark, and the lines for its end.
    pub addition: Option<Addition>,
    /// What to do next.
    pub next: &'static str,
}

/// Lines for the end of an existing file.
pub struct Addition {
    /// The file.
    pub file: &'static str,
    /// Makes the lines, or says why there is no place for them.
    pub lines: fn(&str, &Place) -> Result<String, String>,
}

/// All recipes.
pub const RECIPES: &[Recipe] = &[
    Recipe {
        kind: Kind::Rust,
        markers: &["Cargo.toml"],
        files: &[("benches/NAME.rs", include_str!("templates/speed.rs"))],
        addition: Some(Addition { file: "Cargo.toml", lines: super::manifest::cargo }),
        next: "cargo bench --bench NAME",
    },
    Recipe {
        kind: Kind::Cmake,
        markers: &["CMakeLists.txt"],
        files: &[
            ("bench/NAME.cpp", include_str!("templates/speed.cpp")),
            ("bench/CMakeLists.txt", include_str!("templates/CMakeLists.txt")),
        ],
        addition: Some(Addition {
            file: "CMakeLists.txt",
            lines: |_, _| Ok("add_subdirectory(bench)\n".to_owned()),
        }),
        next: "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target NAME && \
               build/bench/NAME",
    },
    Recipe {
        kind: Kind::Python,
        markers: &["pyproject.toml", "setup.py", "setup.cfg"],
        files: &[("benchmarks/NAME.py", include_str!("templates/speed.py"))],
        addition: None,
        next: "python3 benchmarks/NAME.py    (in an environment that has the package hairspring)",
    },
    Recipe {
        kind: Kind::Fpm,
        markers: &["fpm.toml"],
        files: &[("bench/NAME.f90", include_str!("templates/speed.f90"))],
        addition: Some(Addition { file: "fpm.toml", lines: super::manifest::fpm }),
        next: "fpm run NAME --profile release",
    },
];

impl Kind {
    /// What a project of this kind gets.
    pub fn recipe(self) -> Option<&'static Recipe> {
        RECIPES.iter().find(|recipe| recipe.kind == self)
    }

    /// The word of the command line.
    pub fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
