"""Decoding of SCIP documents, one at a time and within limits."""

from google.protobuf.message import DecodeError

from treering.code.scip.limits import ScipLimits
from treering.code.scip.scip_pb2 import Document, Index
from treering.core.errors import InvalidInput

_REBUILD = "rebuild it with the indexer"


def open_index(data: bytes, limits: ScipLimits) -> Index:
    """Return the index with its documents still encoded; raise `InvalidInput` if it is invalid or too large."""
    if len(data) > limits.index_bytes:
        raise InvalidInput(
            f"the SCIP index has {len(data):,} bytes, more than {limits.index_bytes:,}; index fewer packages"
        )
    index = Index()
    try:
        index.ParseFromString(data)
    except DecodeError as exc:
        raise InvalidInput(f"the file is damaged or is not a SCIP index; {_REBUILD}") from exc
    if not index.HasField("metadata"):
        raise InvalidInput("the file is not a SCIP index: it has no metadata; pass the index.scip of an indexer")
    return index


def decode_document(packed: bytes, place: int) -> Document:
    document = Document()
    try:
        document.ParseFromString(packed)
    except DecodeError as exc:
        raise InvalidInput(f"document {place + 1} of the SCIP index is damaged; {_REBUILD}") from exc
    return document
