"""Reading what strangers send, safely; writing atomically.

Every function raises ValueError, in one sentence naming the file, for all it does not accept: a
missing or unreadable file, a folder, a malformed, hostile or oversized one. Pickles are never
loaded, and no size that a file merely declares is allocated before it was checked.

JSON and neighbours: strict_json.py. .npy, .npz: numpy_files.py. Lines of cells, as CSV: cells.py, csv_files.py. Labels:
labels.py. From any of them: arrays.py, tables.py. Writing: writing.py. What they share: common.py.
"""

from cvxml.core.files.arrays import PREFER, read_array, read_indices
from cvxml.core.files.cells import MAX_LINE_BYTES, NOTHING, SEPARATORS, Settled, settled
from cvxml.core.files.common import COLUMNS, MAX_BYTES, Path
from cvxml.core.files.labels import MAX_LABEL, integers
from cvxml.core.files.numpy_files import read_npz
from cvxml.core.files.strict_json import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_JSON_BYTES,
    parse_json,
    read_json,
    read_neighbors,
)
from cvxml.core.files.tables import Table, load_table, read_table
from cvxml.core.files.writing import check_writable, write_json, write_matrix, write_npz, write_text

__all__ = [
    "COLUMNS",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_JSON_BYTES",
    "MAX_LABEL",
    "MAX_LINE_BYTES",
    "NOTHING",
    "PREFER",
    "SEPARATORS",
    "Path",
    "Settled",
    "Table",
    "check_writable",
    "integers",
    "load_table",
    "parse_json",
    "read_array",
    "read_indices",
    "read_json",
    "read_neighbors",
    "read_npz",
    "read_table",
    "settled",
    "write_json",
    "write_matrix",
    "write_npz",
    "write_text",
]
