"""Compiler-accurate edges from the `index.scip` of scip-python, scip-typescript, rust-analyzer or scip-go, verified.

`scip_pb2.py` and `scip_pb2.pyi` are generated from `scip.proto` by the oldest compiler whose output all supported
versions of `protobuf` (6.31.1 and later) load without a warning. Run in `src`, with `grpcio-tools==1.74.0` in a
separate environment:

    python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. treering/code/scip/scip.proto
"""

from treering.code.scip.edges import ScipRejection
from treering.code.scip.index import ScipEdges, check_scip, read_scip
from treering.code.scip.limits import ScipLimits

__all__ = ["ScipEdges", "ScipLimits", "ScipRejection", "check_scip", "read_scip"]
