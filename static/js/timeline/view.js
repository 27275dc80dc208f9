// What is in sight: the time range, the scroll position, and the arithmetic between pixels and nanoseconds.
const SHORTEST = 1e5;

export class View {
  constructor() {
    this.from = 0;
    this.to = 60e9;
    this.scroll = 0;
    this.width = 100;
    this.height = 100;
    this.gutter = 150;
    this.axis = 26;
  }

  get nsPerPixel() {
    return (this.to - this.from) / Math.max(1, this.width - this.gutter);
  }

  x(time) {
    return this.gutter + (time - this.from) / this.nsPerPixel;
  }

  time(x) {
    return this.from + (x - this.gutter) * this.nsPerPixel;
  }

  set(from, to) {
    if (to - from < SHORTEST) { const middle = (from + to) / 2; from = middle - SHORTEST / 2; to = middle + SHORTEST / 2; }
    this.from = from;
    this.to = to;
  }

  zoom(factor, aroundX = null) {
    const around = aroundX === null ? (this.from + this.to) / 2 : this.time(aroundX);
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  pan(fraction) {
    const by = (this.to - this.from) * fraction;
    this.set(this.from + by, this.to + by);
  }

  scrollBy(pixels, contentHeight) {
    const most = Math.max(0, contentHeight - (this.height - this.axis));
    this.scroll = Math.min(most, Math.max(0, this.scroll + pixels));
  }
}
