"""What may be sent to a model on another machine; every caller of a model follows this rule."""

from enum import StrEnum
from ipaddress import IPv6Address, ip_address

from treering.core.scope import Visibility
from treering.core.secret_formats import MARK
from treering.core.secrets import scan
from treering.core.values import Record

WITHHELD_QUERY = "the query repeats private records and is not sent to a model on another machine"
_MARKS = ("flagged", "needs_review", "tainted")


class ModelLocation(StrEnum):
    """Location of a model."""

    HERE = "here"
    """In this process, or at a loopback address."""
    ELSEWHERE = "elsewhere"


def location_of(host: str) -> ModelLocation:
    """Location of the server at the host of a URL.

    Only loopback addresses and the name `localhost` are here. Other names depend on a name server, and other spellings
    of an address (2130706433, 0.0.0.0) on the system.
    """
    if host == "localhost":
        return ModelLocation.HERE
    try:
        address = ip_address(host)
    except ValueError:
        return ModelLocation.ELSEWHERE
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return ModelLocation.HERE if (mapped or address).is_loopback else ModelLocation.ELSEWHERE


def is_private(record: Record) -> bool:
    """Whether a record is personal, flagged, waits for review, or is tainted."""
    personal = getattr(record, "visibility", None) is Visibility.PERSONAL
    return personal or any(getattr(record, mark, False) for mark in _MARKS)


def may_leave(record: Record | None, location: ModelLocation) -> bool:
    """Whether a model at this location may read the record: elsewhere, none that is private or had a secret."""
    if location is ModelLocation.HERE or record is None:
        return True
    return not is_private(record) and MARK not in record.to_json()


def text_may_leave(text: str, location: ModelLocation) -> bool:
    """Whether a model at this location may read a text outside a record: elsewhere, none with a secret."""
    return location is ModelLocation.HERE or not (MARK in text or scan(text))
