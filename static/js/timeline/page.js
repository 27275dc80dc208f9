// The run page: wires store, stream, view, painter, player, filter, selection and the why panel together.
import { actionOf, isTyping } from "../keys.js";
import { ClusterOverview } from "../overview/overview.js";
import { matches, parseFilter } from "./filter.js";
import { duration, simTime } from "./format.js";
import { KINDS } from "./kinds.js";
import { lanesByNode, lanesByPod } from "./lanes.js";
import { buildLegend, paintSwatches } from "./legend.js";
import { Minimap } from "./minimap.js";
import { Painter } from "./paint.js";
import { Player } from "./player.js";
import { SpanStore } from "./store.js";
import { Stream } from "./stream.js";
import { buildTable } from "./table.js";
import { View } from "./view.js";

const byId = (id) => document.getElementById(id);
const root = byId("run");
const canvas = byId("canvas");
const store = new SpanStore();
const view = new View();
const painter = new Painter(canvas);
const player = new Player(() => { syncButtons(); draw(); });
const minimap = new Minimap(byId("minimap"), (fraction) => { const whole = wholeRange(); const half = (view.to - view.from) / 2; const middle = whole.from + fraction * (whole.to - whole.from); moved(); view.set(middle - half, middle + half); draw(); });
const overview = new ClusterOverview(byId("overview"), {
  spans: () => store.spans.values(),
  now: () => player.now(store),
  facts: () => fetch(root.dataset.overview).then((answer) => { if (!answer.ok) throw new Error(answer.status); return answer.json(); }),
  onPod: (span) => select(span, true),
  selectedPod: () => state.selectedPod,
  onChange: () => writeAddress(),
});
const hidden = new Set(["event"]);
const state = { mode: "node", terms: [], filterText: "", selected: null, selectedPod: "", fitted: true, focusLane: 0, marks: [], layout: { lanes: [], height: 0 }, built: "", why: "" };

// ---- what is shown

function wholeRange() {
  const planned = Number(root.dataset.duration) || 0;
  const to = Math.max(store.last, store.finished ? 0 : Math.min(planned, Math.max(store.last * 1.15, 5e9)), 1e8);
  const from = store.last > 0 ? 0 : Math.min(store.first, 0); // the warmup lies to the left, a pan away
  return { from: from - (to - from) * 0.02, to: to + (to - from) * 0.02 };
}

function keep(span) {
  return !hidden.has(span.kind) && (!state.terms.length || matches(state.terms, span));
}

function build() {
  const key = `${store.version}/${state.mode}/${state.filterText}/${[...hidden].join()}`;
  if (key === state.built) return;
  state.built = key;
  const spans = [...store.spans.values()];
  state.layout = state.mode === "node" ? lanesByNode(spans, keep) : lanesByPod(spans, keep);
  const pods = new Set();
  const shown = new Set();
  for (const span of spans) { if (!span.pod) continue; pods.add(span.uid); if (keep(span)) shown.add(span.uid); }
  byId("shown").textContent = pods.size ? `${shown.size.toLocaleString("en")} of ${pods.size.toLocaleString("en")} pods shown` : "";
  const blank = byId("blank");
  blank.hidden = shown.size > 0;
  blank.textContent = pods.size && !shown.size ? `No pods match “${state.filterText || "these states"}”. ${pods.size.toLocaleString("en")} hidden. Esc clears.` : store.finished ? "This run has no pods." : "Waiting for the first records…";
}

function scene() {
  return { view, layout: state.layout, store, now: player.now(store), selected: state.selected, selectedPod: state.selectedPod, focusLane: state.focusLane, marks: state.marks, whole: wholeRange() };
}

