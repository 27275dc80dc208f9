// The whole run in one strip: how many pods wait and terminate, and the range in sight.
export class Minimap {
  constructor(canvas, onRange) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.onRange = onRange;
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); this.drag(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) this.drag(event); });
  }

  drag(event) {
    const box = this.canvas.getBoundingClientRect();
    this.onRange((event.clientX - box.left) / box.width);
  }

  paint(scene, colours) {
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const { pen } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours["--surface"];
    pen.fillRect(0, 0, width, height);
    const { store, view, whole } = scene;
    const span = Math.max(1, whole.to - whole.from);
    const columns = this.columns(store, whole, Math.max(1, Math.floor(width / 2)));
    const most = Math.max(1, ...columns.waiting, ...columns.leaving);
    columns.waiting.forEach((n, i) => { if (n) { pen.fillStyle = colours["--c-waiting"]; const h = (n / most) * (height - 6); pen.fillRect(i * 2, height - h, 2, h); } });
    columns.leaving.forEach((n, i) => { if (n) { pen.fillStyle = colours["--c-terminating"]; const h = Math.max(2, (n / most) * (height - 6)); pen.fillRect(i * 2, height - h, 2, h); } });
    const x1 = ((view.from - whole.from) / span) * width;
    const x2 = ((view.to - whole.from) / span) * width;
    pen.fillStyle = colours["--accent"];
    pen.globalAlpha = 0.12;
    pen.fillRect(x1, 0, Math.max(x2 - x1, 3), height);
    pen.globalAlpha = 1;
    pen.strokeStyle = colours["--accent"];
    pen.strokeRect(x1 + 0.5, 0.5, Math.max(x2 - x1, 3) - 1, height - 1);
  }

  columns(store, whole, number) {
    if (this.known?.version === store.version && this.known.number === number && this.known.to === whole.to) return this.known;
    const waiting = new Array(number).fill(0);
    const leaving = new Array(number).fill(0);
    const per = (whole.to - whole.from) / number;
    for (const span of store.spans.values()) {
      const target = span.kind === "terminating" ? leaving : ["queued", "unschedulable", "backoff", "gated"].includes(span.kind) ? waiting : null;
      if (!target) continue;
      const first = Math.max(0, Math.floor((span.start - whole.from) / per));
      const last = Math.min(number - 1, Math.floor(((span.end ?? store.last) - whole.from) / per));
      for (let i = first; i <= last; i += 1) target[i] += 1;
    }
    this.known = { version: store.version, number, to: whole.to, waiting, leaving };
    return this.known;
  }
}
