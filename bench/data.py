"""The folder of public benchmark data, which is not part of the project."""

import os
from pathlib import Path

DATA = Path(os.environ.get("TREERING_BENCH_DATA") or Path(__file__).parents[2] / "shared" / "bench")


class DataMissing(Exception):
    """A data set is not on this machine, so the bench cannot run."""


def data_folder(name: str) -> Path:
    """The folder of a data set; `DataMissing` if it is not here."""
    folder = DATA / name
    if not folder.is_dir():
        raise DataMissing(f"no {name} in {DATA}; set TREERING_BENCH_DATA to the folder that holds it")
    return folder