let drawing = false;
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    if (state.fitted) { const whole = wholeRange(); view.set(whole.from, whole.to); }
    build();
    byId("run-clock").textContent = simTime(player.now(store));
    if (state.mode === "table") { drawTable(); return; }
    if (state.mode === "cluster") { drawCluster(); return; }
    const now = scene();
    painter.paint(now);
    minimap.paint(now, painter.colours);
    const merged = painter.merged ? ` · ${painter.merged.toLocaleString("en")} merged` : "";
    byId("range").textContent = `${simTime(view.from, 2)} to ${simTime(view.to, 2)} (${duration(view.to - view.from)})${merged}`;
  });
}

const slider = overview.part("time");
function drawCluster() {
  const whole = wholeRange();
  if (document.activeElement !== slider) slider.value = String(Math.round(((player.now(store) - whole.from) / (whole.to - whole.from)) * 1000));
  slider.setAttribute("aria-valuetext", simTime(player.now(store)));
  byId("range").textContent = `at ${simTime(player.now(store))}`;
  overview.draw();
}
slider.addEventListener("input", () => { const whole = wholeRange(); player.seek(whole.from + (Number(slider.value) / 1000) * (whole.to - whole.from), store); writeAddress(); });

let tableKey = "";
function drawTable() {
  const key = `${state.built}/${state.selected}`;
  if (key === tableKey) return;
  tableKey = key;
  const spans = [...store.spans.values()].filter((s) => s.pod && keep(s)).sort((a, b) => a.start - b.start || a.id - b.id);
  buildTable(byId("span-table"), spans, state.selected, select, store.last);
}

function resize() {
  const box = canvas.getBoundingClientRect();
  view.width = Math.max(200, box.width);
  view.height = Math.max(120, box.height);
  view.gutter = view.width < 520 ? 96 : 190;
  painter.gutterEdge = view.gutter;
  painter.resize(view.width, view.height);
  view.scrollBy(0, state.layout.height);
  draw();
}

// ---- the address says what is seen

function writeAddress(push = false) {
  const query = new URLSearchParams();
  if (state.mode !== "node") query.set("mode", state.mode);
  if (!state.fitted) { query.set("from", Math.round(view.from)); query.set("to", Math.round(view.to)); }
  if (state.filterText) query.set("q", state.filterText);
  if (state.selectedPod) query.set("sel", state.selectedPod);
  if (state.why) query.set("why", state.why);
  if (state.mode === "cluster") { if (overview.resource !== "cpu") query.set("fill", overview.resource); if (overview.grouping) query.set("group", overview.grouping); }
  if (!player.following && player.cursor !== null && !player.playing) query.set("t", Math.round(player.cursor));
  const off = [...hidden].filter((k) => k !== "event");
  if (off.length) query.set("off", off.join());
  const url = `${location.pathname}${query.size ? `?${query}` : ""}`;
  if (url !== location.pathname + location.search) history[push ? "pushState" : "replaceState"](null, "", url);
}

function readAddress() {
  const query = new URLSearchParams(location.search);
  const number = (name) => { const value = Number(query.get(name)); return query.has(name) && Number.isFinite(value) ? value : null; };
  overview.resource = query.get("fill") || "cpu";
  overview.grouping = query.get("group") || "";
  setMode(["node", "pod", "table", "cluster"].includes(query.get("mode")) ? query.get("mode") : "node", false);
  setFilter(query.get("q") ?? "", false);
  if (number("from") !== null && number("to") > number("from")) { state.fitted = false; view.set(number("from"), number("to")); }
  state.selectedPod = query.get("sel") ?? "";
  for (const kind of (query.get("off") ?? "").split(",")) if (KINDS[kind]) hidden.add(kind);
  if (number("t") !== null) { player.following = false; player.cursor = number("t"); }
  if (query.get("why")) { const [pod, seq] = query.get("why").split("@"); openWhy(pod, seq); }
}

let writing = 0;
function moved() {
  state.fitted = false;
  clearTimeout(writing);
  writing = setTimeout(() => writeAddress(), 250);
}

// ---- selection and why

