// What every page has: theme, help, copy buttons, the drop zone, the filter key.
import { KEYS, isTyping } from "./keys.js";

const THEMES = ["system", "light", "dark"];
const WORDS = { system: "follow the system", light: "light", dark: "dark" };

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { theme === "system" ? localStorage.removeItem("theme") : localStorage.setItem("theme", theme); } catch { /* private mode */ }
  const button = document.getElementById("theme-toggle");
  button.setAttribute("aria-label", `Theme: ${WORDS[theme]}`);
  button.title = `Theme: ${WORDS[theme]}`;
  document.dispatchEvent(new CustomEvent("themechange"));
}

function wireTheme() {
  const button = document.getElementById("theme-toggle");
  button.addEventListener("click", () => {
    const at = THEMES.indexOf(document.documentElement.dataset.theme);
    setTheme(THEMES[(at + 1) % THEMES.length]);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new CustomEvent("themechange")));
}

function helpTable() {
  const table = document.createElement("table");
  table.className = "data";
  for (const entry of KEYS) {
    const row = table.insertRow();
    const keys = row.insertCell();
    for (const key of entry.label ? [entry.label] : entry.keys) {
      const kbd = document.createElement("kbd");
      kbd.textContent = key.length === 1 ? key.toUpperCase() : key.replace("Arrow", "").replace("Up", "↑").replace("Down", "↓").replace("Left", "←").replace("Right", "→");
      keys.append(kbd, " ");
    }
    row.insertCell().textContent = entry.text;
    row.insertCell().textContent = entry.where === "timeline" ? "timeline focused" : "";
  }
  return table;
}

export function openHelp() {
  const dialog = document.getElementById("help");
  const place = document.getElementById("help-keys");
  if (!place.firstChild) place.append(helpTable());
  dialog.showModal();
}

function wireCopy() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    const text = source?.value ?? source?.textContent ?? "";
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Press Ctrl+C"; source?.select ? source.select() : getSelection().selectAllChildren(source); }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

function wireDrop() {
  const drop = document.getElementById("drop");
  if (!drop) return;
  const input = document.getElementById("files");
  const chosen = document.getElementById("chosen");
  const show = () => { chosen.textContent = [...input.files].map((f) => `${f.name} (${(f.size / 1e6).toFixed(1)} MB)`).join(", ") || "No file chosen"; };
  input.addEventListener("change", show);
  for (const name of ["dragover", "dragenter"]) document.addEventListener(name, (e) => { e.preventDefault(); drop.classList.add("over"); });
  document.addEventListener("dragleave", (e) => { if (!e.relatedTarget) drop.classList.remove("over"); });
  document.addEventListener("drop", (e) => {
    e.preventDefault();
    drop.classList.remove("over");
    if (e.dataTransfer.files.length) { input.files = e.dataTransfer.files; show(); }
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "?") { event.preventDefault(); openHelp(); }
  if (event.key === "/") {
    const field = document.querySelector("#filter, [data-filter-key]");
    if (field) { event.preventDefault(); field.focus(); }
  }
});
document.getElementById("help-open").addEventListener("click", openHelp);
wireTheme();
wireCopy();
wireDrop();
