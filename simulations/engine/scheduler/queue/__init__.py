"""The scheduling queue: activeQ, backoffQ, unschedulable and gated Pods, and the events that move Pods between them."""
