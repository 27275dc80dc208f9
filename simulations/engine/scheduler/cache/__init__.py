"""What the scheduler knows: Nodes, the Pods on them, nominations; as objects per Node and as columns over all Nodes."""
