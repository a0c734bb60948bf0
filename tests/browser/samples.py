"""A page without faults, and pages with one fault each, which some check must find."""

from dataclasses import dataclass

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
GOOD = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>sum: 4 ns</title>
<style>
:root {{ color-scheme: light dark; --ink: #111; --paper: #fff; --mark: #0072b2; --other: #b04a00 }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #eee; --paper: #121212; --mark: #56b4e9; --other: #e69f00 }}
}}
@media print {{
  :root {{ color-scheme: light; --ink: #000; --paper: #fff; --mark: #0072b2; --other: #b04a00 }}
}}
body {{ background: var(--paper); color: var(--ink); font: 16px sans-serif; margin: 1em }}
svg {{ width: 100%; max-width: 40em; height: auto }}
svg text {{ fill: var(--ink); font-size: 14px }}
:focus-visible {{ outline: 2px solid var(--mark) }}
/* more */
</style>
</head>
<body>
<main>
<h1>sum</h1>
<p>The time is 4 ns, from 3 to 5 ns.</p>
<svg viewBox="0 0 300 100" role="img" aria-label="Two marks">
<circle cx="50" cy="50" r="9" fill="var(--mark)"/>
<rect x="140" y="40" width="19" height="19" fill="var(--other)"/>
<text x="30" y="90">first</text><text x="130" y="90">second</text>
</svg>
<details><summary>Stages</summary><p>None left anything out.</p></details>
<table><thead><tr><th scope="col">name</th><th scope="col">time</th></tr></thead>
<tbody><tr><td>sum</td><td>40.25 ns</td></tr></tbody></table>
</main>
</body>
</html>
"""


@dataclass(frozen=True)
class Fault:
    """A change of the good page; `check` finds it, and says `says`."""

    check: str
    says: str
    old: str
    new: str

    def page(self) -> str:
        """The page with the fault."""
        assert GOOD.count(self.old) >= 1, self.old
        return GOOD.replace(self.old, self.new)


def _style(check: str, says: str, rule: str) -> Fault:
    return Fault(check, says, "/* more */", rule)


def _body(check: str, says: str, piece: str) -> Fault:
    return Fault(check, says, "</main>", piece + "</main>")


FAULTS = {
    "wide": _style("fits", "px wide in 360", "table { width: 700px }"),
    "cut": _style("fits", "is cut", "p { width: 3em; overflow: hidden; white-space: nowrap }"),
    "broken": _style("fits", "is broken", "td { width: 1em; overflow-wrap: anywhere }"),
    "edge": Fault("fits", "edge of its plot", '<text x="130"', '<text x="290"'),
    "overlap": Fault("fits", "overlap", '<text x="130"', '<text x="35"'),
    "small": _style("fits", "smaller than 8 px", "svg text { font-size: 3px }"),
    "script": _body("quiet", "Content Security Policy", "<script>window.pwned = 1</script>"),
    "canary": Fault(
        "quiet",
        "script of the document ran",
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        "<script>window.pwned = 1</script>",
    ),
    "request": Fault(
        "quiet",
        "asked for https://host.invalid/",
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<link rel="icon" href="data:,"><img alt="" src="https://host.invalid/pixel.png">',
    ),
    "no-policy": Fault("walled", "0 content", "Content-Security-Policy", "x-none"),
    "inline": Fault("walled", "ran", POLICY, f"{POLICY}; script-src 'unsafe-inline'"),
    "pictures": Fault("walled", "foreign img", "img-src data:", "img-src *"),
    "hosts": Fault("walled", "foreign connect", "img-src data:", "connect-src *"),
    "language": Fault("accessible", "html-has-lang", ' lang="en"', ""),
    "pale": _style("accessible", "color-contrast", "td { color: #999; background: #ccc }"),
    "pale-plot": _style("coloured", "contrast", "svg text { fill: #888 }"),
    "pale-mark": Fault("coloured", "light: mark", "--mark: #0072b2", "--mark: #f0e442"),
    "alike": Fault("coloured", "look alike with deut", "--mark: #0072b2", "--mark: #6f7400"),
    "unseen": _style("typed", "nobody sees", "summary:focus { outline: 0 !important }"),
    "unreached": _body("typed", "does not reach", '<span role="button">more</span>'),
    "order": _body("typed", "positive", '<button tabindex="1">first</button>'),
    "deaf": _body(
        "typed",
        "keys press it 0 times",
        '<div role="button" tabindex="0" aria-label="deaf">press</div>',
    ),
    "empty": _style("plain", "empty", "body { visibility: hidden }"),
    "written": Fault(
        "plain",
        "'written' is not there",
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        "<script>addEventListener('load', () => document.querySelector('main')"
        ".append(Object.assign(document.createElement('p'), {textContent: 'written'})))</script>",
    ),
    "night": Fault("printable", "the paper is", "@media print", "@media (max-width: 1px)"),
    "scroll": _style(
        "printable", "cut on paper", "table { display: block; height: 9px; overflow: auto }"
    ),
    "unprinted": _style("printable", "not in the PDF", "p { position: absolute; left: -999px }"),
}
