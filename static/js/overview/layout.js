// Where the boxes are. Above MOST_BOXES nodes a group is one row of counts; what is special about a node keeps its own box.
import { marksOf } from "./state.js";

export const MOST_BOXES = 1000;
const GAP = 6;
const HEAD = 24;
const BUCKETS = 10;

function sizeFor(count, width, height) {
  for (const [w, h] of [[150, 96], [118, 78], [88, 62], [64, 48], [44, 36], [30, 26], [20, 18]]) {
    const across = Math.max(1, Math.floor(width / (w + GAP)));
    if (Math.ceil(count / across) * (h + GAP) <= height) return { w, h };
  }
  return { w: 16, h: 14 };
}

export function histogram(nodes) {
  const counts = new Array(BUCKETS + 1).fill(0);
  for (const node of nodes) counts[Math.min(BUCKETS, Math.floor(node.share * BUCKETS))] += 1;
  return counts;
}

// Groups with boxes, or with counts; `height` is what the whole takes.
export function layOut(groups, width, height) {
  const total = groups.reduce((sum, group) => sum + group.nodes.length, 0);
  const counted = total > MOST_BOXES;
  const box = counted ? { w: 30, h: 26 } : sizeFor(total + groups.length * 3, width, Math.max(120, height - groups.length * (HEAD + GAP)));
  const across = Math.max(1, Math.floor((width + GAP) / (box.w + GAP)));
  const placed = [];
  let y = 0;
  for (const group of groups) {
    const entry = { name: group.name, count: group.nodes.length, y, boxes: [], bars: null };
    y += HEAD;
    let shown = group.nodes;
    if (counted) {
      entry.bars = { y, height: 54, counts: histogram(group.nodes), width: Math.min(width, 640) };
      y += 54 + 18;
      shown = group.nodes.filter((node) => marksOf(node).length);
    }
    shown.forEach((node, i) => entry.boxes.push({ node, x: (i % across) * (box.w + GAP), y: y + Math.floor(i / across) * (box.h + GAP), w: box.w, h: box.h }));
    y += Math.ceil(shown.length / across) * (box.h + GAP) + GAP;
    entry.height = y - entry.y;
    placed.push(entry);
  }
  return { groups: placed, height: y, counted, across };
}
