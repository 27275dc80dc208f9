// Spans by id, kept up to date by idempotent upserts along a cursor.
const FIELDS = ["id", "kind", "pod", "uid", "node", "start", "end", "seq", "cause", "reason", "text", "priority", "links"];

export function spanOf(array) {
  const span = {};
  for (let i = 0; i < FIELDS.length; i += 1) span[FIELDS[i]] = array[i];
  span.links = span.links ?? [];
  return span;
}

export class SpanStore {
  constructor() {
    this.reset(null);
  }

  reset(attempt) {
    this.spans = new Map();
    this.attempt = attempt;
    this.cursor = 0;
    this.version = 0;
    this.last = 0;
    this.first = 0;
    this.state = "queued";
  }

  // Takes a message of the server; false where it leaves a gap, so that the caller asks again from `cursor`.
  apply(message) {
    if (this.attempt !== null && message.attempt !== this.attempt) this.reset(message.attempt);
    if (message.from > this.cursor) return false;
    this.attempt = message.attempt;
    for (const array of message.spans) {
      const span = spanOf(array);
      const known = this.spans.get(span.id);
      if (known && known.seq > span.seq) continue;
      this.spans.set(span.id, span);
      if (span.start < this.first) this.first = span.start;
      this.last = Math.max(this.last, span.end ?? span.start);
    }
    this.cursor = Math.max(this.cursor, message.to);
    this.state = message.state;
    this.last = Math.max(this.last, message.sim);
    this.version += 1;
    return true;
  }

  get finished() {
    return ["succeeded", "failed", "cancelled"].includes(this.state);
  }

  // Times at which something begins or ends, ascending, for stepping.
  instants() {
    const found = new Set();
    for (const span of this.spans.values()) {
      found.add(span.start);
      if (span.end !== null) found.add(span.end);
    }
    return [...found].sort((a, b) => a - b);
  }
}
