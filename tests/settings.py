"""The settings under tests: a data folder of its own for each test process, so that nothing of the user's is touched."""

import os
import tempfile

os.environ["SCHEDSCOPE_DATA"] = tempfile.mkdtemp(prefix="ss-test-")
for name in ("REDIS_URL", "SCHEDSCOPE_DATABASE", "SCHEDSCOPE_MODE"):
    os.environ.pop(name, None)

from dashboard.settings import *  # noqa: E402, F403  # the folder is set first
