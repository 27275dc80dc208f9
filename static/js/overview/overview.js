// The cluster overview: a heat map of nodes, the pods that wait, one node in detail, and the same as a table.
import { KINDS } from "../timeline/kinds.js";
import { layOut } from "./layout.js";
import { HeatMap } from "./paint.js";
import { amountText, clusterAt, grouped, groupings, marksOf, percent } from "./state.js";

const MOST_WAITING = 300;
const element = (tag, text = "", className = "") => { const found = document.createElement(tag); if (text) found.textContent = text; if (className) found.className = className; return found; };

export class ClusterOverview {
  // `source`: spans(), now(), facts() (a promise), onPod(span), selectedPod(), onChange() when the address should follow.
  constructor(root, source) {
    this.root = root;
    this.source = source;
    this.part = (name) => root.querySelector(`[data-ov="${name}"]`);
    this.canvas = this.part("canvas");
    this.map = new HeatMap(this.canvas);
    this.facts = null;
    this.scroll = 0;
    this.focus = "";
    this.resource = "cpu";
    this.grouping = "";
    this.asTable = false;
    this.wire();
  }

  wire() {
    const redraw = () => { this.scroll = 0; this.source.onChange?.(); this.draw(); };
    this.part("resource").addEventListener("change", (event) => { this.resource = event.target.value; redraw(); });
    this.part("group").addEventListener("change", (event) => { this.grouping = event.target.value; redraw(); });
    this.part("as-table").addEventListener("click", () => { this.asTable = !this.asTable; redraw(); });
    this.canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.scrollBy(event.deltaY); }, { passive: false });
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.part("tooltip").hidden = true; });
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.part("map"));
    document.addEventListener("themechange", () => { this.map.recolour(); this.draw(); });
  }

  // Asks the server once, and again when pods or nodes are there that it had not told of.
  async load() {
    if (this.loading) return;
    this.loading = true;
    try {
      this.facts = await this.source.facts();
      this.offer();
    } catch { this.part("figures").textContent = "The overview could not be loaded; it is tried again when you come back."; }
    this.loading = false;
    this.draw();
  }

  offer() {
    const options = (select, values, chosen, word) => {
      select.replaceChildren(...values.map((value) => { const option = element("option", word(value)); option.value = value; return option; }));
      select.value = values.includes(chosen) ? chosen : values[0] ?? "";
      return select.value;
    };
    this.resource = options(this.part("resource"), this.facts.resources.length ? this.facts.resources : ["cpu"], this.resource, (name) => name);
    const word = (value) => (!value ? "nothing" : value === "taint" ? "taint" : value.slice("label:".length).replace("topology.kubernetes.io/", ""));
    this.grouping = options(this.part("group"), groupings(this.facts), this.grouping, word);
  }

  draw() {
    if (this.root.hidden || this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  paint() {
    if (!this.facts) { this.load(); return; }
    const spans = [...this.source.spans()];
    const cluster = (this.cluster = clusterAt(spans, this.facts, this.source.now(), this.resource));
    if (cluster.nodes.some((node) => !this.facts.nodes[node.name]) && !this.asked) { this.asked = true; setTimeout(() => { this.asked = false; this.load(); }, 1000); }
    this.figures(cluster);
    this.waiting(cluster.waiting);
    this.detail();
    const map = this.part("map");
    map.hidden = this.asTable;
    this.part("table").hidden = !this.asTable;
    this.part("as-table").setAttribute("aria-pressed", String(this.asTable));
    if (this.asTable) { this.table(cluster.nodes); return; }
    const width = Math.max(200, map.clientWidth - 2);
    const height = Math.max(120, map.clientHeight - 2);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.layout = layOut(grouped(cluster.nodes, this.grouping), width, height);
    this.scroll = Math.max(0, Math.min(this.scroll, this.layout.height - height));
    this.map.paint({ width, height, layout: this.layout, scroll: this.scroll, focus: this.focus, selectedPod: this.source.selectedPod() });
    this.part("blank").hidden = cluster.nodes.length > 0;
  }

  figures({ nodes, waiting }) {
    const offered = nodes.reduce((sum, node) => sum + node.offered, 0);
    const used = nodes.reduce((sum, node) => sum + node.used, 0);
    const marked = (word) => nodes.filter((node) => marksOf(node).includes(word)).length;
    const parts = [`${nodes.length.toLocaleString("en")} nodes`, offered ? `${amountText(this.resource, used)} of ${amountText(this.resource, offered)} ${this.resource} requested (${percent(used / offered)})` : `no node offers ${this.resource}`, `${waiting.length.toLocaleString("en")} unscheduled`];
    for (const word of ["cordoned", "not ready", "over its allocatable"]) { const count = marked(word); if (count) parts.push(`${count} ${word}`); }
    const ghosts = nodes.reduce((sum, node) => sum + node.ghosts.length, 0);
    if (ghosts) parts.push(`${ghosts} nominated`);
    this.part("figures").textContent = parts.join(" · ");
  }

  waiting(spans) {
    const place = this.part("waiting");
    const key = spans.map((span) => span.id).join();
    if (key === this.waitingKey) return;
    this.waitingKey = key;
    const list = element("ul", "", "ov-pods");
    for (const span of spans.slice(0, MOST_WAITING)) list.append(this.podItem(span, KINDS[span.kind].word));
    place.replaceChildren(element("h2", `Unscheduled (${spans.length.toLocaleString("en")})`), spans.length ? list : element("p", "Nobody waits.", "muted"));
    if (spans.length > MOST_WAITING) place.append(element("p", `${(spans.length - MOST_WAITING).toLocaleString("en")} more in the timeline by pod.`, "muted"));
  }

  podItem(span, words) {
    const item = element("li");
    const button = element("button", span.pod, "linkish");
    button.type = "button";
    button.addEventListener("click", () => this.source.onPod(span));
    item.append(element("i", "", `swatch kind-${span.kind}`), button, element("span", words, "muted"));
    return item;
  }

  detail() {
    const place = this.part("node");
    const node = this.cluster.nodes.find((found) => found.name === this.focus);
    if (!node) { if (this.detailKey) place.replaceChildren(); this.detailKey = ""; return; }
    const key = `${node.name}/${this.resource}/${node.state}/${node.taints}/${node.pods.map(({ span }) => span.id).join()}/${node.ghosts.map(({ span }) => span.id).join()}`;
    if (key === this.detailKey) return;
    this.detailKey = key;
    const facts = element("p", `${amountText(this.resource, node.used)} of ${amountText(this.resource, node.offered)} ${this.resource} requested (${percent(node.share)})`);
    const marks = marksOf(node);
    const list = element("ul", "", "ov-pods");
    for (const { span, amount } of [...node.ghosts, ...node.pods]) list.append(this.podItem(span, `${amountText(this.resource, amount)} ${KINDS[span.kind].word.toLowerCase()}`));
    place.replaceChildren(element("h2", node.name), facts);
    if (marks.length) place.append(element("p", marks.join(", "), "ov-marks"));
    if (node.taints) place.append(element("p", `Taints: ${node.taints}`, "muted"));
    place.append(list);
  }

  table(nodes) {
    const table = element("table", "", "data");
    const head = table.createTHead().insertRow();
    for (const [word, number] of [["Node", 0], ["State", 0], ["Taints", 0], [`${this.resource} requested`, 1], ["Allocatable", 1], ["Share", 1], ["Pods", 1], ["Nominated", 1]]) {
      const cell = element("th", word, number ? "num" : "");
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const node of [...nodes].sort((a, b) => b.share - a.share)) {
      const row = body.insertRow();
      const values = [node.name, marksOf(node).join(", ") || "Ready", node.taints || "<none>", amountText(this.resource, node.used), amountText(this.resource, node.offered), percent(node.share), node.pods.length, node.ghosts.length];
      values.forEach((value, i) => { const cell = row.insertCell(); cell.textContent = value; if (i > 2) cell.className = "num"; });
    }
    this.part("table").replaceChildren(table);
  }

  // ---- pointing and keys

  boxes() { return this.layout ? this.layout.groups.flatMap((group) => group.boxes) : []; }

  boxAt(x, y) {
    const at = y + this.scroll;
    return this.boxes().find((box) => x >= box.x && x <= box.x + box.w && at >= box.y && at <= box.y + box.h);
  }

  hover(event) {
    const tip = this.part("tooltip");
    const box = this.boxAt(event.offsetX, event.offsetY);
    tip.hidden = !box;
    if (!box) return;
    const pod = this.map.podAt(event.offsetX, event.offsetY);
    const { node } = box;
    const marks = marksOf(node);
    const words = [node.name, `${amountText(this.resource, node.used)} of ${amountText(this.resource, node.offered)} ${this.resource} (${percent(node.share)})`, `${node.pods.length} pods`, ...marks];
    if (pod && pod.node === node) words.push(`${pod.span.pod}: ${amountText(this.resource, pod.amount)}, ${KINDS[pod.span.kind].word.toLowerCase()}`);
    tip.textContent = words.join(" · ");
    tip.style.left = `${Math.min(event.offsetX + 14, Math.max(0, this.canvas.clientWidth - 320))}px`;
    tip.style.top = `${event.offsetY + 18}px`;
  }

  click(event) {
    const box = this.boxAt(event.offsetX, event.offsetY);
    if (!box) return;
    this.focus = box.node.name;
    const pod = this.map.podAt(event.offsetX, event.offsetY);
    if (pod && pod.node === box.node) this.source.onPod(pod.span);
    this.draw();
  }

  key(event) {
    const boxes = this.boxes();
    const at = boxes.findIndex((box) => box.node.name === this.focus);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.layout?.across ?? 1, ArrowUp: -(this.layout?.across ?? 1) }[event.key];
    if (step === undefined || !boxes.length) {
      if (event.key === "Enter" && this.focus) { this.part("node").querySelector("button")?.focus(); event.preventDefault(); }
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const next = boxes[Math.min(boxes.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
    this.focus = next.node.name;
    const height = this.canvas.clientHeight;
    if (next.y < this.scroll) this.scroll = next.y;
    if (next.y + next.h > this.scroll + height) this.scroll = next.y + next.h - height;
    const { node } = next;
    this.part("live").textContent = `${node.name}, ${percent(node.share)} of ${this.resource} requested, ${node.pods.length} pods${marksOf(node).length ? `, ${marksOf(node).join(", ")}` : ""}`;
    this.draw();
  }

  scrollBy(by) {
    this.scroll = Math.max(0, Math.min((this.layout?.height ?? 0) - this.canvas.clientHeight, this.scroll + by));
    this.draw();
  }
}
