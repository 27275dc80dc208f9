// What the cluster is like at an instant: nodes with their pods, and the pods that wait. A fold over the spans; requests come from the server.
import { ON_NODE, WAITING } from "../timeline/kinds.js";

export const NO_GROUP = "all nodes";

function alive(span, time) {
  return span.start <= time && (span.end === null || span.end > time);
}

// Requests of one pod for one resource; a pod counts as one of `pods`.
export function requestOf(facts, uid, resource) {
  return resource === "pods" ? 1 : (facts.pods[uid]?.[resource] ?? 0);
}

function nodeOf(name, facts) {
  const known = facts.nodes[name] ?? { allocatable: {}, labels: {} };
  return { name, allocatable: known.allocatable, labels: known.labels, state: "Ready", taints: "", pods: [], ghosts: [], used: 0, share: 0 };
}

// `spans` of the store, `facts` of the server, virtual `time`, and the resource that boxes are filled by.
export function clusterAt(spans, facts, time, resource) {
  const nodes = new Map();
  const waiting = [];
  const placed = [];
  for (const span of spans) {
    if (!alive(span, time)) continue;
    if (span.kind === "node") {
      const node = nodeOf(span.node, facts);
      node.state = span.reason || "Ready";
      node.taints = span.text.replace(/^taints: /, "");
      nodes.set(span.node, node);
    } else if (ON_NODE.has(span.kind)) placed.push(span);
    else if (WAITING.has(span.kind)) waiting.push(span);
  }
  for (const span of placed) {
    let node = nodes.get(span.node);
    if (!node) nodes.set(span.node, (node = { ...nodeOf(span.node, facts), state: "gone" }));
    const amount = requestOf(facts, span.uid, resource);
    if (span.kind === "nominated") node.ghosts.push({ span, amount });
    else { node.pods.push({ span, amount }); node.used += amount; }
  }
  for (const node of nodes.values()) {
    const offered = node.allocatable[resource] ?? 0;
    node.offered = offered;
    node.share = offered ? node.used / offered : node.used ? 1 : 0;
    node.pods.sort((a, b) => b.amount - a.amount || (a.span.pod < b.span.pod ? -1 : 1));
  }
  return { nodes: [...nodes.values()], waiting };
}

// Words for what is special about a node; none for an ordinary one.
export function marksOf(node) {
  const marks = [];
  if (/not ready/.test(node.state)) marks.push("not ready");
  if (/cordoned/.test(node.state)) marks.push("cordoned");
  if (node.state === "gone") marks.push("gone");
  if (node.pods.some(({ span }) => span.kind === "terminating")) marks.push("terminating pods");
  if (node.ghosts.length) marks.push(`nominated for ${node.ghosts.length}`);
  if (node.share > 1) marks.push("over its allocatable");
  return marks;
}

// Ways to group: by zone, by any label that splits the nodes into a few, by taint.
export function groupings(facts) {
  const values = new Map();
  const nodes = Object.values(facts.nodes);
  for (const node of nodes) for (const [key, value] of Object.entries(node.labels)) {
    if (!values.has(key)) values.set(key, new Set());
    values.get(key).add(value);
  }
  const labels = [...values].filter(([key, found]) => found.size <= 24 && (found.size < nodes.length || nodes.length === 1) && !/hostname$/.test(key)).map(([key]) => key);
  const zone = "topology.kubernetes.io/zone";
  const rank = (key) => (key === zone ? 0 : /pool/.test(key) ? 1 : 2);
  labels.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return ["", ...labels.map((key) => `label:${key}`), "taint"];
}

export function groupName(node, grouping) {
  if (!grouping) return NO_GROUP;
  if (grouping === "taint") return node.taints || "no taint";
  return node.labels[grouping.slice("label:".length)] ?? "without the label";
}

export function grouped(nodes, grouping) {
  const groups = new Map();
  for (const node of nodes) {
    const name = groupName(node, grouping);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(node);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, members]) => ({ name, nodes: members }));
}

// An amount as Kubernetes writes it.
export function amountText(resource, value) {
  if (resource === "cpu") return value >= 10000 ? (value / 1000).toLocaleString("en", { maximumFractionDigits: 1 }) : value % 1000 ? `${value}m` : String(value / 1000);
  if (resource === "memory") {
    for (const [unit, size] of [["Ti", 2 ** 40], ["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 2 ** 10]]) if (value >= size) return `${(value / size).toFixed(value / size < 10 ? 1 : 0).replace(/\.0$/, "")}${unit}`;
  }
  return value.toLocaleString("en");
}

export function percent(share) {
  return `${Math.round(share * 100)} %`;
}
