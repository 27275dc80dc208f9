// Filters as people type them: words, ns=web, node=node-1, state=running, !x for the opposite.
import { KINDS } from "./kinds.js";

export function parseFilter(text) {
  return text.trim().split(/\s+/).filter(Boolean).map((part) => {
    const negative = part.startsWith("!");
    const body = negative ? part.slice(1) : part;
    const match = /^(ns|node|state|pod)(!?=)(.*)$/.exec(body);
    if (!match) return { field: "any", value: body.toLowerCase(), negative };
    return { field: match[1], value: match[3].toLowerCase(), negative: negative !== (match[2] === "!=") };
  }).filter((term) => term.value !== "");
}

function holds(term, span) {
  const [namespace] = span.pod.split("/");
  switch (term.field) {
    case "ns": return namespace.toLowerCase() === term.value;
    case "node": return span.node.toLowerCase().includes(term.value);
    case "pod": return span.pod.toLowerCase().includes(term.value);
    case "state": return (KINDS[span.kind]?.word ?? span.kind).toLowerCase().includes(term.value);
    default: return span.pod.toLowerCase().includes(term.value) || span.node.toLowerCase().includes(term.value);
  }
}

export function matches(terms, span) {
  return terms.every((term) => holds(term, span) !== term.negative);
}