function describe(span) {
  const kind = KINDS[span.kind]?.word ?? span.kind;
  const end = span.end === null ? "still" : simTime(span.end);
  return [span.pod, `${kind}${span.reason ? ` (${span.reason})` : ""}`, span.node && `on ${span.node}`, span.start === span.end ? simTime(span.start) : `${simTime(span.start)} to ${end}, ${duration((span.end ?? player.now(store)) - span.start)}`, span.text].filter(Boolean);
}

function select(span, open = false) {
  state.selected = span?.id ?? null;
  state.selectedPod = span?.pod ?? "";
  const line = byId("selection");
  line.textContent = "";
  if (span) {
    const [pod, ...rest] = describe(span);
    const strong = document.createElement("strong");
    strong.textContent = pod;
    line.append(strong, ` · ${rest.join(" · ")}`);
  }
  if (span && (open || !byId("why").hidden)) openWhy(span.pod, span.kind === "attempt" ? span.cause : span.seq);
  writeAddress(true);
  draw();
}

function openWhy(pod, seq) {
  if (!pod) return;
  const panel = byId("why");
  panel.hidden = false;
  state.why = seq ? `${pod}@${seq}` : pod;
  const url = `${root.dataset.why}?pod=${encodeURIComponent(pod)}${seq ? `&seq=${seq}` : ""}`;
  const load = () => window.htmx.ajax("GET", url, { target: panel, swap: "innerHTML" }).then(() => { panel.scrollTop = 0; });
  window.htmx ? load() : window.addEventListener("load", load, { once: true });
  requestAnimationFrame(resize);
}

function closeWhy() {
  byId("why").hidden = true;
  state.why = "";
  writeAddress();
  requestAnimationFrame(resize);
  canvas.focus();
}

byId("why").addEventListener("click", (event) => {
  if (event.target.closest("[data-close-why]")) { closeWhy(); return; }
  const link = event.target.closest("a[data-pod]");
  if (!link) return;
  event.preventDefault();
  state.selectedPod = link.dataset.pod;
  openWhy(link.dataset.pod, link.dataset.seq);
  writeAddress(true);
  draw();
});

// ---- moving between spans

function laneOfSelection() {
  return state.layout.lanes.findIndex((lane) => lane.rows.some((row) => row.spans.some((s) => s.id === state.selected)));
}

function spansOfLane(index) {
  const lane = state.layout.lanes[index];
  return lane ? lane.rows.flatMap((row) => row.spans).sort((a, b) => a.start - b.start || a.id - b.id) : [];
}

function moveOnLane(by) {
  build(); // a key may come before the next frame
  let at = laneOfSelection();
  if (at < 0) at = state.focusLane;
  const spans = spansOfLane(at);
  const index = spans.findIndex((s) => s.id === state.selected);
  const next = spans[index < 0 ? 0 : Math.min(spans.length - 1, Math.max(0, index + by))];
  if (next) { state.focusLane = at; select(next); reveal(next); }
}

function moveLane(by) {
  build();
  const at = laneOfSelection();
  state.focusLane = Math.min(state.layout.lanes.length - 1, Math.max(0, (at < 0 ? state.focusLane : at) + by));
  const around = store.spans.get(state.selected)?.start ?? view.from;
  const spans = spansOfLane(state.focusLane);
  const next = spans.find((s) => s.start >= around) ?? spans.at(-1);
  if (next) { select(next); reveal(next); }
  draw();
}

function reveal(span) {
  if (span.start < view.from || span.start > view.to) { const half = (view.to - view.from) / 2; moved(); view.set(span.start - half, span.start + half); }
  const lane = state.layout.lanes[laneOfSelection()];
  if (lane) {
    const top = lane.y - view.scroll;
    if (top < 0) view.scrollBy(top, state.layout.height);
    const below = top + lane.height - (view.height - view.axis);
    if (below > 0) view.scrollBy(Math.min(below, top), state.layout.height);
  }
  draw();
}

function alongArrow(toEffect) {
  const span = store.spans.get(state.selected);
  if (!span) return;
  const target = toEffect ? store.spans.get(span.links[0]?.[1]) : [...store.spans.values()].find((s) => s.links.some(([, id]) => id === span.id));
  if (target) { select(target); reveal(target); }
}

