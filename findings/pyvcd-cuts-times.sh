#!/usr/bin/env bash
# pyvcd 0.5.1: VCDWriter.change() takes a time with a fraction and cuts it to a whole unit without a
# word. A pin that is high from 1.2 to 1.8 units is written as two values at `#1`, one after the
# other: the pulse has a width of 0, the gap behind it one unit instead of 0.6. A reader that keeps
# the last value of a stamp sees no pulse at all. Seen: `#1 1! 0! #2 1!`. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyvcd==0.5.1
"$folder/venv/bin/python" - <<'PY'
import io
import sys
import vcd
out = io.StringIO()
with vcd.VCDWriter(out, timescale="1 ns", date="") as writer:
    pin = writer.register_var("top", "pin", "wire", size=1, init=0)
    for time, level in ((1.2, 1), (1.8, 0), (2.4, 1)):
        writer.change(pin, time, level)
changes = " ".join(out.getvalue().rpartition("$end")[2].split())
print("changes at 1.2, 1.8 and 2.4:", changes)
if changes != "#1 1! 0! #2 1!":
    sys.exit("the behaviour has changed")
PY
