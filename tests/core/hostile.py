"""Hostile files of every kind, and saved solutions with hostile content, for tests/core/test_hostile_files.py."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.cli.commands import as_json, solved
from tests.core.test_files import npy_bytes, put, put_npz
from tests.core.test_files_numpy import LIES, Marker, npy_header


def gz(content: bytes, times: int) -> bytes:
    return gzip.compress(content) * times  # members of gzip are read one after the other


def zipped(size: int, header: bytes, mebibytes: int) -> bytes:
    """An .npz whose only member X declares `size` bytes and unpacks to `header` and then MiB of zeros."""
    crc = (
        zlib.crc32(header + bytes(mebibytes * 2**20)) if mebibytes < 64 else 0
    )  # nobody gets to the end of more
    packer = zlib.compressobj(wbits=-15)
    first = packer.compress(header) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = (
        first + (packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)) * mebibytes + b"\x03\x00"
    )
    fixed = struct.pack("<HHHHHIII", 20, 0, 8, 0, 33, crc, len(packed), size)
    local = b"PK\x03\x04" + fixed + struct.pack("<HH", 5, 0) + b"X.npy" + packed
    central = (
        b"PK\x01\x02"
        + struct.pack("<H", 20)
        + fixed
        + struct.pack("<HHHHHII", 5, 0, 0, 0, 0, 0, 0)
        + b"X.npy"
    )
    return local + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def bomb(mebibytes: int) -> bytes:
    header = npy_header((mebibytes * 2**17, 1))
    return zipped(len(header) + mebibytes * 2**20, header, mebibytes)


def everywhere(value: str) -> str:
    return (
        f'{{"format": "cvxml-solution", "version": 1, "method": "mlsvm", "params": {{}}, "dual": {{}}, '
        f'"X": [[{value}]], "y": [{value}], "metric": [[{value}]], "neighbors": [[{value}]]}}'
    )


def contents(marker: Marker) -> dict[str, bytes | str]:
    pickled, objects = (
        pickle.dumps(marker),
        npy_bytes(np.array([marker, None], dtype=object), allow_pickle=True),
    )
    return {
        **{f"pickle.{kind}": pickled for kind in ("npy", "npz", "json", "csv", "csv.gz", "pkl")},
        "objects.npy": objects,
        **{f"lie {lie}.npy".replace(" ", "-"): content for lie, content in LIES.items()},
        "10^12.npy": npy_header((10**12,)) + bytes(64),
        "fortran.npy": npy_header((3, 3)).replace(b"False", b"True ") + b"\xff" * 72,
        "bomb.npz": bomb(3 * 2**10),
        "memory.npz": bomb(3 * 2**9),
        "zeros.npz": bomb(8),
        "lie.npz": zipped(len(npy_header((3, 3))) + 72, npy_header((3, 3)), 2**11),
        "line.csv.gz": gz(bytes(2**24), 256),
        "blank.csv.gz": gz(b"\n" * 2**24, 256),
        "memory.csv.gz": gz(("0,\U0001f600" + "l" * 990 + "\n").encode() * 2**14, 128),  # four bytes a letter
        "padded.csv": b"0," + b"l" * 1000 + b"\n0,0" * 6 * 10**5,
        "digits.csv": "1" * 10**5 + ",0\n1,1\n",
        "deep.json": "[" * 10**5,
        "deep-closed.json": "[" * 10**5 + "]" * 10**5,
        "dicts.json": '{"X":' * 10**5 + "0" + "}" * 10**5,
        **{f"is{v}.json": everywhere(v) for v in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e18")},
        "digits.json": everywhere("1" * 10**5),
        "twice.json": everywhere("0").replace("{", '{"X": [[0]], "neighbors": [], "metric": [[0]], '),
        "utf8.json": b'{"\xff": 0}',
        "utf8.csv": b"a,\xff\n0,0\n",
        "null.csv": b"a,b\n\0,\0\n",
        "quote.csv": b'"' + b"\n" * 10**6,
        "cut.json": '{"X": [[0, 1], [2',
        "cut.npy": npy_bytes(np.eye(3))[:-1],
        "cut.csv.gz": gzip.compress(b"0,0\n1,1\n")[:-9],
        "cut.npz": bomb(1)[:-30],
        **{f"empty.{kind}": b"" for kind in ("json", "npy", "npz", "csv", "csv.gz")},
    }


def build(folder: Path) -> list[str]:
    marker = Marker(folder / "loaded")
    files = contents(marker)
    for name, content in files.items():
        put(folder / name, content)
    objects = files["objects.npy"]
    assert isinstance(objects, bytes)
    put_npz(folder / "objects.npz", **dict.fromkeys(("X", "y", "metric", "header", "neighbors"), objects))
    for name, size in (("sparse.npy", 10 * 2**30), ("memory.npy", 3 * 2**29), ("sparse.json", 10 * 2**30),
                       ("memory.json", 2**28), ("sparse.csv", 10 * 2**30)):  # fmt: skip
        header = npy_header(((size - 128) // 8,)) if name.endswith("npy") else b""
        put(folder / name, header)
        os.truncate(folder / name, len(header) + (size - 128) // 8 * 8)
    others = [
        "folder.npy",
        "folder.json",
        "fifo.npy",
        "fifo.json",
        "zero.npy",
        "zero.json",
        "zero.csv",
        "loop.json",
    ]
    for name in others:
        if name.startswith("folder"):
            (folder / name).mkdir()
        elif name.startswith("fifo"):
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to("/dev/zero" if name.startswith("zero") else name)
    return [
        *files,
        "objects.npz",
        "sparse.npy",
        "memory.npy",
        "sparse.json",
        "memory.json",
        "sparse.csv",
        *others,
    ]


def solution(**over: str) -> str:
    """The text of a saved solution, some of whose fields are texts of JSON."""
    fields = {"format": '"cvxml-solution"', "version": "1", "method": '"mlsvm"', "params": "{}", "dual": "{}",
              "X": "[[0.0],[1.0]]", "y": "[0,1]", "metric": "[[1.0]]", "neighbors": "[[],[]]"}  # fmt: skip
    return "{" + ",".join(f'"{name}":{value}' for name, value in {**fields, **over}.items()) + "}"


def case(X: str = "[[0.0],[1.0]]", y: str = "[0,1]") -> str:
    """The text of a golden case."""
    return (
        '{"format":"cvxml-case","version":1,"id":"a","kind":"problem","formula":"mlsvm","title":"","flags":[],'
        f'"asks":{{}},"inputs":{{"X":{X},"y":{y}}}}}'
    )


def repeated(item: str, size: int, last: str = "") -> str:
    """A list of JSON of about so many bytes: one item again and again, and then another."""
    return f"[{','.join([item] * (size // (len(item) + 1)) + ([last] if last else []))}]"


def written(size: int) -> dict[str, bytes | str]:
    """Files of at most about `size` bytes that would take far more memory, by name."""
    texts = repeated('""', 3000, f'"{"a" * size}"')
    numbers = repeated("0", 2000, f'"{"a" * size}"')
    labels = repeated('"b"', size, f'"{"a" * 999}"')
    count = labels.count(",") + 1
    lists = {name: repeated(item, size) for name, item in {
        "empty": "[]", "one": "[0]", "deep": "[[]]", "objects": "{}", "keyed": '{"":0}', "words": '"ab"', "ints": "0",
        "wide": "999"}.items()}  # fmt: skip
    lists["letters"] = f'["\U0001f600",{repeated("[0]", size)[1:]}'
    keys = ",".join(f'"{k:x}":0' for k in range(size // 8))
    lists["keys"] = f"{{{keys}}}"
    return {
        **{f"list-{name}.json": value for name, value in lists.items()},
        "metric-texts.json": f"[{texts}]",
        "metric-mixed.json": f"[{numbers}]",
        "data-labels.json": f'{{"X":[{",".join(["[1]"] * count)}],"y":{labels}}}',
        "case-X.json": case(X=f"[{texts}]"),
        "case-mixed.json": case(X=f"[{numbers}]"),
        "case-y.json": case(y=texts),
        "case-columns.json": case(y=f"[{texts}]"),
        "s-y.json": solution(y=texts),
        "s-X.json": solution(X=f"[{numbers}]"),
        "s-metric.json": solution(metric=f"[{texts}]"),
        "s-dual.json": solution(dual=f'{{"u":{texts}}}'),
        "s-neighbors.json": solution(neighbors=texts),
        "s-targets.json": solution(method='"lmnn"', neighbors="[]", params=f'{{"targets":[{texts}]}}'),
        "s-chunklets.json": solution(method='"rca"', neighbors="[]", params=f'{{"chunklets":{texts}}}'),
        "quoted.csv": b"0,0\n" + b'"\n",' * (size // 4),
        "columns.csv": b"0," * (size // 2) + b"0\n",
        "wide.csv": b"ab," * (size // 3) + b"ab\n",
        "pairs.csv": b"0,0\n" * (size // 4),
        "rows.csv": b"0\n" * (size // 2),
        "texts.csv": "".join(f"{k * 7919 % 46656:03x},{k % 7}\n" for k in range(size // 6)),
    }


def packed(mebibytes: int) -> dict[str, bytes | str]:
    """Compressed files that unpack to so much, by name."""
    rows, long = b"0,0\n" * 2**18, b"0," + b"l" * 900 + b"\n"
    zeros = np.zeros((mebibytes * 2**20, 1), dtype=np.int8)
    few, saved = np.zeros((3, 1)), np.array(solution().replace('"neighbors":[[],[]]', '"more":0'))
    arrays: dict[str, dict[str, Any]] = {
        "y": {"X": few, "y": zeros[:, 0]},
        "X": {"X": zeros, "y": few[:, 0]},
        "both": {"X": zeros, "y": zeros[:, 0]},
        "metric": {"metric": zeros},
        "s-counts": {"X": zeros, "y": zeros[:, 0], "metric": few[:1], "neighbors": NONE, "header": saved,
                     "neighbor_counts": zeros[:, 0]},
    }  # fmt: skip
    return {
        **saved_arrays(arrays, np.savez_compressed),
        "rows.csv.gz": gz(rows, mebibytes),
        "quoted.csv.gz": gz(b'"\n",' * 2**18, mebibytes),
        "padded.csv.gz": gz(long, 1) + gz(b"0,l\n" * 2**18, mebibytes),
    }


def saved_arrays(arrays: dict[str, dict[str, Any]], save: Callable[..., None]) -> dict[str, bytes | str]:
    """A file of numpy for each entry of `arrays`."""
    files: dict[str, bytes | str] = {}
    for name, held in arrays.items():
        stream = io.BytesIO()
        save(stream, **held)
        files[f"{name}.npz"] = stream.getvalue()
    return files


def stored(size: int) -> dict[str, bytes | str]:
    """Files of numpy with numbers of one byte, not compressed."""
    bytes_of = {
        name: np.zeros(size // parts, dtype=np.int8)
        for name, parts in (("two", 2), ("three", 3), ("five", 5))
    }
    two, three, five = bytes_of.values()
    arrays: dict[str, dict[str, Any]] = {
        "stored": {"X": two[:, None], "y": two},
        "stored-texts": {"X": five[:, None], "y": np.array(["a", "b"] * (len(five) // 2 + 1))[: len(five)]},
        "s-stored": {"X": three[:, None], "y": three, "metric": np.eye(1), "neighbors": NONE,
                     "neighbor_counts": three, "header": np.array(solution())},
    }  # fmt: skip
    return saved_arrays(arrays, np.savez)


def nested(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


Change = Callable[[dict[str, Any]], object]
JSON_LIES: dict[str, Change] = {
    "dual-empty": lambda c: c.update(dual={}),
    "dual-wide": lambda c: c["dual"].update(u=[[0.0] * 10**5]),
    "dual-dict": lambda c: c["dual"].update(u={"0": 1.0}),
    "dual-deep": lambda c: c["dual"].update(u=nested(60)),
    "dual-index": lambda c: c["dual"].update(u_index=[[10**18, 10**18]] * len(c["dual"]["u"])),
    "neighbors-huge": lambda c: c["neighbors"][0].append(10**18),
    "neighbors-digits": lambda c: c["neighbors"][0].append(10**4000),
    "neighbors-deep": lambda c: c["neighbors"][0].append(nested(50)),
    "method-slash": lambda c: c.update(method="../../../../etc/passwd"),
    "method-module": lambda c: c.update(method="mlsvm.method"),
    "method-lines": lambda c: c.update(method="mlsvm\n\x1b[2Jcvxml\r\n"),
    "method-long": lambda c: c.update(method="m" * 10**6),
    "params-name": lambda c: c["params"].update({"p" * 10**6: 1}),
    "params-deep": lambda c: c["params"].update(lam="DEEP"),
    "params-nested": lambda c: c["params"].update(lam=nested(50)),
    "params-pairs": lambda c: c.update(params=[["lam", 1]] * 10**5),
    "params-text": lambda c: c["params"].update(lam="1" * 10**6),
    "X-empty": lambda c: c.update(X=[[]] * 14),
    "X-text": lambda c: c.update(X=[["1" * 1000] * 3] * 14),
    "y-huge": lambda c: c.update(y=[10**18] * 14),
    "version-text": lambda c: c.update(version="1" * 10**6),
}
NONE, MANY = np.zeros(0, dtype=int), np.zeros(10**7, dtype=np.int8)
NPZ_LIES: dict[str, Change] = {
    "counts-negative": lambda c: c.update(
        neighbor_counts=np.array([-(10**6), len(c["neighbors"]) + 10**6] + [0] * 12)
    ),
    "counts-wrap": lambda c: c.update(neighbor_counts=np.array([2**62] * 4 + [0] * 10), neighbors=NONE),
    "counts-flat": lambda c: c.update(neighbor_counts=c["neighbor_counts"][None]),
    "counts-float": lambda c: c.update(neighbor_counts=c["neighbor_counts"] + 0.0),
    "counts-text": lambda c: c.update(neighbor_counts=c["neighbor_counts"].astype(str)),
    "counts-scalar": lambda c: c.update(neighbor_counts=np.array(28)),
    "counts-many": lambda c: c.update(neighbor_counts=MANY, neighbors=NONE),
    "memory-points": lambda c: c.update(neighbor_counts=MANY, neighbors=NONE, X=MANY[:, None], y=MANY),
    "neighbors-many": lambda c: c.update(neighbors=MANY, neighbor_counts=np.array([10**7] + [0] * 13)),
    "neighbors-huge": lambda c: c["neighbors"].put(0, 10**18),
    "neighbors-table": lambda c: c.update(neighbors=np.zeros((28, 3), dtype=int)),
    "neighbors-text": lambda c: c.update(neighbors=c["neighbors"].astype(str)),
    "dual-wide": lambda c: c.update(dual_u=np.zeros((0, 10**12))),
    "dual-sides": lambda c: c.update(dual_u=np.zeros((1,) * 32)),
    "dual-text": lambda c: c.update(dual_u=np.array("u" * 10**6)),
    "dual-complex": lambda c: c.update(dual_u=c["dual_u"] + 0j),
    "X-complex": lambda c: c.update(X=c["X"] + 1j),
    "X-wide": lambda c: c.update(X=np.zeros((0, 10**12))),
    "memory-X": lambda c: c.update(X=np.zeros(10**8, dtype=np.int8)),
    "metric-complex": lambda c: c.update(metric=c["metric"] + 1j),
    "header-number": lambda c: c.update(header=np.zeros(10**6)),
    "header-deep": lambda c: c.update(header=np.array("[" * 10**5)),
    "header-missing": lambda c: c.pop("header"),
    **{
        f"header-{name}": lambda c, lam=lam: c.update(  # type: ignore[misc]
            header=np.array(str(c["header"]).replace('"lam": ', f'"lam": {lam}, "x": '))
        )
        for name, lam in {
            "nested": nested(900),
            "NaN": "NaN",
            "twice": '1, "lam": 1',
            "digits": "1" * 10**5,
        }.items()
    },
}
# a start's data, lists and method are not looked at, so it may be taken; that the data are complex is seen in any case
TAKEN = ("neighbors-", "method-", "params-", "X-empty", "X-wide", "y-huge", "header-NaN")


def save_lies(folder: Path) -> list[str]:
    solved("mlsvm").save(folder / "good-s.json")
    solved("mlsvm").save(folder / "good-s.npz")
    for name, change in JSON_LIES.items():
        content = as_json(solved("mlsvm").to_dict())
        change(content)
        (folder / f"s-{name}.json").write_text(json.dumps(content).replace('"DEEP"', "[" * 1000 + "]" * 1000))
    for name, change in NPZ_LIES.items():
        with np.load(folder / "good-s.npz") as held:
            arrays = dict(held)
        change(arrays)
        np.savez_compressed(folder / f"s-{name}.npz", **arrays)
    return [f"s-{n}.json" for n in JSON_LIES] + [f"s-{n}.npz" for n in NPZ_LIES]
