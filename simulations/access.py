"""Who may see what. A run, a cluster or an import belongs to whoever made it; a run may be shared by link, to look at.

The face asks here before it answers anything that names a run, a cluster or an import by its number; what one may not see is answered as
what is not there.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone

from simulations.models import Cluster, ImportJob, Run, ShareLink

OWNED: Final[dict[str, type[Any]]] = {"run_id": Run, "cluster_id": Cluster, "job_id": ImportJob}
"""The name of a number in an address, and what it numbers."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks: a user's id (None: nobody signed in), whether everything is theirs, and the links that they opened."""

    user: int | None = None
    everything: bool = False
    links: tuple[int, ...] = ()


EVERYBODY: Final = Viewer(everything=True)
"""The one viewer of embedded mode, and the command line."""


def visible(rows: QuerySet[Any], viewer: Viewer) -> QuerySet[Any]:
    """Those rows (of runs, clusters or imports) that are the viewer's own."""
    if viewer.everything:
        return rows
    return rows.filter(owner_id=viewer.user) if viewer.user is not None else rows.none()


def is_theirs(viewer: Viewer, name: str, number: int) -> bool:
    """Whether it is the viewer's to change; `name` is a key of `OWNED`. To who sees everything, what is missing is theirs too."""
    rows = OWNED[name]._default_manager.filter(pk=number)
    return visible(rows, viewer).exists() or (viewer.everything and not rows.exists())


def may_see_run(viewer: Viewer, run_id: int) -> bool:
    """Whether the viewer may look at the run: it is theirs, or a link that they opened shares it and is not revoked."""
    if viewer.everything or is_theirs(viewer, "run_id", run_id):
        return True
    return bool(viewer.links) and ShareLink.objects.filter(pk__in=viewer.links, run_id=run_id, revoked=None).exists()


# -- links ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link that shares a run: its number, when it was made, when it was revoked, how often it was opened."""

    id: int
    created: datetime
    revoked: datetime | None
    opened: int


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def share(run_id: int) -> str:
    """Make a link to look at a run; the secret part is returned once and stored only as a digest."""
    token = secrets.token_urlsafe(24)
    ShareLink.objects.create(run_id=run_id, digest=_digest(token))
    return token


def open_link(token: str) -> tuple[int, int] | None:
    """The number of the link and of the run that a secret opens; None: there is none, or it is revoked."""
    found = ShareLink.objects.filter(digest=_digest(token[:100]), revoked=None).first()
    if found is None:
        return None
    ShareLink.objects.filter(pk=found.pk).update(opened=found.opened + 1)
    return found.pk, found.run_id


def links_of(run_id: int) -> list[LinkRow]:
    """The links of a run, the newest first."""
    return [LinkRow(link.pk, link.created, link.revoked, link.opened) for link in ShareLink.objects.filter(run_id=run_id)]


def revoke(run_id: int, link_id: int) -> None:
    """End a link; whoever opened it sees the run no more."""
    ShareLink.objects.filter(pk=link_id, run_id=run_id, revoked=None).update(revoked=timezone.now())
