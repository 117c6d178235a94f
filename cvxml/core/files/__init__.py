"""Read files of unknown origin safely, and write files atomically.

Every function raises ValueError, in one sentence that names the file, for everything that it does not accept: a missing
or unreadable file, a folder, a malformed, hostile or too large file. Pickles are never loaded. A size that a file
declares is checked before memory is allocated for it.

| JSON and neighbours              | strict_json.py         |
| .npy, .npz                       | numpy_files.py         |
| lines of cells, such as CSV      | cells.py, csv_files.py |
| labels                           | labels.py              |
| arrays and tables of all formats | arrays.py, tables.py   |
| writing                          | writing.py             |
| shared parts                     | common.py              |
"""

from cvxml.core.files.arrays import COMPONENTS, METRIC, POINTS, PREFER, read_array, read_indices
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
    "COMPONENTS",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_JSON_BYTES",
    "MAX_LABEL",
    "MAX_LINE_BYTES",
    "METRIC",
    "NOTHING",
    "POINTS",
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
