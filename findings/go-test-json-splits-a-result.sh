#!/usr/bin/env bash
# Go 1.26.8: `go test -json -bench` writes the line of a result sometimes as one event and sometimes
# as two, in the same run: the program writes name and numbers separately, and the second write may
# be late. The first event then has the name and a tab without a line end, the second the number of
# iterations and the time. A program that looks at one event at a time loses a part of the results
# that differs from run to run. (The documentation says that the outputs of all events joined are
# the output.) The time has at least four digits: 0.123456 ns is written as 0.1235, 12.3456 as
# 12.35, 1234567.89 as 1234568. Seen: 43 and 78 of 90 results in two events. Fails if none of 900
# is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'module example.com/split\n\ngo 1.26\n' > go.mod
cat > split_test.go <<'GO'
package split

import (
	"testing"
	"time"
)

func report(b *testing.B, nanoseconds float64) {
	time.Sleep(5 * time.Millisecond)
	b.ReportMetric(nanoseconds, "ns/op")
}

func BenchmarkA(b *testing.B) { report(b, 0.123456) }
func BenchmarkB(b *testing.B) { report(b, 12.3456) }
func BenchmarkC(b *testing.B) { report(b, 1234567.89) }
GO
cat > count.py <<'PY'
import json
import sys
events = [json.loads(line) for line in open("events.json")]
output = [event["Output"] for event in events if event["Action"] == "output"]
whole = [text for text in output if text.startswith("Benchmark") and text.endswith("ns/op\n")]
split = [pair for pair in zip(output, output[1:]) if pair[0].startswith("Benchmark")
         and not pair[0].endswith("\n") and pair[1].endswith("ns/op\n")]
times = {text.split()[-2] for text in whole + [second for _, second in split]}
print(f"{len(split)} of {len(whole) + len(split)} results in two events;", *split[:1])
if times != {"0.1235", "12.35", "1234568"} or len(whole) + len(split) != 90:
    sys.exit("the behaviour has changed")
sys.exit(0 if split else 3)
PY
for _ in 1 2 3 4 5 6 7 8 9 10; do
    GOTOOLCHAIN=go1.26.8 go test -json -bench . -benchtime 10x -cpu 1 -count 30 > events.json
    status=0
    python3 count.py || status=$?
    [ "$status" = 3 ] || exit "$status"
done
echo 'the behaviour has changed: no result was split' >&2
exit 1
