#!/usr/bin/env bash
# vitest 3.2.7: `vitest bench --outputJson` writes `"samples": []` for each benchmark, beside the
# number that was taken in `sampleCount`, also with `benchmark.includeSamples: true`, which keeps
# the samples for programs that use vitest as a library. So the file has the mean and the deviation
# alone, and readers that loop over `samples` find an empty measurement. Seen: samples [] with
# sampleCount 3532, and 2510 with the option. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" vitest@3.2.7
cat > sum.bench.mjs <<'JS'
import { bench } from 'vitest';
bench('sum', () => {
    let sum = 0;
    for (let i = 0; i < 2000; i++) sum += i;
}, { time: 5, iterations: 5 });
JS
cat > look.mjs <<'JS'
import { readFileSync } from 'node:fs';
for (const name of ['false', 'true']) {
    const file = JSON.parse(readFileSync(`${name}.json`));
    const { samples, sampleCount } = file.files[0].groups[0].benchmarks[0];
    console.log(`includeSamples ${name}: samples ${JSON.stringify(samples)},` +
        ` sampleCount ${sampleCount}`);
    if (samples.length !== 0 || !(sampleCount > 0)) {
        console.error('the behaviour has changed');
        process.exit(1);
    }
}
JS
for include in false true; do
    echo "export default { test: { benchmark: { includeSamples: $include } } };" > vitest.config.mjs
    npx --no-install vitest bench --run --outputJson "$include.json" > vitest.log 2>&1 ||
        { cat vitest.log; exit 1; }
done
node look.mjs
