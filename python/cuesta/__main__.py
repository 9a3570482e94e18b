"""`python -m cuesta` is the command `cuesta`."""

import sys

from cuesta.cli import main

if __name__ == "__main__":
    sys.exit(main())
