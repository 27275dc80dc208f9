// Draws nodes as boxes with their pods inside, filled by requests against allocatable.
import { readColours } from "../timeline/paint.js";
import { marksOf, percent } from "./state.js";

const FILL = { running: "--c-running", starting: "--c-starting", binding: "--c-binding", terminating: "--c-terminating" };

export class HeatMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.recolour();
  }

  recolour() { this.colours = readColours(); }

  paint(scene) {
    const { width, height, layout, scroll, focus, selectedPod } = scene;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const { pen, colours } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.textBaseline = "middle";
    this.pods = [];
    for (const group of layout.groups) {
      if (group.y - scroll > height || group.y + group.height - scroll < 0) continue;
      pen.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
      pen.fillStyle = colours["--ink"];
      pen.fillText(group.name, 0, group.y - scroll + 11);
      const w = pen.measureText(group.name).width;
      pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
      pen.fillStyle = colours["--ink-2"];
      pen.fillText(`${group.count.toLocaleString("en")} ${group.count === 1 ? "node" : "nodes"}`, w + 10, group.y - scroll + 11);
      if (group.bars) this.bars(group.bars, scroll);
      for (const box of group.boxes) if (box.y - scroll < height && box.y + box.h - scroll > 0) this.box(box, box.y - scroll, box.node.name === focus, selectedPod);
    }
  }

  bars({ y, height, counts, width }, scroll) {
    const { pen, colours } = this;
    const most = Math.max(...counts, 1);
    const step = width / counts.length;
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    pen.textAlign = "center";
    counts.forEach((count, i) => {
      const h = count ? Math.max(2, (count / most) * (height - 14)) : 0;
      pen.fillStyle = colours[i >= 10 ? "--c-terminating" : "--c-running"];
      pen.globalAlpha = 0.35 + 0.065 * Math.min(i, 10);
      pen.fillRect(i * step + 1, y - scroll + height - h, step - 3, h);
      pen.globalAlpha = 1;
      pen.fillStyle = colours["--ink"];
      if (count) pen.fillText(count.toLocaleString("en"), i * step + step / 2, y - scroll + height - h - 7);
      pen.fillStyle = colours["--ink-2"];
      pen.fillText(i === 10 ? "100 %+" : `${i * 10}–${i * 10 + 10} %`, i * step + step / 2, y - scroll + height + 9);
    });
    pen.textAlign = "left";
  }

  box({ node, x, w, h }, y, focused, selectedPod) {
    const { pen, colours } = this;
    const marks = marksOf(node);
    pen.fillStyle = colours["--surface"];
    pen.fillRect(x, y, w, h);
    const named = h >= 36 && w >= 60;
    const head = named ? 15 : 0;
    this.fill(node, { x: x + 1, y: y + 1 + head, w: w - 2, h: h - 2 - head }, selectedPod);
    const bad = marks.includes("not ready") || marks.includes("gone");
    pen.strokeStyle = bad ? colours["--c-refused"] : colours["--line"];
    pen.lineWidth = bad ? 2 : 1;
    pen.setLineDash(marks.includes("cordoned") ? [3, 3] : []);
    pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    pen.setLineDash([]);
    if (focused) { pen.strokeStyle = colours["--c-select"]; pen.lineWidth = 2; pen.strokeRect(x - 1.5, y - 1.5, w + 3, h + 3); }
    if (marks.includes("cordoned")) this.crossed(x, y, w, h);
    if (named) this.title(node, marks, { x, y, w });
  }

  title(node, marks, { x, y, w }) {
    const { pen, colours } = this;
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const share = percent(node.share);
    const room = w - 10 - pen.measureText(share).width - 6;
    pen.fillStyle = colours["--ink"];
    pen.fillText(fitted(pen, node.name, room), x + 4, y + 9);
    pen.textAlign = "right";
    pen.fillStyle = node.share > 1 || marks.includes("not ready") ? colours["--c-refused"] : colours["--ink-2"];
    pen.fillText(marks.includes("not ready") ? "not ready" : share, x + w - 4, y + 9);
    pen.textAlign = "left";
  }

  // Pods from the bottom up, each as high as what it asks for; nominations as dashed ghosts on top.
  fill(node, area, selectedPod) {
    const { pen, colours } = this;
    const offered = Math.max(node.offered, node.used) || 1;
    let bottom = area.y + area.h;
    for (const { span, amount } of node.pods) {
      const h = Math.max(amount ? 1 : 0, (amount / offered) * area.h);
      if (!h) continue;
      const top = Math.max(area.y, bottom - h);
      pen.fillStyle = colours[FILL[span.kind] ?? "--c-running"];
      pen.globalAlpha = span.kind === "running" ? 0.8 : 0.95;
      pen.fillRect(area.x, top, area.w, Math.max(1, bottom - top - (h > 3 ? 1 : 0)));
      pen.globalAlpha = 1;
      if (span.kind === "terminating" && h > 4) this.striped(area.x, top, area.w, bottom - top - 1);
      if (span.pod === selectedPod) { pen.strokeStyle = colours["--c-select"]; pen.lineWidth = 2; pen.strokeRect(area.x + 1, top + 1, area.w - 2, Math.max(1, bottom - top - 2)); }
      this.pods.push({ span, amount, node, x: area.x, y: top, w: area.w, h: bottom - top });
      bottom = top;
    }
    for (const { span, amount } of node.ghosts) {
      const h = Math.min(area.h, Math.max(6, (amount / offered) * area.h));
      const top = Math.max(area.y, bottom - h);
      pen.setLineDash([4, 3]);
      pen.strokeStyle = colours["--c-nominated"];
      pen.lineWidth = 1.6;
      pen.strokeRect(area.x + 1.5, top + 1, area.w - 3, h - 2);
      pen.setLineDash([]);
      this.pods.push({ span, amount, node, x: area.x, y: top, w: area.w, h });
    }
  }

  striped(x, y, w, h) {
    const { pen, colours } = this;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, w, h);
    pen.clip();
    pen.strokeStyle = colours["--surface"];
    pen.globalAlpha = 0.7;
    pen.lineWidth = 2;
    for (let at = x - h; at < x + w; at += 6) { pen.beginPath(); pen.moveTo(at, y + h); pen.lineTo(at + h, y); pen.stroke(); }
    pen.restore();
  }

  crossed(x, y, w, h) {
    const { pen, colours } = this;
    pen.strokeStyle = colours["--ink-2"];
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x + w - Math.min(12, w), y + h);
    pen.lineTo(x + w, y + h - Math.min(12, h));
    pen.stroke();
  }

  podAt(x, y) {
    for (let i = this.pods.length - 1; i >= 0; i -= 1) {
      const pod = this.pods[i];
      if (x >= pod.x && x <= pod.x + pod.w && y >= pod.y && y <= pod.y + pod.h) return pod;
    }
    return null;
  }
}

export function fitted(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  for (let keep = text.length - 1; keep > 2; keep -= 1) {
    const cut = `…${text.slice(-keep)}`;
    if (pen.measureText(cut).width <= room) return cut;
  }
  return "";
}
