"""What is published: a wheel of the package alone, and an sdist whose tests pass beside an installed wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="built in a clone"),
]
pytest.importorskip("build", reason="the extra dev builds")

TESTS = (
    "tests/test_architecture.py",
    "tests/test_testing.py",
    "tests/cases",
    "tests/cli/test_cli.py",
    "tests/docs/test_docs.py",
    "tests/oracle/test_conform.py",
    "validation/cases/test_generate.py",
)


def run(*command: object, cwd: Path, path: Path | None = None) -> str:
    """What a command prints; it finds packages in `path` first."""
    env = os.environ | ({} if path is None else {"PYTHONPATH": str(path)})
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def files() -> set[str]:
    """Those of the clone that git does not ignore."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    return {name for name in listed if (ROOT / name).exists()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, unpacked, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    sdist.with_name(sdist.name.removesuffix(".tar.gz")).rename(folder / "sdist")
    return folder


def test_the_wheel_holds_the_package_alone(built: Path, files: set[str]) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == {
        name for name in files if name.startswith("cvxml/")
    }


def test_the_sdist_holds_all_that_the_clone_does(built: Path, files: set[str]) -> None:
    assert not {name for name in files if not (built / "sdist" / name).is_file()}


def test_tests_of_the_sdist_pass_beside_the_installed_wheel(built: Path) -> None:
    (wheel,), site = built.glob("*.whl"), built / "site"
    sdist = shutil.copytree(built / "sdist", built / "without the package")
    shutil.rmtree(sdist / "cvxml")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel, cwd=built)
    imported = run(sys.executable, "-c", "import cvxml; print(cvxml.__file__)", cwd=sdist, path=site)
    assert Path(imported.strip()).is_relative_to(site)
    run(sys.executable, "-m", "pytest", "-q", "-n", "0", *TESTS, cwd=sdist, path=site)
