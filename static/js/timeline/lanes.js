// From spans to lanes: by node (pods as room, in sub-rows) or by pod (one lane each).
import { MARKS, ON_NODE, WAITING } from "./kinds.js";

export const UNSCHEDULED = "Unscheduled";
export const POD_ROW = 22;
export const NODE_ROW = 15;
const PAD = 4;
const MOST_WAITING = 120; // more pods than this in the lane of the unscheduled are not all shown there
const FEW_WAITING = 20;
const MOST_FULL_ROWS = 11; // more waiting pods than this get thinner rows, so that nodes stay in sight
const FOREVER = Number.MAX_SAFE_INTEGER;

function byStart(a, b) {
  return a.start - b.start || a.id - b.id;
}

// Sorted spans with the highest end so far, so that the first visible one is found by binary search.
function rowOf(spans) {
  spans.sort(byStart);
  const reach = new Float64Array(spans.length);
  let highest = -Infinity;
  for (let i = 0; i < spans.length; i += 1) {
    highest = Math.max(highest, spans[i].end ?? FOREVER);
    reach[i] = highest;
  }
  return { spans, reach };
}

export function firstVisible(row, time) {
  let low = 0;
  let high = row.reach.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.reach[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Puts groups of spans (one pod's stay) into as few rows as do not overlap.
function pack(groups) {
  groups.sort((a, b) => a.start - b.start || a.order - b.order);
  const ends = [];
  const rows = [];
  for (const group of groups) {
    let at = ends.findIndex((end) => end <= group.start);
    if (at < 0) { at = ends.length; rows.push([]); }
    ends[at] = group.end;
    rows[at].push(...group.spans);
  }
  return rows.map(rowOf);
}

function grouped(spans, keyOf) {
  const lanes = new Map();
  for (const span of spans) {
    const lane = keyOf(span);
    let groups = lanes.get(lane);
    if (!groups) lanes.set(lane, (groups = new Map()));
    let group = groups.get(span.uid || span.pod);
    if (!group) groups.set(span.uid || span.pod, (group = { start: span.start, end: -Infinity, order: span.id, spans: [] }));
    group.start = Math.min(group.start, span.start);
    group.end = Math.max(group.end, span.end ?? FOREVER);
    group.spans.push(span);
  }
  return lanes;
}

// The pods that are shown as waiting: all that were rejected or held back; of the ones that only queue a few, the others are left to "by pod".
function mostUrgent(groups) {
  const all = [...groups.values()];
  if (all.length <= MOST_WAITING) return { shown: all, left: 0 };
  const urgent = (group) => group.spans.some((s) => s.kind !== "queued" && s.kind !== "attempt");
  const inOrder = [...all].sort((a, b) => urgent(b) - urgent(a) || a.start - b.start || a.order - b.order);
  const size = Math.min(all.length, inOrder.filter(urgent).length + FEW_WAITING);
  return { shown: inOrder.slice(0, size), left: all.length - size };
}

export function lanesByNode(all, keep) {
  const nodes = new Set();
  const onNodes = [];
  const waiting = [];
  for (const span of all) {
    if (span.kind === "node") { nodes.add(span.node); continue; }
    if (!keep(span)) continue;
    if (ON_NODE.has(span.kind) && span.node) onNodes.push(span);
    else if (WAITING.has(span.kind) || span.kind === "attempt" || span.kind === "refused") waiting.push(span);
  }
  const lanes = [];
  const unscheduled = grouped(waiting.filter((s) => WAITING.has(s.kind) || s.kind === "attempt" || s.kind === "refused"), () => UNSCHEDULED);
  for (const groups of unscheduled.values()) {
    const { shown, left } = mostUrgent(groups);
    const label = left ? `${UNSCHEDULED}, ${left.toLocaleString("en")} more by pod` : UNSCHEDULED;
    lanes.push({ key: UNSCHEDULED, label, rows: pack(shown) });
  }
  const placed = grouped(onNodes, (span) => span.node);
  for (const name of [...nodes, ...[...placed.keys()].filter((n) => !nodes.has(n))]) {
    const groups = placed.get(name);
    lanes.push({ key: name, label: name, rows: groups ? pack([...groups.values()]) : [] });
  }
  return stacked(lanes, NODE_ROW);
}

export function lanesByPod(all, keep) {
  const lanes = new Map();
  for (const span of all) {
    if (!span.pod || !keep(span)) continue;
    const key = span.uid || span.pod;
    let lane = lanes.get(key);
    if (!lane) lanes.set(key, (lane = { key, label: span.pod, spans: [], start: span.start, interesting: 0 }));
    lane.start = Math.min(lane.start, span.start);
    if (span.kind === "nominated" || span.kind === "terminating" || span.kind === "refused") lane.interesting += 1;
    lane.spans.push(span);
  }
  const sorted = [...lanes.values()].sort((a, b) => (b.interesting > 0) - (a.interesting > 0) || a.start - b.start);
  for (const lane of sorted) {
    lane.rows = [rowOf(lane.spans.filter((s) => s.kind !== "nominated" && !MARKS.has(s.kind))), rowOf(lane.spans.filter((s) => s.kind === "nominated")), rowOf(lane.spans.filter((s) => MARKS.has(s.kind)))];
    lane.overlaid = true;
  }
  return stacked(sorted, POD_ROW);
}

function stacked(lanes, rowHeight) {
  let y = 0;
  for (const lane of lanes) {
    lane.y = y;
    const crowded = lane.key === UNSCHEDULED && lane.rows.length > MOST_FULL_ROWS;
    lane.rowHeight = crowded ? Math.max(3, Math.floor((MOST_FULL_ROWS * rowHeight) / lane.rows.length)) : rowHeight;
    lane.height = (lane.overlaid ? 1 : Math.max(1, lane.rows.length)) * lane.rowHeight + PAD;
    y += lane.height;
  }
  return { lanes, height: y };
}

// The rectangle of a span in lane coordinates: y and height.
export function placeOf(lane, rowIndex) {
  if (!lane.overlaid) return { y: lane.y + PAD / 2 + rowIndex * lane.rowHeight, height: Math.max(2, lane.rowHeight - (lane.rowHeight > 6 ? 2 : 1)) };
  return { y: lane.y + PAD / 2 + 2, height: lane.rowHeight - 5 };
}
