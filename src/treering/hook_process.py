"""Start of the hook process, run as a script. It composes its own parts: `compose` costs ten times its budget."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_memory(*arguments: "Any") -> "Any":
    """See `adapters/sql/hook_reading.py: read_memory`, which is imported only if it is needed."""
    from treering.adapters.sql.hook_reading import read_memory

    return read_memory(*arguments)


if __name__ == "__main__":
    try:
        # The folder that contains the package: `-I` and `-S` leave it out.
        sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        from treering.interfaces.hooks.process import run

        run(sys.argv[1:], read_memory)
    finally:
        # Exit code 0 whatever happened, since agents take others for a refusal; and without the time of a shutdown.
        os._exit(0)
