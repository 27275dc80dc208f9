"""The plugins of the descheduler, each to be read alone. Only the registry imports them."""
