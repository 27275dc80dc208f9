"""Folds over a trace: spans, explanations, tables, summaries. Pure; they read records and nothing else."""
