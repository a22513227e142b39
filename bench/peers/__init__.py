"""Other memory libraries on our retrieval sets: `python -m bench.peers`, or `rows()` of `bench.peers.__main__`.

Each peer runs in a virtual environment of its own, so nothing is imported here.
"""
