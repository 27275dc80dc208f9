"""A SQLite file for the tests that need the database; threads do not see Django's in-memory default."""

import os
import tempfile

os.environ.setdefault("SCHEDSCOPE_DATA", tempfile.mkdtemp(prefix="ss-unit-"))
os.environ.pop("REDIS_URL", None)
