"""Preemption: who would have to go (evaluator, candidates, victims), and making them go (executor)."""
