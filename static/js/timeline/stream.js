// The run's changes: by socket, and by plain requests where a socket does not come through. Both go along the store's cursor.
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const FALLBACK_AFTER = 3;

export class Stream {
  constructor(store, options) {
    this.store = store;
    this.options = options;
    this.failures = 0;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${this.options.run}/?after=${this.store.cursor}`);
    this.socket.addEventListener("message", (event) => {
      this.failures = 0;
      if (!this.store.apply(JSON.parse(event.data))) { this.socket.close(); return; }
      this.options.onChange();
    });
    this.socket.addEventListener("close", (event) => {
      if (event.code === 4404 || event.code === 4400) { this.options.onGone(); return; }
      this.again();
    });
  }

  again() {
    this.failures += 1;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.failures) * (0.5 + Math.random());
    if (this.failures >= FALLBACK_AFTER) this.fetchOnce();
    this.options.onStale(this.failures);
    setTimeout(() => this.connect(), wait);
  }

  async fetchOnce() {
    try {
      const answer = await fetch(`${this.options.url}?after=${this.store.cursor}`);
      if (answer.ok && this.store.apply(await answer.json())) this.options.onChange();
    } catch { /* the next try comes anyway */ }
  }
}
