"""kube-scheduler: its queues, framework, plugins and preemption, with node state in columns."""
