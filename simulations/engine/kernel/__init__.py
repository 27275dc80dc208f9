"""Virtual time: clock, event loop, random streams, trace. Standard library only; knows no Kubernetes."""