function fit() {
  const span = store.spans.get(state.selected);
  if (span && !span.fittedOnce) {
    const end = span.end ?? player.now(store);
    const slack = Math.max((end - span.start) * 0.3, 5e6);
    moved();
    view.set(span.start - slack, end + slack);
    span.fittedOnce = true;
  } else {
    if (span) span.fittedOnce = false;
    state.fitted = true;
    writeAddress();
  }
  draw();
}

// ---- actions

const ACTIONS = {
  "zoom-in": () => { moved(); view.zoom(0.7); draw(); },
  "zoom-out": () => { moved(); view.zoom(1 / 0.7); draw(); },
  "pan-left": () => { moved(); view.pan(-0.2); draw(); },
  "pan-right": () => { moved(); view.pan(0.2); draw(); },
  "next-span": () => moveOnLane(1),
  "previous-span": () => moveOnLane(-1),
  "to-effect": () => alongArrow(true),
  "to-cause": () => alongArrow(false),
  fit,
  mark: () => { const s = store.spans.get(state.selected); if (s) { state.marks = [...state.marks, { from: s.start, to: s.end ?? player.now(store) }]; draw(); } },
  play: () => { player.toggle(store); writeAddress(); },
  step: () => { player.step(store); writeAddress(); },
  follow: () => { player.follow(!player.following, store); writeAddress(); },
  why: () => { const s = store.spans.get(state.selected); if (s) openWhy(s.pod, s.kind === "attempt" ? s.cause : s.seq); },
  filter: () => byId("filter").focus(),
  escape: () => {
    if (!byId("why").hidden) closeWhy();
    else if (state.filterText) setFilter("");
    else { select(null); state.marks = []; draw(); }
  },
};

function syncButtons() {
  const play = document.querySelector('[data-action="play"]');
  play.setAttribute("aria-pressed", String(player.playing));
  const use = play.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, player.playing ? "#pause" : "#play"));
  play.querySelector(".visually-hidden").textContent = player.playing ? "Pause" : "Play";
  document.querySelector('[data-action="follow"]').setAttribute("aria-pressed", String(player.following));
}

function setMode(mode, write = true) {
  state.mode = mode;
  for (const button of document.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  byId("timeline").hidden = mode === "table" || mode === "cluster";
  byId("span-table").hidden = mode !== "table";
  byId("overview").hidden = mode !== "cluster";
  byId("legend").hidden = mode === "cluster";
  view.scroll = 0;
  tableKey = "";
  if (write) { writeAddress(); requestAnimationFrame(resize); }
}

function setFilter(text, write = true) {
  state.filterText = text.trim();
  state.terms = parseFilter(state.filterText);
  if (byId("filter").value.trim() !== state.filterText) byId("filter").value = state.filterText;
  if (write) { writeAddress(); draw(); }
}

document.querySelectorAll("[data-action]").forEach((button) => button.addEventListener("click", () => ACTIONS[button.dataset.action]()));
document.querySelectorAll("[data-mode]").forEach((button) => button.addEventListener("click", () => setMode(button.dataset.mode)));
byId("speed").addEventListener("change", (event) => { player.speed = Number(event.target.value); });
byId("filter").addEventListener("input", (event) => setFilter(event.target.value));
byId("filter").addEventListener("keydown", (event) => { if (event.key === "Escape") { setFilter(""); canvas.focus(); } });
byId("filter-form").addEventListener("submit", (event) => { event.preventDefault(); canvas.focus(); });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || byId("help").open) return;
  const focused = document.activeElement === canvas;
  const action = actionOf(event, focused ? "timeline" : "page");
  if (!action || action === "help" || action === "filter") return;
  if (action === "lane") moveLane(event.key === "ArrowDown" ? 1 : -1);
  else if (action === "span") moveOnLane(event.key === "ArrowRight" ? 1 : -1);
  else ACTIONS[action]?.();
  event.preventDefault();
});

