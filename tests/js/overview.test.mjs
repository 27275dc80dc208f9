// The pure parts of the cluster overview: the state at an instant, groups, layout.
import assert from "node:assert/strict";
import { test } from "node:test";

import { histogram, layOut, MOST_BOXES } from "../../static/js/overview/layout.js";
import { amountText, clusterAt, grouped, groupings, marksOf } from "../../static/js/overview/state.js";
import { spanOf } from "../../static/js/timeline/store.js";

const span = (id, kind, pod, node, start, end, reason = "", text = "") => spanOf([id, kind, pod, `uid-${pod}`, node, start, end, id, 0, reason, text, 0, []]);
const facts = {
  nodes: { n1: { allocatable: { cpu: 4000, pods: 10 }, labels: { "topology.kubernetes.io/zone": "a", pool: "x" } }, n2: { allocatable: { cpu: 8000, pods: 10 }, labels: { "topology.kubernetes.io/zone": "b", pool: "x" } } },
  pods: { "uid-a/p": { cpu: 1000 }, "uid-a/q": { cpu: 2000 }, "uid-a/r": { cpu: 3000 } },
};
const spans = [span(1, "node", "", "n1", 0, null), span(2, "node", "", "n2", 0, 50), span(3, "node", "", "n2", 50, null, "cordoned", "taints: k:NoSchedule"), span(4, "running", "a/p", "n1", 0, 30), span(5, "terminating", "a/p", "n1", 30, 40), span(6, "nominated", "a/q", "n1", 30, 40), span(7, "unschedulable", "a/q", "", 10, 40), span(8, "running", "a/q", "n1", 45, null)];

test("a pod takes room from its binding to its end, and a nomination is a ghost beside it", () => {
  const { nodes, waiting } = clusterAt(spans, facts, 35, "cpu");
  const n1 = nodes.find((node) => node.name === "n1");
  assert.deepEqual([n1.used, n1.share, n1.pods.length, n1.ghosts.length, waiting.length], [1000, 0.25, 1, 1, 1]);
  assert.deepEqual(marksOf(n1), ["terminating pods", "nominated for 1"]);
});

test("at another instant the same node is another", () => {
  const { nodes, waiting } = clusterAt(spans, facts, 60, "cpu");
  assert.deepEqual(nodes.map((node) => [node.name, node.used, marksOf(node)]), [["n1", 2000, []], ["n2", 0, ["cordoned"]]]);
  assert.equal(waiting.length, 0);
  assert.equal(nodes[1].taints, "k:NoSchedule");
});

test("pods can be counted instead of what they ask for", () => {
  assert.equal(clusterAt(spans, facts, 60, "pods").nodes[0].share, 0.1);
});

test("labels that split the nodes are offered, the zone first, and hostnames are not", () => {
  const more = { nodes: { ...facts.nodes, n3: { allocatable: {}, labels: { "topology.kubernetes.io/zone": "a", "kubernetes.io/hostname": "n3" } } } };
  assert.deepEqual(groupings(more), ["", "label:topology.kubernetes.io/zone", "label:pool", "taint"]);
  const groups = grouped(clusterAt(spans, facts, 60, "cpu").nodes, "label:topology.kubernetes.io/zone");
  assert.deepEqual(groups.map((group) => [group.name, group.nodes.length]), [["a", 1], ["b", 1]]);
});

test("a thousand boxes are drawn, more become counts, and what is special keeps its box", () => {
  const many = (count) => [{ name: "all", nodes: Array.from({ length: count }, (_, i) => ({ name: `n${i}`, share: (i % 10) / 10, state: i === 7 ? "not ready" : "", pods: [], ghosts: [] })) }];
  assert.equal(layOut(many(MOST_BOXES), 1200, 600).groups[0].boxes.length, MOST_BOXES);
  const counted = layOut(many(MOST_BOXES + 1), 1200, 600).groups[0];
  assert.deepEqual(counted.boxes.map((box) => box.node.name), ["n7"]);
  assert.equal(counted.bars.counts.reduce((a, b) => a + b), MOST_BOXES + 1);
  assert.equal(histogram([{ share: 1.2 }])[10], 1);
});

test("amounts read as Kubernetes writes them", () => {
  assert.deepEqual([amountText("cpu", 1500), amountText("cpu", 2000), amountText("memory", 3 * 2 ** 30), amountText("pods", 1100)], ["1500m", "2", "3Gi", "1,100"]);
});
