"""Run ``python -m probative``."""

import sys


def _main() -> int:
    try:
        from probative.cli import main

        return main()
    except KeyboardInterrupt:  # while the modules are imported
        return 130


if __name__ == "__main__":
    sys.exit(_main())
