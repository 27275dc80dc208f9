"""What plugins of the descheduler are built on: what they see, how they list and sort pods, how they evict."""
