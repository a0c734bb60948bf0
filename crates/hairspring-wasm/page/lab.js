// The bench in the browser: the file that is chosen or dropped. common.js has the rest.
"use strict";

const EXAMPLE = ["# rate_hz: 1e9", "round,body,ticks", ...exampleRows()].join("\n") + "\n";

// A stopwatch with 20 ns of overhead over 1 to 6 copies of 41 ns; one reading was disturbed.
function exampleRows() {
  const rows = [];
  for (let round = 0; round < 40; round++) {
    for (let k = 1; k <= 6; k++) {
      const noise = ((round * 7 + k * 13) % 5) - 2;
      const disturbed = round === 17 && k === 3 ? 4000 : 0;
      rows.push(`${round},${k},${20 + 41 * k + noise + disturbed}`);
    }
  }
  return rows;
}

// ---- opening ------------------------------------------------------------------------------------

function how() {
  const text = (id) => byId(id).value.trim() || undefined;
  const reference = text("reference");
  return {
    kind: text("kind"), k: text("k"), channel: text("channel"), components: text("components"),
    polarity: text("polarity"), reference: reference && Number(reference.replace(",", ".")),
    trim: byId("trim").checked, exact_clock: byId("exact_clock").checked,
  };
}

async function openFile(file) {
  open = { file, name: file.name };
  byId("answer").hidden = true;
  say(`${file.name} is read.`);
  try {
    const bytes = engine.inWorker ? undefined : new Uint8Array(await file.arrayBuffer());
    open.contents = await engine.ask("open", { file, bytes, how: how() });
    showSwitches(open.contents.table);
    await solve();
  } catch (error) {
    sayError(error);
  }
}

// ---- events -------------------------------------------------------------------------------------

function listen() {
  listenToSwitches();
  byId("file").addEventListener("change", (event) => event.target.files[0] && openFile(event.target.files[0]));
  byId("example").addEventListener("click", () => openFile(new File([EXAMPLE], "example.csv")));
  byId("again").addEventListener("click", () => open && openFile(open.file));
  byId("choice").addEventListener("submit", (event) => event.preventDefault());
}

function takeDrops() {
  const mark = (isOver) => byId("drop").classList.toggle("over", isOver);
  document.addEventListener("dragover", (event) => { event.preventDefault(); mark(true); });
  document.addEventListener("dragleave", () => mark(false));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    mark(false);
    const [file] = event.dataTransfer.files;
    if (file) openFile(file);
  });
}

// The module, which the page has as base64 of gzip.
async function moduleBytes() {
  const text = atob(byId("module").textContent.trim());
  const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function main() {
  listen();
  takeDrops();
  try {
    await engine.start(await moduleBytes(), byId("engine").textContent);
    say("Ready.");
  } catch (error) {
    say(`The solver does not start in this browser: ${error.message}`, true);
  }
}

main();
