// The one table of keys: handlers, the help dialog and the docs are made from it.
export const KEYS = [
  { keys: ["w"], action: "zoom-in", text: "Zoom in", where: "timeline" },
  { keys: ["s"], action: "zoom-out", text: "Zoom out", where: "timeline" },
  { keys: ["a"], action: "pan-left", text: "Pan left", where: "timeline" },
  { keys: ["d"], action: "pan-right", text: "Pan right", where: "timeline" },
  { keys: ["."], action: "next-span", text: "Next span on the lane", where: "timeline" },
  { keys: [","], action: "previous-span", text: "Previous span on the lane", where: "timeline" },
  { keys: ["ArrowDown", "ArrowUp"], action: "lane", text: "Next, previous lane", where: "timeline" },
  { keys: ["ArrowRight", "ArrowLeft"], action: "span", text: "Next, previous span", where: "timeline" },
  { keys: ["]"], action: "to-effect", text: "Along the arrow to the effect", where: "timeline" },
  { keys: ["["], action: "to-cause", text: "Along the arrow to the cause", where: "timeline" },
  { keys: ["f"], action: "fit", text: "Fit the selection, or everything", where: "timeline" },
  { keys: ["m"], action: "mark", text: "Mark the selection on the axis", where: "timeline" },
  { keys: [" "], action: "play", text: "Play or pause", where: "timeline", label: "Space" },
  { keys: ["Shift+ArrowRight"], action: "step", text: "Step one event", where: "timeline", label: "Shift+→" },
  { keys: ["Enter"], action: "why", text: "Open why", where: "timeline" },
  { keys: ["Escape"], action: "escape", text: "Close, clear", where: "page", label: "Esc" },
  { keys: ["/"], action: "filter", text: "Filter: name, ns=web, node=node-1, !x", where: "page" },
  { keys: ["?"], action: "help", text: "This list", where: "page" },
];

export function keyName(event) {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return event.shiftKey && event.key.length > 1 ? `Shift+${name}` : name;
}

export function actionOf(event, where) {
  const name = keyName(event);
  const found = KEYS.find((entry) => entry.keys.includes(name) && (entry.where === where || entry.where === "page"));
  return found ? found.action : null;
}

export function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
