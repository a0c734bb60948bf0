"""Puts the module and its scripts into pages that work without a server: tools/wasm.sh calls it.

    python3 tools/lab.py FOLDER

FOLDER has hairspring.wasm and hairspring.js, which wasm-bindgen writes. The page gets a content
security policy that names its scripts by their hashes, so that nothing else runs in it.
"""

import base64
import gzip
import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "crates" / "hairspring-wasm" / "page"
PLOT = PAGE / "uplot"
MOST_COMPRESSED = 1_500_000
MOST_PAGE = 3_000_000
NOTICE = "The plot of readings is made by uPlot 1.6.32 (MIT licence, Leon Sorokin)."


def checked(folder: Path) -> None:
    """Ends the program if a file of others is not the one that was taken."""
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        expected, name = line.split()
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != expected:
            sys.exit(f"{folder / name} is not the file of SHA256SUMS")


def within(what: str, size: int, most: int) -> None:
    """Ends the program if something is too large for a page."""
    if size > most:
        sys.exit(f"{what} has {size} bytes, the limit is {most}")


def packed(module: bytes) -> str:
    """The module as base64 of gzip, without a time, so that equal modules make equal pages."""
    compressed = gzip.compress(module, 9, mtime=0)
    within("the compressed module", len(compressed), MOST_COMPRESSED)
    return base64.b64encode(compressed).decode()


def policy(scripts: list[str]) -> str:
    """The content security policy of a page with these scripts."""
    sums = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    hashes = " ".join(f"'sha256-{one}'" for one in sums)
    return (
        f"default-src 'none'; script-src {hashes} 'wasm-unsafe-eval' blob:; worker-src blob:; "
        "style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
    )


def filled(page: str, values: dict[str, str]) -> str:
    """The page with a value for each `{{name}}`, in one pass: values may contain braces."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], page)


def version() -> str:
    """The version of the workspace."""
    found = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    return found[1] if found else ""


def lab(built: Path) -> str:
    """The bench in the browser."""
    engine = (built / "engine.js").read_text()
    plot = (PLOT / "uPlot.iife.min.js").read_text()
    script = (PAGE / "lab.js").read_text()
    for text in (engine, plot, script):
        if "</script" in text.lower():
            sys.exit("a script contains the end of a script")
    values = {
        "policy": policy([engine, plot, script]),
        "style": (PAGE / "lab.css").read_text() + (PLOT / "uPlot.min.css").read_text(),
        "version": version(),
        "notice": NOTICE,
        "module": packed((built / "hairspring.wasm").read_bytes()),
        "engine": engine,
        "plot": plot,
        "script": script,
    }
    return filled((PAGE / "lab.html").read_text(), values)


def main() -> None:
    """Writes the pages into the folder."""
    built = Path(sys.argv[1])
    checked(PLOT)
    engine = (built / "hairspring.js").read_text() + (PAGE / "engine.js").read_text()
    (built / "engine.js").write_text(engine)
    page = lab(built)
    within("the page", len(page.encode()), MOST_PAGE)
    (built / "index.html").write_text(page)
    print(f"{built / 'index.html'}: {len(page.encode())} bytes")


if __name__ == "__main__":
    main()
