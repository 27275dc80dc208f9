// Times for people.
export function simTime(ns, digits = 3) {
  const sign = ns < 0 ? "-" : "+";
  const text = (Math.abs(ns) / 1e9).toFixed(digits);
  return `T${sign}${digits ? text.replace(/\.?0+$/, "") : text}s`;
}

export function duration(ns) {
  if (ns < 1e6) return `${Math.round(ns / 1e3)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toPrecision(3)} ms`;
  if (ns < 120e9) return `${(ns / 1e9).toFixed(2).replace(/\.?0+$/, "")} s`;
  const minutes = Math.floor(ns / 60e9);
  return `${minutes}m${Math.round((ns - minutes * 60e9) / 1e9)}s`;
}

const STEPS = [1, 2, 5];

// A round step of the axis for about one tick every `pixels`.
export function tickStep(nsPerPixel, pixels = 110) {
  const wanted = nsPerPixel * pixels;
  let power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
  for (;;) {
    for (const step of STEPS) if (step * power >= wanted) return step * power;
    power *= 10;
  }
}

export function tickDigits(step) {
  return Math.max(0, Math.ceil(9 - Math.log10(step)) - (step >= 1e9 ? 9 : 0));
}
