"""The descheduler: a policy's profiles and plugins, which choose pods to evict so that the scheduler can place them anew."""
