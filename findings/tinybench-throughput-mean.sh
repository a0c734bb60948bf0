#!/usr/bin/env bash
# tinybench 6.2.5, Node: `throughput.mean` of a task is the mean of the reciprocals of its samples,
# not the number of calls over the time that passed. Calls that take 1 and 4 ms in turn (a clock of
# our own) run at 400 calls a second; the result says 625, and `latency.mean` 2.5 ms, so the two
# numbers of one task contradict each other: 1000 / 2.5 is 400. Where times vary, a change of the
# spread alone moves the throughput. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" tinybench@6.2.5
cat > task.mjs <<'JS'
import { Bench } from 'tinybench';
let calls = 0, clock = 0;
const bench = new Bench({ iterations: 8, time: 0, warmup: false, now: () => clock });
bench.add('work', () => { clock += [1, 4][calls++ % 2]; });
await bench.run();
const { latency, throughput, totalTime } = bench.tasks[0].result;
const rate = (1000 * latency.samplesCount) / totalTime;
console.log(`latency.mean ${latency.mean} ms, throughput.mean ${throughput.mean} a second,` +
    ` ${latency.samplesCount} calls in ${totalTime} ms are ${rate} a second`);
if (latency.mean !== 2.5 || throughput.mean !== 625 || rate !== 400) {
    console.error('the behaviour has changed');
    process.exit(1);
}
JS
node task.mjs
