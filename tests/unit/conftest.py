"""A SQLite file for the tests that need the database; threads do not see Django's in-memory default."""

import os
import tempfile

os.environ["SCHEDSCOPE_DATA"] = tempfile.mkdtemp(prefix="ss-unit-")
for name in ("REDIS_URL", "SCHEDSCOPE_DATABASE", "SCHEDSCOPE_MODE"):
    os.environ.pop(name, None)
