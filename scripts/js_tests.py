"""Runs the JavaScript unit tests with the Node that the playwright package brings."""

import subprocess
import sys
from pathlib import Path

import playwright


def main() -> int:
    """Run every file of tests/js."""
    files = sorted(Path("tests/js").glob("*.test.mjs"))
    if not files:
        return 0
    node = Path(playwright.__file__).parent / "driver" / "node"
    return subprocess.run([str(node), "--test", *map(str, files)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
