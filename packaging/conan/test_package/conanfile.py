"""The package as a project has it: a program is built with CMake and prints readings."""

import os

from conan import ConanFile  # type: ignore[import-not-found]
from conan.tools.build import can_run  # type: ignore[import-not-found]
from conan.tools.cmake import CMake, cmake_layout  # type: ignore[import-not-found]


class HairspringTest(ConanFile):  # type: ignore[misc]
    """Builds with the package, and runs."""

    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self) -> None:
        """The package that is tested."""
        self.requires(self.tested_reference_str)

    def layout(self) -> None:
        """CMake's folders."""
        cmake_layout(self)

    def build(self) -> None:
        """The program."""
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self) -> None:
        """The program runs, and its readings are those of the benchmark."""
        if can_run(self):
            self.run(
                f"{os.path.join(self.cpp.build.bindir, 'multiply')} | grep multiply", env="conanrun"
            )
