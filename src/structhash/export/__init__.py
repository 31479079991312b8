"""Models as files that encode without structhash: ONNX, NumPy, JSON for JavaScript, and SQL.

`export_model` turns a model into steps; `write_export` writes them in a format.
"""

from structhash.export.model import Exported, export_model
from structhash.export.writing import ENCODERS, FORMATS, write_export

__all__ = ["ENCODERS", "FORMATS", "Exported", "export_model", "write_export"]
