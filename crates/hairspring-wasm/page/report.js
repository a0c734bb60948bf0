// An interactive report: its observations, which the page contains, are solved again where something
// is switched off. common.js has the rest.
"use strict";

const holds = (id) => JSON.parse(byId(id).textContent);

// Bytes that the page has as base64 of gzip.
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function showReport() {
  const { name, observations, asked: question, markup } = holds("hairspring-data");
  byId("hairspring-interactive").innerHTML = markup; // Text of this program.
  listenToSwitches();
  try {
    await engine.start(await unpacked(holds("hairspring-module")), holds("hairspring-engine"));
    const bytes = await unpacked(observations);
    open = { name };
    open.contents = await engine.ask("open", { bytes, how: { kind: "observations" } });
    showSwitches(open.contents.table);
    switchOff(question);
    begins = JSON.stringify(asked());
    await solve();
  } catch (error) {
    sayError(error);
  }
}

// The page begins with what its document left out.
function switchOff({ without, keep_all }) {
  keepsAll = keep_all;
  without.forEach((stage) => { const box = byId(`stage-${stage}`); if (box) box.checked = false; });
  byId("keep_all").checked = keep_all;
}

showReport();
