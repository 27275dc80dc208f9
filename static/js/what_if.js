// The what-if form: a preview while it is filled in, and form and YAML that fill each other. Drafts outlive a reload.
const form = document.getElementById("what-if");
const preview = document.getElementById("preview");
const yaml = document.getElementById("yaml");
const fields = document.getElementById("fields");
const draftKey = `draft ${location.pathname}${location.search}`;
let asked = 0;
let waiting = 0;

function openSections() {
  return new Set([...fields.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent));
}

function keepOpen(open) {
  for (const section of fields.querySelectorAll("details")) if (open.has(section.querySelector("summary").textContent)) section.open = true;
}

function take(part, put) {
  const found = preview.querySelector(`template[data-part="${part}"]`);
  if (found) put(found);
  found?.remove();
}

async function refresh(side) {
  const number = (asked += 1);
  const body = new FormData(form);
  body.set("side", side);
  let answer;
  try { answer = await fetch(form.dataset.preview, { method: "POST", body }); } catch { return; }
  if (number !== asked || !answer.ok) return;
  preview.innerHTML = await answer.text(); // our own server's escaped page
  take("fields", (found) => { const open = openSections(); fields.replaceChildren(found.content.cloneNode(true)); keepOpen(open); mark(); });
  take("yaml", (found) => { yaml.value = found.content.textContent; });
  take("written", (found) => { document.getElementById("written").replaceChildren(found.content.cloneNode(true)); });
}

// Fields that say something are marked, and a closed part tells how many it has, so that one sees at a glance what was changed.
function mark() {
  for (const field of fields.querySelectorAll(".field")) {
    const input = field.querySelector("input, select");
    if (input) field.classList.toggle("changed", input.value !== input.dataset.initial);
  }
  for (const section of fields.querySelectorAll("details")) {
    const box = section.querySelector('.check input[type="checkbox"]');
    const number = box && !box.checked ? 0 : section.querySelectorAll(".field.changed").length;
    section.querySelector("summary").dataset.changed = number ? `${number} changed` : "";
  }
}

function save() {
  const values = {};
  for (const [name, value] of new FormData(form)) if (typeof value === "string" && !/csrf|token|^yaml_written$/.test(name)) values[name] = value;
  try { sessionStorage.setItem(draftKey, JSON.stringify(values)); } catch { /* private mode */ }
}

function restore() {
  let values = null;
  try { values = JSON.parse(sessionStorage.getItem(draftKey)); } catch { return; }
  if (!values || document.querySelector(".field-error")) return;
  for (const input of form.elements) {
    if (!input.name || /csrf|token|^yaml_written$/.test(input.name)) continue;
    if (input.type === "checkbox") input.checked = input.name in values;
    else if (input.name in values) input.value = values[input.name];
  }
  mark();
}

form.addEventListener("input", (event) => {
  const side = event.target === yaml ? "yaml" : "form";
  if (event.target.closest(".field")?.querySelector("input, select")) mark();
  const section = event.target.closest("details");
  if (section && event.target.type !== "checkbox") { const box = section.querySelector('.check input[type="checkbox"]'); if (box && !box.checked) box.checked = true; }
  clearTimeout(waiting);
  waiting = setTimeout(() => { save(); refresh(side); }, 300);
});
form.addEventListener("submit", () => { try { sessionStorage.removeItem(draftKey); } catch { /* private mode */ } });
restore();
mark();
refresh("form");
