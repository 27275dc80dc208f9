"""Kubernetes objects as the engine sees them: quantities, selectors, Pods, Nodes and what owns or protects them."""
