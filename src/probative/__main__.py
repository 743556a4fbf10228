"""``python -m probative``."""

import sys

from probative.cli import main

if __name__ == "__main__":
    sys.exit(main())
