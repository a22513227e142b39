"""What a server tells its user besides the protocol: warnings, on stderr, without secrets."""

import logging
import sys

from treering.core.secrets import redact


class _WithoutSecrets(logging.Formatter):
    """What goes wrong is told with the words of whoever raised it, and those may quote anything."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record)).text


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_WithoutSecrets("treering mcp: %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
