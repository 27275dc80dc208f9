"""Nominations as the scheduler knows them: which Pod hopes for which Node.

Source: pkg/scheduler/backend/queue/nominator.go, v1.36
"""

from simulations.engine.api.pod import Pod


class Nominator:
    """Nominated Pods by Node, each Pod at most once, in order of nomination."""

    def __init__(self) -> None:
        self._by_node: dict[str, list[Pod]] = {}
        self._node_of: dict[str, str] = {}
        self.clock = 0
        """Counts changes."""
        self._changed: dict[str, int] = {}

    def add(self, pod: Pod, node_name: str) -> None:
        """Nominate the Pod for the Node, in place of an earlier nomination."""
        self.delete(pod.uid)
        self._node_of[pod.uid] = node_name
        self._by_node.setdefault(node_name, []).append(pod)
        self._touch(node_name)

    def delete(self, uid: str) -> str:
        """Forget the Pod's nomination; return the Node that it was for, or an empty text."""
        node_name = self._node_of.pop(uid, "")
        if node_name:
            self._touch(node_name)
            kept = [p for p in self._by_node[node_name] if p.uid != uid]
            if kept:
                self._by_node[node_name] = kept
            else:
                del self._by_node[node_name]
        return node_name

    def update(self, pod: Pod) -> None:
        """Put a newer object in place of a nominated Pod's older one."""
        node_name = self._node_of.get(pod.uid)
        if node_name:
            self._by_node[node_name] = [pod if p.uid == pod.uid else p for p in self._by_node[node_name]]
            self._touch(node_name)

    @property
    def empty(self) -> bool:
        """Whether no Pod is nominated."""
        return not self._by_node

    def node_of(self, uid: str) -> str:
        """The Node that the Pod is nominated for, or an empty text."""
        return self._node_of.get(uid, "")

    def pods_on(self, node_name: str) -> list[Pod]:
        """The Pods that are nominated for the Node."""
        return self._by_node.get(node_name, [])

    def nodes(self) -> list[str]:
        """The Nodes with nominated Pods, in order of their first nomination."""
        return list(self._by_node)

    def changed_since(self, clock: int) -> list[str]:
        """The Nodes whose nominations changed after this clock, the last first."""
        found = []
        for name in reversed(self._changed):
            if self._changed[name] <= clock:
                break
            found.append(name)
        return found

    def _touch(self, node_name: str) -> None:
        self.clock += 1
        self._changed.pop(node_name, None)
        self._changed[node_name] = self.clock
