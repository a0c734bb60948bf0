// Runs the module of pages in node as a page does: reads each file in pieces and writes the document
// of each into a folder, for tests/wasm/compare.py. Prints the seconds and the memory.
//
//   node solve.js ENGINE MODULE FOLDER HOW ASKED FILE...
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

async function engine(source, module) {
  vm.runInThisContext(fs.readFileSync(source, "utf8") + "\nglobalThis.engine = hairspringEngine;");
  const start = await globalThis.engine.answer({ action: "start", module: fs.readFileSync(module) });
  if (start.error) throw new Error(start.error);
  return globalThis.engine.answer;
}

// A file as a worker of a page reads it, in pieces.
function pieces(file) {
  const handle = fs.openSync(file, "r");
  globalThis.FileReaderSync = class {
    readAsArrayBuffer([at, end]) {
      const bytes = Buffer.alloc(Math.max(0, end - at));
      const count = fs.readSync(handle, bytes, 0, bytes.length, at);
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + count);
    }
  };
  const size = fs.fstatSync(handle).size;
  return { size, slice: (at, end) => [at, Math.min(end, size)], close: () => fs.closeSync(handle) };
}

async function one(answer, file, how, asked) {
  const opened = pieces(file);
  const begin = process.hrtime.bigint();
  const contents = await answer({ action: "open", file: opened, how });
  const read = process.hrtime.bigint();
  const solved = contents.error ? contents : await answer({ action: "document", asked });
  const end = process.hrtime.bigint();
  opened.close();
  if (solved.broken) throw new Error(`${file}: ${solved.error}`);
  return { contents, solved, reading: Number(read - begin) / 1e9, solving: Number(end - read) / 1e9 };
}

async function main([source, module, folder, how, asked, ...files]) {
  const answer = await engine(source, module);
  for (const file of files) {
    const done = await one(answer, file, JSON.parse(how), JSON.parse(asked));
    const text = done.solved.error ? `error: ${done.solved.error}\n` : done.solved.value;
    fs.writeFileSync(path.join(folder, path.basename(file) + ".json"), text);
    const memory = Math.round((await answer({ action: "memory" })).value / 1e6);
    console.log(`${done.reading.toFixed(3)} ${done.solving.toFixed(3)} ${memory} ${file}`);
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(String(error));
  process.exit(1);
});