// ---- mouse

let drag = null;
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  drag = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, scroll: view.scroll, moved: false, axis: event.offsetY < view.axis };
  if (drag.axis) player.seek(view.time(event.offsetX), store);
});
canvas.addEventListener("pointermove", (event) => {
  if (!drag) { hover(event); return; }
  const dx = event.offsetX - drag.x;
  const dy = event.offsetY - drag.y;
  if (drag.axis) { player.seek(view.time(event.offsetX), store); return; }
  if (!drag.moved && Math.hypot(dx, dy) < 4) return;
  drag.moved = true;
  byId("tooltip").hidden = true;
  const per = (drag.to - drag.from) / Math.max(1, view.width - view.gutter);
  moved();
  view.set(drag.from - dx * per, drag.to - dx * per);
  view.scroll = drag.scroll;
  view.scrollBy(-dy, state.layout.height);
  if (player.following && store.finished === false) { player.follow(false, store); }
  draw();
});
canvas.addEventListener("pointerup", (event) => {
  if (drag && !drag.moved && !drag.axis) select(painter.hit(event.offsetX, event.offsetY));
  if (drag?.axis) writeAddress();
  drag = null;
});
canvas.addEventListener("dblclick", (event) => { const span = painter.hit(event.offsetX, event.offsetY); if (span) select(span, true); });
canvas.addEventListener("pointerleave", () => { byId("tooltip").hidden = true; });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.ctrlKey || event.metaKey) { moved(); view.zoom(Math.exp(event.deltaY * 0.0025), event.offsetX); }
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { moved(); view.pan(((event.deltaX || event.deltaY) / view.width) * 0.8); }
  else view.scrollBy(event.deltaY, state.layout.height);
  draw();
}, { passive: false });

function hover(event) {
  const tip = byId("tooltip");
  const span = painter.hit(event.offsetX, event.offsetY);
  canvas.style.cursor = span ? "pointer" : "crosshair";
  tip.hidden = !span;
  if (!span) return;
  tip.textContent = describe(span).join(" · ");
  const left = Math.min(event.offsetX + 14, view.width - Math.min(420, view.width - 20));
  tip.style.left = `${Math.max(6, left)}px`;
  tip.style.top = `${Math.min(event.offsetY + 18, view.height - 60)}px`;
}

// ---- live

let said = { seq: 0, terminating: 0 };
function announce() {
  const victims = [...store.spans.values()].filter((s) => s.kind === "terminating" && s.reason === "victim").length;
  if (victims > said.terminating) byId("live").textContent = `${victims - said.terminating} pods preempted`;
  said = { seq: store.cursor, terminating: victims };
}

let announcing = 0;
let lastState = root.dataset.state;
const stateLine = byId("run-state");
function showState() {
  stateLine.className = `state state-${store.state}`;
  stateLine.textContent = store.state;
  if (byId("cancel-form")) byId("cancel-form").hidden = store.finished;
  if (store.state !== lastState) {
    lastState = store.state;
    if (window.htmx) window.htmx.ajax("GET", root.dataset.header, { target: "#figures", swap: "innerHTML" });
  }
}

stateLine.className = `state state-${root.dataset.state}`;
buildLegend(byId("legend"), hidden, () => { writeAddress(); draw(); });
readAddress();
syncButtons();
new ResizeObserver(resize).observe(canvas);
document.addEventListener("themechange", () => { painter.recolour(); paintSwatches(byId("legend")); draw(); });
window.addEventListener("popstate", readAddress);
new Stream(store, {
  run: root.dataset.run,
  url: root.dataset.spans,
  onChange: () => { showState(); clearTimeout(announcing); announcing = setTimeout(announce, 700); draw(); },
  onStale: (failures) => { if (failures > 1 && !store.finished) stateLine.textContent = `${store.state}, reconnecting…`; },
  onGone: () => { byId("blank").hidden = false; byId("blank").textContent = "This run is not there any more."; },
});
window.schedscope = { store, view, state, player };
