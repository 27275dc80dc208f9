"""Pure steps of the pipelines: values to values, no clock and no database."""
