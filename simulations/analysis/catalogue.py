"""All tables by name, in the order in which they are offered."""

from simulations.analysis.descheduler_table import DeschedulerDecisionsTable
from simulations.analysis.node_table import NodesTable
from simulations.analysis.tables import (
    AttemptsTable,
    EventsTable,
    ManifestTable,
    PodsTable,
    PreemptionsTable,
    SpansTable,
    Table,
)

TABLES: dict[str, type[Table]] = {
    table.NAME: table
    for table in (
        PreemptionsTable,
        PodsTable,
        AttemptsTable,
        EventsTable,
        NodesTable,
        SpansTable,
        DeschedulerDecisionsTable,
        ManifestTable,
    )
}
