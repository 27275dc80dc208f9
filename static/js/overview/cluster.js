// The overview of an imported cluster: one moment, no clock.
import { spanOf } from "../timeline/store.js";
import { ClusterOverview } from "./overview.js";

const place = document.getElementById("cluster-map");
let spans = [];
const overview = new ClusterOverview(document.getElementById("overview"), {
  spans: () => spans,
  now: () => 0,
  facts: async () => {
    const answer = await fetch(place.dataset.overview);
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.json();
    spans = found.spans.map(spanOf);
    return found;
  },
  onPod: (span) => { overview.chosen = span.pod; overview.draw(); },
  selectedPod: () => overview.chosen ?? "",
});
overview.load();
