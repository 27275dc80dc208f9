// Every kind of span: its word, its colour token, how it is drawn, and whether it may ever be merged away.
export const KINDS = {
  queued: { word: "Pending", token: "--c-waiting", draw: "dotted" },
  backoff: { word: "Backoff", token: "--c-backoff", draw: "dotted" },
  unschedulable: { word: "Unschedulable", token: "--c-waiting", draw: "dotted-filled", keep: true },
  gated: { word: "Gated", token: "--c-gated", draw: "dotted" },
  nominated: { word: "Nominated", token: "--c-nominated", draw: "dashed", keep: true },
  binding: { word: "Binding", token: "--c-binding", draw: "outline" },
  starting: { word: "Starting", token: "--c-starting", draw: "solid" },
  running: { word: "Running", token: "--c-running", draw: "solid" },
  terminating: { word: "Terminating", token: "--c-terminating", draw: "striped", keep: true },
  attempt: { word: "Attempt", token: "--c-attempt", draw: "tick", keep: true },
  refused: { word: "Refused call", token: "--c-refused", draw: "stop", keep: true },
  event: { word: "Event", token: "--c-event", draw: "dot" },
};
export const WAITING = new Set(["queued", "backoff", "unschedulable", "gated"]);
export const MARKS = new Set(["attempt", "refused", "event"]);
export const ON_NODE = new Set(["nominated", "binding", "starting", "running", "terminating"]);
