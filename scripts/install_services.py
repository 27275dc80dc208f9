"""Sees to it that PostgreSQL and Chromium are there for the tests: installs them on Debian as root, else says what to install."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def postgres_folder() -> Path | None:
    """The folder of initdb, on PATH or where Debian puts it."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]) if p.parts[-3].isdigit() else 0
    )
    return versions[-1].parent if versions else None


def chromium() -> str | None:
    """A Chromium or Chrome program."""
    return next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)


def main() -> int:
    """Install what is missing; 1 where that cannot be done."""
    missing = []
    if postgres_folder() is None:
        missing.append("postgresql")
    if chromium() is None:
        missing.append("chromium")
    if not missing:
        return 0
    if not shutil.which("apt-get") or os.geteuid() != 0:
        print(f"please install {' and '.join(missing)} (on Debian, as root: apt-get install {' '.join(missing)})")
        return 1
    packages = [*missing, *(["fonts-dejavu-core"] if "chromium" in missing else [])]
    print(f"installing {', '.join(packages)} with apt-get")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]):
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-2000:], sep="\n")
            return 1
    return 0 if postgres_folder() and chromium() else 1


if __name__ == "__main__":
    sys.exit(main())
