"""Puts the module and its scripts into pages that work without a server: tools/wasm.sh calls it.

    python3 tools/lab.py FOLDER

FOLDER has hairspring.wasm and hairspring.js, which wasm-bindgen writes. The page gets a content
security policy that names its scripts by their hashes, so that nothing else runs in it.
"""

import base64
import gzip
import hashlib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "crates" / "hairspring-wasm" / "page"
PLOT = PAGE / "uplot"
TEMPLATES = ROOT / "crates" / "hairspring-page" / "templates"
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


def scripts(built: Path, last: str) -> list[str]:
    """The engine, the plot, what both pages share, and the script of one of them."""
    files = [built / "engine.js", PLOT / "uPlot.iife.min.js", PAGE / "common.js", PAGE / last]
    texts = [file.read_text() for file in files]
    if any("</script" in text.lower() or "<!--" in text for text in texts):
        sys.exit("a script contains the end of a script")
    return texts


def style() -> str:
    """What the page of a result has no style for."""
    return (PAGE / "lab.css").read_text() + (PLOT / "uPlot.min.css").read_text()


def lab(built: Path, module: str) -> str:
    """The bench in the browser."""
    texts = scripts(built, "lab.js")
    of_results = "".join((TEMPLATES / name).read_text() for name in ("page.css", "plot.css"))
    values = {
        "policy": policy(texts),
        "style": of_results + style(),
        "version": version(),
        "notice": NOTICE,
        "answer": (PAGE / "answer.html").read_text(),
        "module": module,
        **dict(zip(("engine", "plot", "common", "script"), texts, strict=True)),
    }
    return filled((PAGE / "lab.html").read_text(), values)


def solver(built: Path, module: str) -> str:
    """What the command puts into an interactive report."""
    texts = scripts(built, "report.js")
    status = (
        "<h2>Solved again in this page</h2>"
        '<p id="status" role="status" aria-live="polite">The solver starts.</p>'
    )
    parts = {
        "version": version(),
        "module": module,
        "markup": status + (PAGE / "answer.html").read_text() + f"<p>{NOTICE}</p>",
        "style": style(),
        **dict(zip(("engine", "plot", "common", "script"), texts, strict=True)),
    }
    return json.dumps(parts)


def main() -> None:
    """Writes the pages into the folder."""
    built = Path(sys.argv[1])
    checked(PLOT)
    engine = (built / "hairspring.js").read_text() + (PAGE / "engine.js").read_text()
    (built / "engine.js").write_text(engine)
    module = packed((built / "hairspring.wasm").read_bytes())
    (built / "solver.json").write_text(solver(built, module))
    page = lab(built, module)
    within("the page", len(page.encode()), MOST_PAGE)
    (built / "index.html").write_text(page)
    print(f"{built / 'index.html'}: {len(page.encode())} bytes, of which the module {len(module)}")


if __name__ == "__main__":
    main()
