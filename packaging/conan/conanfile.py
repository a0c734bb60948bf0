"""Conan recipe of the headers for C and C++ (conan create packaging/conan); the engine is in
libhairspring-dev.
"""

import re
from pathlib import Path

from conan import ConanFile  # type: ignore[import-not-found]
from conan.tools.files import copy, load  # type: ignore[import-not-found]
from conan.tools.layout import basic_layout  # type: ignore[import-not-found]

# The headers, and the licences: beside the recipe in its archive, in a checkout of the project
# where they belong.
HEADERS = ("*.h", "*.hpp")
LICENCES = "LICENSE-*"


class Hairspring(ConanFile):  # type: ignore[misc]
    """The headers alone: nothing is built."""

    name = "hairspring"
    license = "MIT OR Apache-2.0"
    author = "The Hairspring developers"
    description = (
        "A precision timing instrument for software: the header for C and C++, without the engine"
    )
    topics = ("benchmark", "timing", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def headers(self) -> Path:
        """The folder with the headers."""
        beside = Path(self.recipe_folder) / "headers"
        return beside if beside.is_dir() else Path(self.recipe_folder).parent.parent / "probe"

    def licences(self) -> Path:
        """The folder with the licences."""
        own = self.headers()
        return own if any(own.glob(LICENCES)) else own.parent

    def set_version(self) -> None:
        """The version that the header states."""
        text = load(self, str(self.headers() / "hairspring.h"))
        found = re.search(r'(?m)^#define HAIRSPRING_VERSION "([^"]*)"', text)
        if not found:
            raise ValueError("hairspring.h defines no HAIRSPRING_VERSION")
        self.version = found[1]

    def export_sources(self) -> None:
        """Everything that a package has."""
        for pattern in HEADERS:
            copy(
                self,
                pattern,
                str(self.headers()),
                str(Path(self.export_sources_folder) / "headers"),
                excludes="tests/*",
            )
        copy(self, LICENCES, str(self.licences()), self.export_sources_folder)

    def layout(self) -> None:
        """No folder for each configuration."""
        basic_layout(self)

    def package(self) -> None:
        """The headers, in the folders of an installation."""
        include = Path(self.package_folder) / "include"
        source = Path(self.source_folder) / "headers"
        for pattern in HEADERS:
            copy(self, pattern, str(source), str(include), excludes=("arm/*", "chip/*"))
            for part in ("arm", "chip"):
                copy(self, pattern, str(source / part), str(include / f"hairspring-{part}"))
        copy(self, LICENCES, self.source_folder, str(Path(self.package_folder) / "licenses"))

    def package_id(self) -> None:
        """One package for all settings."""
        self.info.clear()

    def package_info(self) -> None:
        """The name of the target in CMake."""
        self.cpp_info.set_property("cmake_file_name", "hairspring")
        self.cpp_info.set_property("cmake_target_name", "hairspring::header")
        self.cpp_info.bindirs, self.cpp_info.libdirs = [], []
