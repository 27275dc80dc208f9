// The pure parts of the timeline: store, lanes, filter, times, keys.
import assert from "node:assert/strict";
import { test } from "node:test";

import { KEYS, keyName } from "../../static/js/keys.js";
import { matches, parseFilter } from "../../static/js/timeline/filter.js";
import { duration, simTime, tickStep } from "../../static/js/timeline/format.js";
import { firstVisible, lanesByNode, lanesByPod } from "../../static/js/timeline/lanes.js";
import { SpanStore } from "../../static/js/timeline/store.js";
import { View } from "../../static/js/timeline/view.js";

const span = (id, kind, pod, node, start, end, links = []) => [id, kind, pod, `uid-${pod}`, node, start, end, id, 0, "", "", 0, links];
const message = (from, to, spans, more = {}) => ({ attempt: 1, from, to, state: "running", sim: to, spans, ...more });

test("a repeated message changes nothing", () => {
  const store = new SpanStore();
  const first = message(0, 5, [span(1, "running", "a/x", "n1", 0, null)]);
  assert.equal(store.apply(first), true);
  assert.equal(store.apply(first), true);
  assert.equal(store.spans.size, 1);
  assert.equal(store.cursor, 5);
});

test("a gap is refused, and the cursor stays where it was", () => {
  const store = new SpanStore();
  store.apply(message(0, 5, []));
  assert.equal(store.apply(message(9, 12, [])), false);
  assert.equal(store.cursor, 5);
});

test("an older form of a span does not overwrite a newer one", () => {
  const store = new SpanStore();
  store.apply(message(0, 9, [[1, "running", "a/x", "u", "n1", 0, 7, 9, 0, "", "", 0, []]]));
  store.apply(message(0, 5, [[1, "running", "a/x", "u", "n1", 0, null, 4, 0, "", "", 0, []]]));
  assert.equal(store.spans.get(1).end, 7);
});

test("a new attempt of the run starts from nothing", () => {
  const store = new SpanStore();
  store.apply(message(0, 5, [span(1, "running", "a/x", "n1", 0, null)]));
  store.apply({ ...message(0, 2, [span(1, "queued", "a/y", "", 0, null)]), attempt: 2 });
  assert.equal(store.spans.get(1).pod, "a/y");
  assert.equal(store.cursor, 2);
});

function filled(arrays) {
  const store = new SpanStore();
  store.apply(message(0, 1000, arrays));
  return [...store.spans.values()];
}

test("pods that overlap on a node get rows of their own, and one that comes later reuses a free row", () => {
  const spans = filled([span(1, "node", "", "n1", 0, null), span(2, "running", "a/x", "n1", 0, 50), span(3, "running", "a/y", "n1", 10, null), span(4, "running", "a/z", "n1", 60, null)]);
  const { lanes } = lanesByNode(spans, () => true);
  assert.deepEqual(lanes.map((lane) => lane.label), ["n1"]);
  assert.deepEqual(lanes[0].rows.map((row) => row.spans.map((s) => s.pod)), [["a/x", "a/z"], ["a/y"]]);
});

test("waiting pods are in the lane of the unscheduled", () => {
  const { lanes } = lanesByNode(filled([span(1, "node", "", "n1", 0, null), span(2, "unschedulable", "a/x", "", 0, null)]), () => true);
  assert.deepEqual(lanes.map((lane) => lane.label), ["Unscheduled", "n1"]);
});

test("lanes by pod put preemptors and victims first", () => {
  const spans = filled([span(1, "running", "a/calm", "n1", 0, null), span(2, "terminating", "a/victim", "n1", 5, 9)]);
  assert.deepEqual(lanesByPod(spans, () => true).lanes.map((lane) => lane.label), ["a/victim", "a/calm"]);
});

test("the first visible span is found by its end", () => {
  const { lanes } = lanesByPod(filled([span(1, "queued", "a/x", "", 0, 10), span(2, "running", "a/x", "n", 10, 20), span(3, "terminating", "a/x", "n", 20, 30)]), () => true);
  assert.equal(firstVisible(lanes[0].rows[0], 15), 1);
  assert.equal(firstVisible(lanes[0].rows[0], 25), 2);
});

test("filters: words, fields, and their opposites", () => {
  const pod = { pod: "shop/web-1", node: "node-7", kind: "running" };
  for (const [text, expected] of [["web", true], ["!web", false], ["ns=shop", true], ["ns!=shop", false], ["node=node-7 state=run", true], ["state=nominated", false], ["", true]]) {
    assert.equal(matches(parseFilter(text), pod), expected, text);
  }
});

test("times read as people write them", () => {
  assert.equal(simTime(0), "T+0s");
  assert.equal(simTime(1_500_000_000), "T+1.5s");
  assert.equal(simTime(-2_000_000_000), "T-2s");
  assert.equal(duration(4_200_000), "4.20 ms");
  assert.equal(duration(65e9), "65 s");
  assert.equal(tickStep(1e7, 100), 1e9);
});

test("zooming keeps the time under the pointer", () => {
  const view = new View();
  view.width = 1150;
  view.set(0, 1000e6);
  const before = view.time(650);
  view.zoom(0.5, 650);
  assert.ok(Math.abs(view.time(650) - before) < 1);
});

test("no key means two things in one place", () => {
  const seen = new Set();
  for (const entry of KEYS) for (const key of entry.keys) {
    assert.ok(!seen.has(key), key);
    seen.add(key);
  }
  assert.equal(keyName({ key: "W", shiftKey: false }), "w");
  assert.equal(keyName({ key: "ArrowRight", shiftKey: true }), "Shift+ArrowRight");
});

test("of very many waiting pods those that were rejected stay in sight, and the rest is counted", () => {
  const placed = Array.from({ length: 300 }, (_, i) => span(i + 1, "queued", `a/p${i}`, "", 0, i + 1));
  const stuck = [span(900, "unschedulable", "a/stuck", "", 50, null), span(901, "backoff", "a/tried", "", 50, 60)];
  const { lanes } = lanesByNode(filled([...placed, ...stuck]), () => true);
  const pods = new Set(lanes[0].rows.flatMap((row) => row.spans.map((s) => s.pod)));
  assert.ok(pods.has("a/stuck") && pods.has("a/tried"));
  assert.equal(pods.size, 22);
  assert.equal(lanes[0].label, "Unscheduled, 280 more by pod");
});
