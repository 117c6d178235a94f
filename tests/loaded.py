"""Files that are no modules of a package, imported as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def module_of(path: Path, name: str) -> ModuleType:
    """Run the file as a new module with this name. It is not stored in `sys.modules`."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
