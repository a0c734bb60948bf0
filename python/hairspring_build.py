"""Builds the package: maturin, and beside the module the command `hairspring`, which becomes a
script of the wheel.

The command is built by cargo, or taken from the file that HAIRSPRING_COMMAND names (packaging/build
sets it).
"""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import maturin  # type: ignore[import-untyped]
from maturin import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, object]
HERE = Path(__file__).resolve().parent
# Named in pyproject.toml: what lies in `scripts` goes to the folder of the environment's commands.
SCRIPTS = HERE / "hairspring.data" / "scripts"
# Maturin refuses a folder that is missing, whatever it is asked for.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def build_sdist(folder: str, settings: Settings | None = None) -> str:
    """The source archive."""
    archive: str = maturin.build_sdist(folder, settings)
    add_crates(Path(folder) / archive)
    return archive


def add_crates(archive: Path) -> None:
    """Adds the crates of the command to the source archive: maturin takes only those of the
    module.
    """
    renamed = archive.with_suffix(".incomplete")
    with tarfile.open(archive) as old_archive, tarfile.open(renamed, "w:gz") as new_archive:
        top = Path(old_archive.getnames()[0]).parts[0]
        for member in old_archive:
            new_archive.addfile(
                member, old_archive.extractfile(member) if member.isfile() else None
            )
        crates = {member.name.split("/src/")[0] for member in old_archive if "/src/" in member.name}
        for path in command_files():
            name = f"{top}/{path.relative_to(source())}"
            if not any(name.startswith(f"{crate}/") for crate in crates):
                new_archive.add(path.resolve(), name, filter=of_nobody)
    renamed.replace(archive)


def of_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A file of the archive without the builder's name and without its date, as maturin's own
    files are.
    """
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", "1153704088"))
    return member


def command_files() -> Iterator[Path]:
    """The files of the command's crates, as cargo packages them, and the licences."""
    root = source()
    yield from root.glob("LICENSE-*")
    for folder in command_crates(root):
        listed_files = run_cargo(
            root, "package", "--list", "--allow-dirty", "--manifest-path", folder / "Cargo.toml"
        )
        yield from (
            folder / line
            for line in listed_files.splitlines()
            if (folder / line).exists() and line != "Cargo.lock"
        )


def command_crates(root: Path) -> list[Path]:
    """The folders of the crates that the command needs, by cargo's tree of them."""
    lines = run_cargo(
        root,
        "tree",
        "--locked",
        "--package",
        "hairspring-cli",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    )
    found_folders = {
        match[1]
        for line in lines.splitlines()
        if (match := re.match(r"hairspring\S* v\S+ \((.*?)\)", line))
    }
    return sorted(Path(folder) for folder in found_folders)


def run_cargo(root: Path, *arguments: str | Path) -> str:
    """What cargo prints."""
    return subprocess.run(
        ["cargo", "--quiet", *arguments], cwd=root, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def build_wheel(folder: str, settings: Settings | None = None, metadata: str | None = None) -> str:
    """The wheel, with the command."""
    command = SCRIPTS / "hairspring"
    shutil.copy(given_command() or built_command(), command)
    try:
        wheel: str = maturin.build_wheel(folder, settings, metadata)
    finally:
        command.unlink()
    return wheel


def given_command() -> Path | None:
    """The command that the environment names."""
    named_file = os.environ.get("HAIRSPRING_COMMAND")
    if named_file and not Path(named_file).is_file():
        raise SystemExit(
            f"HAIRSPRING_COMMAND: there is no file {named_file}: name the command, or leave the "
            "variable unset"
        )
    return Path(named_file) if named_file else None


def built_command() -> Path:
    """The command, built by cargo from the source that lies here."""
    root = source()
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target")).resolve()
    # As the module is built, for instance by MATURIN_PEP517_ARGS="--profile dev".
    stated_profile = re.search(r"--profile[ =](\S+)", os.environ.get("MATURIN_PEP517_ARGS", ""))
    profile = stated_profile[1] if stated_profile else "release"
    words = [
        "--profile",
        profile,
        "--locked",
        "--package",
        "hairspring-cli",
        "--target-dir",
        target,
    ]
    subprocess.run(["cargo", "build", *words], cwd=root, check=True)
    return target / ("debug" if profile == "dev" else profile) / "hairspring"


def source() -> Path:
    """The folder of the workspace: the project, or the source archive."""
    for folder in (HERE, HERE.parent):
        if (folder / "crates" / "hairspring-cli" / "Cargo.toml").is_file():
            return folder
    raise SystemExit(
        f"neither {HERE} nor the folder above has crates/hairspring-cli: build from the project "
        "or its source archive"
    )
