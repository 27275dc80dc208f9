"""The default plugins, one file or package each. `registry.py` is the only module that imports them."""
