"""Controllers and kubelets: actors that see the cluster only through watches and calls."""
