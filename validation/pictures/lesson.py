"""The picture of docs/lessons.md: a lesson as it stands in the browser. Writes docs/_static/lesson.png.

python validation/pictures/lesson.py        (needs playwright and an installed Chromium; half a minute)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parents[2] / "docs" / "_static" / "lesson.png"
LESSON = "mlsvm"


def main() -> None:
    """Serve the lesson, wait for its pictures, and take one of the page."""
    served = subprocess.Popen(
        [sys.executable, "-m", "cvxml", "lesson", LESSON, "--headless"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert served.stdout is not None
        address = served.stdout.readline().split()[2]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1300, "height": 900})
            page.goto(address)
            page.wait_for_selector("img[src*='svg+xml'] >> nth=1")
            page.wait_for_timeout(2000)  # fonts and formulas
            page.screenshot(path=PICTURE)
    finally:
        served.terminate()
        served.wait(20)


if __name__ == "__main__":
    main()
