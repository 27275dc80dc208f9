// The legend shows how each state is drawn, and switches it off and on.
import { KINDS } from "./kinds.js";
import { Painter } from "./paint.js";

export function buildLegend(place, hidden, onChange) {
  place.textContent = "";
  for (const [name, kind] of Object.entries(KINDS)) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.kind = name;
    button.setAttribute("aria-pressed", String(!hidden.has(name)));
    const canvas = document.createElement("canvas");
    button.append(canvas, kind.word);
    button.addEventListener("click", () => {
      hidden.has(name) ? hidden.delete(name) : hidden.add(name);
      button.setAttribute("aria-pressed", String(!hidden.has(name)));
      onChange();
    });
    place.append(button);
  }
  paintSwatches(place);
}

export function paintSwatches(place) {
  for (const button of place.querySelectorAll("button")) {
    const painter = new Painter(button.querySelector("canvas"));
    painter.hits = [];
    painter.resize(22, 12);
    painter.pen.setTransform(painter.ratio, 0, 0, painter.ratio, 0, 0);
    const kind = KINDS[button.dataset.kind];
    const mark = ["tick", "stop", "dot"].includes(kind.draw);
    painter.span({ kind: button.dataset.kind, pod: "/", links: [], reason: "" }, kind, { x: mark ? 11 : 1, y: 1, width: mark ? 1 : 20, height: 10 }, false);
  }
}
