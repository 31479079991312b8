"""Steps as an ONNX graph."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from structhash._numerics.optional import not_installed
from structhash.export.model import Exported

__all__ = ["onnx_bytes"]

_OPSET, _IR_VERSION = 17, 8  # of 2022: older runtimes refuse newer ones
_NAMES = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "minimum": "Min",
    "maximum": "Max",
    "power": "Pow",
    "matmul": "MatMul",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "abs": "Abs",
}  # steps that are one node


def onnx_bytes(exported: Exported) -> bytes:
    """An ONNX model, with the facts about the model as metadata.

    Input ``X`` is float32 (n, n_features). Outputs are ``codes`` and ``query_codes``, uint8 (n, n_bytes) in
    little bit order, and ``values`` and ``query_values``, float32 (n, n_bits). It computes in float64.

    Raises
    ------
    ImportError
        If onnx is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise not_installed("onnx", "the format onnx", "onnx", error) from error
    about, graph = exported.about, _Graph(onnx.helper)
    graph.add("Cast", "x64", "X", to=onnx.TensorProto.DOUBLE)
    for name, array in exported.arrays.items():
        graph.constant(name, array)
    done: set[str] = set()
    for steps in about["steps"].values():
        for operation, name, *inputs in steps:
            if name not in done:
                done.add(name)
                graph.step(operation, name, ["x64" if each == "X" else each for each in inputs])
    outputs = [
        graph.coded(steps[-1][1], about["n_bits"], *names)
        for steps, names in zip(
            about["steps"].values(), (("values", "codes"), ("query_values", "query_codes")), strict=True
        )
    ]
    info, types = onnx.helper.make_tensor_value_info, onnx.TensorProto
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "structhash",
            [info("X", types.FLOAT, ["n", about["n_features"]])],
            [info(name, kind, ["n", width]) for each in outputs for name, kind, width in each],
            graph.constants,
        ),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="structhash",
    )
    facts = {name: value for name, value in about.items() if name != "steps"}
    onnx.helper.set_model_props(
        model, {name: value if isinstance(value, str) else json.dumps(value) for name, value in facts.items()}
    )
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


class _Graph:
    """Nodes and constants of a graph that is being made."""

    def __init__(self, helper: Any) -> None:
        self.helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, result: str, *inputs: str, **settings: Any) -> str:
        """Add a node, and return the name of its result."""
        self.nodes.append(self.helper.make_node(kind, list(inputs), [result], **settings))
        return result

    def constant(self, name: str, array: Any) -> str:
        """Add a constant; float32 becomes float64 where the graph runs."""
        from onnx import TensorProto, numpy_helper

        if array.dtype == np.float32:
            self.constants.append(numpy_helper.from_array(array, f"{name}_32"))
            return self.add("Cast", name, f"{name}_32", to=TensorProto.DOUBLE)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def whole(self, name: str, numbers: Any) -> str:
        """Add a constant of whole numbers."""
        return self.constant(name, np.asarray(numbers, np.int64))

    def step(self, operation: str, name: str, inputs: list[str]) -> None:
        """Add the nodes of a step of `structhash._numerics.program`."""
        from onnx import TensorProto

        if operation in _NAMES:
            self.add(_NAMES[operation], name, *inputs)
        elif operation == "greater":
            self.add("Cast", name, self.add("Greater", f"{name}_is", *inputs), to=TensorProto.DOUBLE)
        elif operation == "row_sum":
            self.add("ReduceSum", name, *inputs, self.whole(f"{name}_axes", [1]), keepdims=1)
        elif operation == "row_max":
            self.add("ReduceMax", name, *inputs, axes=[1], keepdims=1)
        elif operation == "columns":
            places = self.add("Cast", f"{name}_places", inputs[1], to=TensorProto.INT64)
            self.add("Gather", name, inputs[0], places, axis=1)
        elif operation == "concatenate":
            self.add("Concat", name, *inputs, axis=1)
        else:
            self._kth_largest(name, *inputs)

    def coded(self, source: str, n_bits: int, values: str, codes: str) -> list[tuple[str, int, int]]:
        """Add the outputs of one side; return the name, the type and the width of each."""
        from onnx import TensorProto

        n_bytes = -(-n_bits // 8)
        kept = self.add(
            "Gather", f"{values}_kept", source, self.whole(f"{values}_bits", np.arange(n_bits)), axis=1
        )
        self.add("Cast", values, kept, to=TensorProto.FLOAT)
        zero = self.constant(f"{values}_zero", np.zeros(1))
        bits = self.add(
            "Cast", f"{values}_01", self.add("Greater", f"{values}_is", kept, zero), to=TensorProto.DOUBLE
        )
        places = np.zeros((n_bits, n_bytes))
        places[np.arange(n_bits), np.arange(n_bits) // 8] = 2.0 ** (np.arange(n_bits) % 8)
        numbers = self.add("MatMul", f"{codes}_numbers", bits, self.constant(f"{codes}_places", places))
        self.add("Cast", codes, numbers, to=TensorProto.UINT8)
        return [(values, TensorProto.FLOAT, n_bits), (codes, TensorProto.UINT8, n_bytes)]

    def _kth_largest(self, name: str, value: str, k: str) -> None:
        from onnx import TensorProto

        count = self.add("Cast", f"{name}_k", k, to=TensorProto.INT64)
        one = self.whole(f"{name}_1", [1])
        count = self.add("Reshape", f"{name}_k1", count, one)
        self.nodes.append(self.helper.make_node("TopK", [value, count], [f"{name}_top", f"{name}_at"], axis=1))
        last = self.whole(f"{name}_last", [-1])
        self.add("Gather", name, f"{name}_top", last, axis=1)
