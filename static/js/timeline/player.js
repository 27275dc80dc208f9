// Playback: a cursor that runs over what is known, or stays at the newest record while it follows.
export class Player {
  constructor(onTick) {
    this.onTick = onTick;
    this.playing = false;
    this.following = true;
    this.cursor = null;
    this.speed = 1;
  }

  now(store) {
    return this.following || this.cursor === null ? store.last : this.cursor;
  }

  toggle(store) {
    this.playing ? this.pause(store) : this.play(store);
  }

  play(store) {
    if (this.cursor === null || this.following || this.cursor >= store.last) this.cursor = store.first;
    this.following = false;
    this.playing = true;
    this.previous = null;
    const frame = (time) => {
      if (!this.playing) return;
      if (this.previous !== null) this.cursor += (time - this.previous) * 1e6 * this.speed;
      this.previous = time;
      if (this.cursor >= store.last) { this.cursor = store.last; if (store.finished) this.playing = false; }
      this.onTick();
      if (this.playing) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    this.onTick();
  }

  pause(store) {
    this.cursor = this.now(store);
    this.playing = false;
    this.onTick();
  }

  seek(time, store) {
    this.following = false;
    this.cursor = Math.min(Math.max(time, store.first), store.last);
    this.onTick();
  }

  step(store) {
    const now = this.now(store);
    const next = store.instants().find((t) => t > now);
    if (next !== undefined) this.seek(next, store);
    this.playing = false;
  }

  follow(on, store) {
    this.cursor = on ? null : this.now(store);
    this.following = on;
    this.playing = false;
    this.onTick();
  }
}
