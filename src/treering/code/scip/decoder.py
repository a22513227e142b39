"""Decoding of SCIP documents, one at a time and within limits."""

from google.protobuf.message import DecodeError

from treering.code.scip.limits import ScipLimits
from treering.code.scip.scip_pb2 import Document, Index
from treering.core.errors import InvalidInput

_AGAIN = "make it again with the indexer"


def opened(data: bytes, limits: ScipLimits) -> Index:
    """Return the index with its documents still encoded; raise `InvalidInput` if it is invalid or too large."""
    if len(data) > limits.index_bytes:
        raise InvalidInput(
            f"the SCIP index has {len(data):,} bytes, more than {limits.index_bytes:,}; index fewer packages"
        )
    index = Index()
    try:
        index.ParseFromString(data)
    except DecodeError as exc:
        raise InvalidInput(f"the SCIP index is damaged, or is something else; {_AGAIN}") from exc
    if not index.HasField("metadata"):
        raise InvalidInput("this is not a SCIP index: it does not say who made it; give the index.scip of an indexer")
    return index


def decoded(packed: bytes, place: int) -> Document:
    document = Document()
    try:
        document.ParseFromString(packed)
    except DecodeError as exc:
        raise InvalidInput(f"document {place + 1} of the SCIP index is damaged; {_AGAIN}") from exc
    return document
