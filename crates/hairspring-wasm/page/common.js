// What the bench in the browser and an interactive report share: the engine, the switches, the
// result, the plot of readings, and copies as CSV.
"use strict";

const byId = (id) => document.getElementById(id);

// ---- the engine ---------------------------------------------------------------------------------

class Engine {
  #worker = null;
  #waiting = new Map();
  #next = 0;
  #bytes = null;
  #text = "";

  // Starts with the bytes of the module and the text of engine.js, or again with those of before.
  async start(module, text) {
    this.#bytes = module ?? this.#bytes;
    this.#text = text ?? this.#text;
    try {
      const text = new Blob([this.#text], { type: "text/javascript" });
      this.#worker = new Worker(URL.createObjectURL(text));
      this.#worker.onmessage = (event) => this.#take(event.data);
      this.#worker.onerror = () => this.#fail("the solver stopped");
    } catch {
      this.#worker = null; // No workers here: the page waits while the engine works.
    }
    if (!this.#worker && typeof hairspringEngine === "undefined") {
      throw new Error("the browser gives this page no worker, in which the solver would run");
    }
    await this.ask("start", { module: this.#bytes });
  }

  get inWorker() { return this.#worker !== null; }

  async ask(action, more = {}) {
    const message = { id: this.#next++, action, ...more };
    const answer = await (this.#worker ? this.#post(message) : hairspringEngine.answer(message));
    if (answer.broken) await this.#restart(answer.error);
    if (answer.error) throw new Error(answer.error);
    return answer.value;
  }

  #post(message) {
    return new Promise((resolve) => {
      this.#waiting.set(message.id, resolve);
      this.#worker.postMessage(message);
    });
  }

  #take(answer) {
    this.#waiting.get(answer.id)?.(answer);
    this.#waiting.delete(answer.id);
  }

  #fail(error) {
    for (const [id, resolve] of this.#waiting) resolve({ id, error, broken: false });
    this.#waiting.clear();
  }

  // A module that failed is in an unknown state: a new one takes its place.
  async #restart(error) {
    this.#worker?.terminate();
    const reason = /memory|allocation|out of bounds/i.test(error) ? "there is too little memory" : error;
    if (this.#worker) await this.start();
    throw new Error(`the solver failed on this file (${reason}): \`hairspring fit FILE\` may read it`);
  }
}

const engine = new Engine();
let open = null; // The file that is open, with what it holds.
let keepsAll = false; // Whether its result uses rows off the line.
let begins = null; // In a report: the question that the page above it answers, as JSON.

// ---- what is said -------------------------------------------------------------------------------

function say(text, isBad = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("bad", isBad);
}

const sayError = (error) => say(`${open?.name ? `${open.name}: ` : ""}${error.message}`, true);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// ---- switches -----------------------------------------------------------------------------------

const number = (value) => String(value);

function rowLabel(row, components) {
  const counts = row.counts.map((count, at) => [components[at], count]).filter(([, count]) => count !== 0);
  const text = counts.map(([name, count]) => `${number(count)} ${name}`).join(" + ") || "nothing";
  return `${text} (${row.readings})`;
}

function check(id, label, data) {
  const box = element("input", { type: "checkbox", id, checked: true });
  Object.assign(box.dataset, data);
  return element("span", {}, box, " ", element("label", { htmlFor: id }, label));
}

function rowSwitches(table) {
  const groups = table.series.map((name) => element("fieldset", {}, element("legend", {}, name)));
  table.rows.forEach((row, at) => {
    groups[row.series].append(check(`row-${at}`, rowLabel(row, table.components), { row: at }));
  });
  const more = table.all_rows - table.rows.length;
  const rest = more > 0 ? [element("p", {}, `${more} more rows have no switch here.`)] : [];
  return [...groups.filter((group) => group.children.length > 1), ...rest];
}

function stageSwitches(table) {
  return table.stages.map((stage) => {
    const box = check(`stage-${stage.name}`, `${stage.name}: ${stage.question}`, { stage: stage.name });
    return element("p", {}, ...box.childNodes);
  });
}

function showSwitches(table) {
  document.querySelectorAll(".of-table").forEach((part) => { part.hidden = !table; });
  if (!table) return;
  byId("rows").replaceChildren(...rowSwitches(table));
  byId("stages").replaceChildren(...stageSwitches(table));
  byId("of-rounds").textContent = `of 0-${table.rounds - 1}`;
  byId("rounds").value = "";
  byId("keep_all").checked = keepsAll;
  const rows = table.rows.map((row, at) => {
    const series = table.series.length > 1 ? `${table.series[row.series]}: ` : "";
    return element("option", { value: at }, series + rowLabel(row, table.components));
  });
  byId("plot-row").replaceChildren(element("option", { value: "" }, "all"), ...rows);
}

// `0-9, 17` as pairs of the first and the last round.
function rounds(text) {
  return text.split(",").map((part) => part.trim()).filter(Boolean).map((part) => {
    const found = /^(\d+)\s*(?:(?:-|\.\.)\s*(\d+))?$/.exec(part);
    const [first, last] = found ? [Number(found[1]), Number(found[2] ?? found[1])] : [1, 0];
    if (first > last || last > 4294967295) {
      throw new Error(`\`${part}\` is no range of rounds: give such as 0-9, 17`);
    }
    return [first, last];
  });
}

function asked() {
  const off = (key) => [...document.querySelectorAll(`[data-${key}]`)]
    .filter((box) => !box.checked).map((box) => box.dataset[key]);
  return {
    confidence: Number(byId("confidence").value), keep_all: byId("keep_all").checked,
    rows: off("row").map(Number), without: off("stage"), rounds: rounds(byId("rounds").value),
  };
}

// ---- solving ------------------------------------------------------------------------------------

let latest = 0;

async function solve() {
  if (!open?.contents) return;
  const turn = ++latest;
  try {
    const question = open.contents.table ? asked() : {};
    say(`${open.name} is solved.`);
    const found = await engine.ask("solve", { asked: question });
    if (turn !== latest) return; // Something else was switched meanwhile.
    open.document = found.document;
    await show(found, question);
  } catch (error) {
    if (turn === latest) sayError(error);
  }
}

function off(question) {
  const parts = [["row", question.rows], ["range of rounds", question.rounds], ["stage", question.without]];
  const words = parts.filter(([, list]) => list?.length)
    .map(([name, list]) => `${list.length} ${name}${list.length > 1 ? "s" : ""}`.replace("rangess", "ranges"));
  return words.length ? ` Switched off: ${words.join(", ")}.` : "";
}

const SWITCH = "Switch something off below: the table is solved again, and its result is shown here.";

async function show(found, question) {
  const remarks = open.contents.remarks.map((remark) => ` ${remark}.`).join("");
  const [title, about, html] = found.fragment;
  const isAbove = begins === JSON.stringify(question);
  byId("result-title").textContent = isAbove ? "The result is that above" : title;
  byId("result-about").textContent = isAbove ? SWITCH : about;
  byId("result").innerHTML = isAbove ? "" : html; // All texts in it are escaped by the template.
  byId("explain").textContent = found.report + found.explain;
  byId("answer").hidden = false;
  say(`${open.name} (${words(open.contents.kind)}) is solved.${off(question)}${remarks}`);
  if (open.contents.table) await plot();
}

const words = (kind) => ({
  observations: "observations", recording: "a recording of a pin", benchmark: "a file of a benchmark tool",
  result: "a result, as it is",
}[kind]);

// ---- the plot of readings -----------------------------------------------------------------------

// Colours that a colour-blind person tells apart; the marks differ in shape, too.
const LIGHT = { used: "#0072b2", out: "#b34700", ink: "#1b1f24", grid: "#d0d7de", ground: "#fff" };
const DARK = { used: "#56b4e9", out: "#e69f00", ink: "#e6edf3", grid: "#3a424c", ground: "#14181d" };
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const FEWEST = 4; // readings in a part that is seen alone
let drawn = null;

const isTable = () => Boolean(open?.contents?.table);

async function points(from, to) {
  const row = byId("plot-row").value;
  const more = { asked: asked(), row: row === "" ? -1 : Number(row), from, to };
  const [at, ticks, leftOut, stages, unit, all] = await engine.ask("points", more);
  return { at, ticks, leftOut, stages, unit, all };
}

async function plot() {
  const found = await points(0, Infinity);
  drawn?.destroy();
  drawn = new uPlot(plotOptions(found), plotData(found), byId("plot"));
  drawn.found = found;
  sayRange(drawn);
}

const plotSize = () => ({ width: Math.max(280, byId("plot").clientWidth), height: 320 });

// Of very many readings a part is drawn that stands out; a smaller stretch has all of its own.
async function refine(u) {
  const { min, max } = u.scales.x;
  const found = u.found;
  if (!found) return;
  sayRange(u);
  if (found.at.length >= found.all || u.refined === `${min} ${max}`) return;
  u.refined = `${min} ${max}`;
  const part = await points(min, max + 1);
  if (u !== drawn) return;
  u.shown = part;
  u.setData(plotData(part), false);
}

// Which part is seen, for those who do not see the plot.
function sayRange(u) {
  const { min, max } = u.scales.x;
  if (min === null || min === undefined) return;
  const [first, last] = [Math.max(0, Math.ceil(min)), Math.min(u.found.all - 1, Math.floor(max))];
  byId("plot-range").textContent = u.found.all > 0 ? `Readings ${first} to ${last} of ${u.found.all}.` : "";
}

// Shows a part that is `factor` as wide, moved by a share of its width; it stays within the plot.
function zoom(factor, by) {
  if (!drawn?.found) return;
  const { min, max } = drawn.scales.x;
  const last = Math.max(1, drawn.found.all - 1);
  const width = Math.min(last, Math.max(FEWEST, (max - min) * factor));
  const middle = (min + max) / 2 + by * (max - min);
  const begin = Math.min(last - width, Math.max(0, middle - width / 2));
  drawn.setScale("x", { min: begin, max: begin + width });
}

const ZOOMS = { larger: [0.5, 0], smaller: [2, 0], earlier: [1, -0.5], later: [1, 0.5] };

function plotData({ at, ticks, leftOut }) {
  const used = Array.from(ticks, (value, n) => (leftOut[n] ? null : value));
  const out = Array.from(ticks, (value, n) => (leftOut[n] ? value : null));
  return [at, used, out];
}

function plotOptions(found) {
  const stage = (u, value, series, n) => {
    if (n === null || value === null) return "-";
    const shown = u.shown ?? found;
    const why = shown.leftOut[n] ? `, left out by ${shown.stages[shown.leftOut[n] - 1]}` : "";
    return `${value}${why}`;
  };
  const colours = darkness.matches ? DARK : LIGHT;
  const points = (size, fill, stroke) => ({ show: true, size, fill, stroke, width: 1 });
  const axis = (label, more) => (
    { label, stroke: colours.ink, grid: { stroke: colours.grid }, ticks: { stroke: colours.grid }, ...more });
  const series = (label, stroke, marks) => ({ label, paths: () => null, stroke, points: marks, value: stage });
  return {
    ...plotSize(),
    scales: { x: { time: false } },
    hooks: { setScale: [(u, key) => { if (key === "x") refine(u).catch(sayError); }] },
    cursor: { drag: { x: true, y: true, uni: 30 } },
    axes: [axis("reading, in the order of the file", {}), axis(`reading (${found.unit})`, { size: 70 })],
    series: [
      { label: "reading", value: (u, value) => String(value ?? "-") },
      series("used", colours.used, points(5, colours.used, colours.used)),
      series("left out", colours.out, points(9, colours.ground, colours.out)),
    ],
  };
}

// ---- copying ------------------------------------------------------------------------------------

async function copy(what) {
  try {
    const text = await engine.ask(what, { asked: isTable() ? asked() : {} });
    await put(text);
    say(`Copied: ${text.split("\n").length - 1} lines of CSV.`);
  } catch (error) {
    sayError(error);
  }
}

// Browsers that give pages of files no clipboard still copy a selection.
async function put(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try { return await navigator.clipboard.writeText(text); } catch { /* The way below. */ }
  }
  const area = element("textarea", { value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not let this page copy");
}

function save(text, name) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- events -------------------------------------------------------------------------------------

let soon = 0;

// Several switches in a row are one question.
function solveSoon() {
  clearTimeout(soon);
  soon = setTimeout(solve, 150);
}

function allOn() {
  document.querySelectorAll("[data-row], [data-stage]").forEach((box) => { box.checked = true; });
  byId("rounds").value = "";
  byId("keep_all").checked = keepsAll;
  solve();
}

function listenToSwitches() {
  window.addEventListener("resize", () => drawn?.setSize(plotSize()));
  byId("switches").addEventListener("change", solveSoon);
  byId("all-on").addEventListener("click", allOn);
  byId("plot-row").addEventListener("change", () => plot().catch(sayError));
  byId("plot-all").addEventListener("click", () => plot().catch(sayError));
  document.querySelectorAll("[data-zoom]").forEach((button) => {
    button.addEventListener("click", () => zoom(...ZOOMS[button.dataset.zoom]));
  });
  darkness.addEventListener("change", () => { if (drawn) plot().catch(sayError); });
  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.addEventListener("click", () => copy(button.dataset.copy));
  });
  document.querySelector("[data-save]").addEventListener("click", () => save(open.document, "result.json"));
}
