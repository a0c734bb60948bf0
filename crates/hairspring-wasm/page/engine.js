// What the page asks the module: one file that is open, and answers about it. The page runs this
// text in a worker; where a browser refuses one, in the page itself.
"use strict";

const hairspringEngine = (() => {
  let bench = null;
  let memory = null;

  // Pieces of a file, which a worker reads when the module asks for them.
  function inPieces(file) {
    const reader = new FileReaderSync();
    return (at, most) => new Uint8Array(reader.readAsArrayBuffer(file.slice(at, at + most)));
  }

  const inMemory = (bytes) => (at, most) => bytes.subarray(at, at + most);

  const actions = {
    async start({ module }) {
      memory = (await wasm_bindgen({ module_or_path: module })).memory;
      bench = new wasm_bindgen.Bench();
    },
    open({ file, bytes, how }) {
      const read = bytes ? inMemory(bytes) : inPieces(file);
      return JSON.parse(bench.open(bytes ? bytes.length : file.size, read, JSON.stringify(how)));
    },
    solve({ asked }) {
      const question = JSON.stringify(asked);
      const document = bench.solve(question);
      return { document, report: bench.report(), explain: bench.explain(), fragment: bench.fragment(question, 3) };
    },
    memory: () => memory.buffer.byteLength,
    // Without what only people look at.
    document: ({ asked }) => bench.solve(JSON.stringify(asked)),
    points: ({ asked, row, from, to }) => bench.points(JSON.stringify(asked), row, from, to),
    times: () => bench.times(),
    observations: ({ asked }) => bench.observations(JSON.stringify(asked)),
    readings: ({ asked }) => bench.readings(JSON.stringify(asked)),
  };

  // Errors of the module are sentences; others are faults of the module itself.
  async function answer(message) {
    try {
      return { id: message.id, value: await actions[message.action](message) };
    } catch (error) {
      const isSentence = typeof error === "string";
      return { id: message.id, error: isSentence ? error : String(error), broken: !isSentence };
    }
  }

  return { answer };
})();

if (typeof WorkerGlobalScope !== "undefined") {
  self.onmessage = async (event) => self.postMessage(await hairspringEngine.answer(event.data));
}
