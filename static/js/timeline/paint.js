// Draws lanes and spans on a canvas.
import { duration, simTime, tickDigits, tickStep } from "./format.js";
import { KINDS, WAITING } from "./kinds.js";
import { firstVisible, placeOf } from "./lanes.js";

const TOKENS = ["--surface", "--ink", "--ink-2", "--line", "--accent", "--c-grid", "--c-lane", "--c-lane-alt", "--c-cursor", "--c-select", ...new Set(Object.values(KINDS).map((k) => k.token))];

export function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const token of TOKENS) colours[token] = style.getPropertyValue(token).trim();
  return colours;
}

function stripes(colour, ratio) {
  const tile = document.createElement("canvas");
  const size = Math.round(8 * ratio);
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = size / 2.6;
  for (const shift of [-size, 0, size]) { pen.beginPath(); pen.moveTo(shift - 1, size + 1); pen.lineTo(shift + size + 1, -1); pen.stroke(); }
  return pen.createPattern(tile, "repeat");
}

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.recolour();
  }

  recolour() {
    this.colours = readColours();
    this.patterns = new Map();
  }

  resize(width, height) {
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.patterns.clear();
  }

  paint(scene) {
    const { pen } = this;
    const { view } = scene;
    this.hits = [];
    this.merged = 0;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "middle";
    this.background(scene);
    pen.save();
    pen.beginPath();
    pen.rect(view.gutter, view.axis, view.width - view.gutter, view.height - view.axis);
    pen.clip();
    this.spans(scene);
    this.arrows(scene);
    this.cursor(scene);
    pen.restore();
    this.labels(scene);
    this.axis(scene);
  }

  background({ view, layout }) {
    const { pen, colours } = this;
    layout.lanes.forEach((lane, i) => {
      const y = lane.y - view.scroll + view.axis;
      if (y > view.height || y + lane.height < view.axis) return;
      pen.fillStyle = colours[i % 2 ? "--c-lane-alt" : "--c-lane"];
      pen.fillRect(0, y, view.width, lane.height);
    });
    const step = tickStep(view.nsPerPixel);
    pen.strokeStyle = colours["--c-grid"];
    pen.lineWidth = 1;
    pen.beginPath();
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = Math.round(view.x(t)) + 0.5;
      if (x >= view.gutter) { pen.moveTo(x, view.axis); pen.lineTo(x, view.height); }
    }
    pen.stroke();
  }

  spans(scene) {
    const { view, layout } = scene;
    for (const lane of layout.lanes) {
      const y = lane.y - view.scroll + view.axis;
      if (y > view.height || y + lane.height < view.axis) continue;
      lane.rows.forEach((row, index) => this.row(scene, lane, row, index));
    }
  }

  row(scene, lane, row, index) {
    const { view, now, selected } = scene;
    const place = placeOf(lane, index);
    const y = place.y - view.scroll + view.axis;
    let lastColumn = -1;
    for (let i = firstVisible(row, view.from); i < row.spans.length; i += 1) {
      const span = row.spans[i];
      if (span.start > view.to) break;
      if (span.start > now) break;
      const kind = KINDS[span.kind];
      const end = Math.min(span.end ?? now, now);
      const x = view.x(span.start);
      const width = Math.max(view.x(end) - x, 1);
      const column = Math.floor(x + width);
      if (width <= 1 && column === lastColumn && !kind.keep) { this.merged += 1; continue; }
      lastColumn = column;
      const quiet = lane.overlaid && index === 0 && WAITING.has(span.kind) && lane.rows[1].spans.length > 0; // its ghost has the label
      this.span(span, kind, { x, y, width, height: place.height, quiet }, selected === span.id);
    }
  }

  span(span, kind, box, chosen) {
    const { pen, colours } = this;
    const colour = colours[kind.token];
    const left = Math.max(box.x, -20);
    const right = Math.min(box.x + box.width, this.canvas.width / this.ratio + 20);
    const width = Math.max(right - left, 1);
    const mark = kind.draw === "tick" || kind.draw === "stop" || kind.draw === "dot";
    pen.setLineDash([]);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.4;
    if (box.height < 7 && kind.draw.startsWith("dotted")) { pen.globalAlpha = kind.keep ? 0.55 : 0.3; pen.fillRect(left, box.y, width, box.height); pen.globalAlpha = 1; }
    else switch (kind.draw) {
      case "solid": pen.fillRect(left, box.y, width, box.height); break;
      case "striped": this.striped(colour, left, box.y, width, box.height); break;
      case "outline": pen.globalAlpha = 0.25; pen.fillRect(left, box.y, width, box.height); pen.globalAlpha = 1; pen.strokeRect(left + 0.5, box.y + 0.5, Math.max(width - 1, 1), box.height - 1); break;
      case "dashed": pen.globalAlpha = 0.14; pen.fillRect(left, box.y, width, box.height); pen.globalAlpha = 1; pen.lineWidth = 1.8; pen.setLineDash([6, 4]); pen.strokeRect(left + 1, box.y + 1, Math.max(width - 2, 1), box.height - 2); break;
      case "dotted-filled": pen.globalAlpha = 0.22; pen.fillRect(left, box.y, width, box.height); pen.globalAlpha = 1; // falls through
      case "dotted": pen.setLineDash([1.5, 2.5]); pen.strokeRect(left + 0.5, box.y + 0.5, Math.max(width - 1, 1), box.height - 1); break;
      case "tick": this.tick(span, box); break;
      case "stop": this.stop(box); break;
      default: pen.beginPath(); pen.arc(box.x, box.y + box.height - 3, 2, 0, 7); pen.fill();
    }
    pen.setLineDash([]);
    if (!mark && !box.quiet && width > 46 && box.height > 9) this.text(span, left, box, width, kind);
    if (chosen) { pen.strokeStyle = colours["--c-select"]; pen.lineWidth = 2; pen.strokeRect(left - 2, box.y - 2, Math.max(width, mark ? 4 : 1) + 4, box.height + 4); }
    const slack = mark ? 5 : 2;
    this.hits.push({ span, x: left - slack, y: box.y - 1, width: (mark ? 1 : width) + 2 * slack, height: box.height + 2, mark });
  }

  striped(colour, x, y, width, height) {
    const { pen } = this;
    let pattern = this.patterns.get(colour);
    if (!pattern) this.patterns.set(colour, (pattern = stripes(colour, this.ratio)));
    pen.save();
    pattern.setTransform(new DOMMatrix().scale(1 / this.ratio));
    pen.globalAlpha = 0.2;
    pen.fillStyle = colour;
    pen.fillRect(x, y, width, height);
    pen.globalAlpha = 1;
    pen.fillStyle = pattern;
    pen.fillRect(x, y, width, height);
    pen.strokeRect(x + 0.5, y + 0.5, Math.max(width - 1, 1), height - 1);
    pen.restore();
  }

  tick(span, box) {
    const { pen } = this;
    const middle = box.y + box.height / 2;
    const r = Math.min(3, box.height / 2);
    pen.lineWidth = r < 3 ? 1 : 1.8;
    pen.beginPath();
    if (span.reason === "Scheduled") pen.arc(box.x, middle, r, 0, 7);
    else { pen.moveTo(box.x - r, middle - r); pen.lineTo(box.x + r, middle + r); pen.moveTo(box.x + r, middle - r); pen.lineTo(box.x - r, middle + r); }
    span.reason === "Scheduled" ? pen.fill() : pen.stroke();
  }

  stop(box) {
    const { pen } = this;
    const size = Math.min(9, box.height);
    const y = box.y + (box.height - size) / 2;
    pen.fillRect(box.x - size / 2, y, size, size);
    pen.fillStyle = this.colours["--surface"];
    pen.fillRect(box.x - size / 2 + 2, y + size / 2 - 1, size - 4, 2);
  }

  text(span, left, box, width, kind) {
    const { pen, colours } = this;
    const from = Math.max(left, this.gutterEdge ?? 0) + 5;
    const room = left + width - from - 4;
    if (room < 30) return;
    const name = span.pod.slice(span.pod.indexOf("/") + 1);
    const word = span.kind === "running" ? name : `${name} · ${span.kind === "nominated" ? `nominated` : kind.word.toLowerCase()}`;
    pen.save();
    pen.beginPath();
    pen.rect(from, box.y, room, box.height);
    pen.clip();
    const solid = kind.draw === "solid";
    if (kind.draw === "striped") { pen.fillStyle = colours["--surface"]; pen.globalAlpha = 0.8; pen.fillRect(from - 2, box.y + 2, Math.min(pen.measureText(word).width + 5, room), box.height - 4); pen.globalAlpha = 1; }
    pen.fillStyle = solid ? "#ffffff" : colours["--ink"];
    if (solid) { pen.shadowColor = "rgba(0,0,0,.55)"; pen.shadowBlur = 2; }
    pen.fillText(word, from, box.y + box.height / 2 + 0.5);
    pen.restore();
  }

  arrows(scene) {
    const { view, selectedPod } = scene;
    const at = new Map(this.hits.map((hit) => [hit.span.id, hit]));
    const links = [];
    for (const hit of this.hits) for (const [kind, target] of hit.span.links) if (at.has(target)) links.push([kind, hit, at.get(target)]);
    const crowded = links.length > 60;
    const { pen, colours } = this;
    for (const [kind, from, to] of links) {
      const related = from.span.pod === selectedPod || to.span.pod === selectedPod;
      if (crowded && !related) continue;
      pen.strokeStyle = pen.fillStyle = kind === "preempts" ? colours["--c-terminating"] : colours["--c-binding"];
      pen.globalAlpha = related ? 1 : 0.5;
      pen.lineWidth = related ? 2 : 1.2;
      const x1 = Math.max(from.x + 2, view.gutter);
      const y1 = from.y + from.height / 2;
      const x2 = Math.max(to.x + 2, view.gutter);
      const y2 = to.y + to.height / 2;
      const bend = Math.max(16, Math.min(60, Math.abs(y2 - y1) / 3));
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.bezierCurveTo(x1 - bend, y1, x2 - bend, y2, x2 - 2, y2);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x2 + 1, y2);
      pen.lineTo(x2 - 6, y2 - 3.5);
      pen.lineTo(x2 - 6, y2 + 3.5);
      pen.fill();
    }
    pen.globalAlpha = 1;
    this.links = links.length;
  }

  cursor({ view, now, marks }) {
    const { pen, colours } = this;
    for (const mark of marks) {
      pen.fillStyle = colours["--c-nominated"];
      pen.globalAlpha = 0.16;
      pen.fillRect(view.x(mark.from), view.axis, Math.max(view.x(mark.to) - view.x(mark.from), 2), view.height);
      pen.globalAlpha = 1;
    }
    const x = Math.round(view.x(now)) + 0.5;
    pen.strokeStyle = colours["--c-cursor"];
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x, view.axis);
    pen.lineTo(x, view.height);
    pen.stroke();
  }

  labels({ view, layout, focusLane }) {
    const { pen, colours } = this;
    pen.save();
    pen.beginPath();
    pen.rect(0, view.axis, view.gutter, view.height - view.axis);
    pen.clip();
    layout.lanes.forEach((lane, i) => {
      const y = lane.y - view.scroll + view.axis;
      if (y > view.height || y + lane.height < view.axis) return;
      pen.fillStyle = colours[i % 2 ? "--c-lane-alt" : "--c-lane"];
      pen.fillRect(0, y, view.gutter, lane.height);
      if (i === focusLane) { pen.fillStyle = colours["--accent"]; pen.fillRect(0, y, 3, lane.height); }
      pen.fillStyle = colours["--ink"];
      pen.fillText(this.fitted(lane.label, view.gutter - 16), 9, y + Math.min(lane.height / 2, 13) + 0.5);
    });
    pen.strokeStyle = colours["--line"];
    pen.lineWidth = 1;
    pen.strokeRect(view.gutter - 0.5, view.axis - 1, 1, view.height);
    pen.restore();
  }

  // The end of a name tells pods apart, so the middle is cut.
  fitted(text, room) {
    const { pen } = this;
    if (pen.measureText(text).width <= room) return text;
    let keep = Math.max(4, Math.floor((text.length * room) / pen.measureText(text).width) - 2);
    for (; keep > 3; keep -= 1) {
      const cut = `${text.slice(0, Math.ceil(keep / 3))}…${text.slice(-Math.floor((keep * 2) / 3))}`;
      if (pen.measureText(cut).width <= room) return cut;
    }
    return text.slice(-3);
  }

  axis({ view, now }) {
    const { pen, colours } = this;
    pen.fillStyle = colours["--surface"];
    pen.fillRect(0, 0, view.width, view.axis);
    pen.strokeStyle = colours["--line"];
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(0, view.axis - 0.5);
    pen.lineTo(view.width, view.axis - 0.5);
    pen.stroke();
    const step = tickStep(view.nsPerPixel);
    const digits = tickDigits(step);
    pen.fillStyle = colours["--ink-2"];
    pen.textAlign = "center";
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = view.x(t);
      if (x > view.gutter + 24 && x < view.width - 24) pen.fillText(simTime(t, digits), x, view.axis / 2);
    }
    const x = view.x(now);
    if (x >= view.gutter && x <= view.width) { pen.fillStyle = colours["--c-cursor"]; pen.beginPath(); pen.moveTo(x - 5, view.axis - 7); pen.lineTo(x + 5, view.axis - 7); pen.lineTo(x, view.axis); pen.fill(); }
    pen.textAlign = "left";
    pen.fillStyle = colours["--ink-2"];
    pen.fillText(duration(view.to - view.from), 9, view.axis / 2);
  }

  hit(x, y) {
    let best = null;
    for (let i = this.hits.length - 1; i >= 0; i -= 1) {
      const hit = this.hits[i];
      if (x < hit.x || x > hit.x + hit.width || y < hit.y || y > hit.y + hit.height) continue;
      if (hit.mark) return hit.span;
      best = best ?? hit.span;
    }
    return best;
  }
}
