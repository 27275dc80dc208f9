// The timeline's twin: the same spans under the same filter, as a table.
import { duration, simTime } from "./format.js";
import { KINDS } from "./kinds.js";

const MOST = 500;

export function buildTable(place, spans, selected, onSelect, now) {
  const shown = spans.slice(0, MOST);
  const table = document.createElement("table");
  table.className = "data";
  const caption = table.createCaption();
  caption.className = "visually-hidden";
  caption.textContent = "Spans in order of their start";
  const head = table.createTHead().insertRow();
  for (const word of ["Start", "End", "Duration", "Object", "State", "Node", "Reason", "Record"]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = word;
    if (["Start", "End", "Duration", "Record"].includes(word)) cell.className = "num";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const span of shown) {
    const row = body.insertRow();
    row.tabIndex = 0;
    row.dataset.span = span.id;
    row.setAttribute("aria-selected", String(span.id === selected));
    const open = span.end === null;
    const cells = [simTime(span.start, 6), open ? "still" : simTime(span.end, 6), duration((span.end ?? now) - span.start), span.pod, KINDS[span.kind]?.word ?? span.kind, span.node || "<none>", span.reason, span.seq];
    cells.forEach((value, i) => {
      const cell = row.insertCell();
      cell.textContent = value;
      if (i < 3 || i === 7) cell.className = "num";
      if (i === 3) cell.className = "name";
    });
    row.addEventListener("click", () => onSelect(span, true));
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") onSelect(span, true); });
  }
  place.replaceChildren(table);
  if (spans.length > MOST) {
    const more = document.createElement("p");
    more.className = "muted";
    more.textContent = `${(spans.length - MOST).toLocaleString("en")} more: narrow the filter, or export the spans as CSV.`;
    place.append(more);
  }
}
