"""One Ctrl-C ends `cvxml lesson`, though a page is open and the notebook's threads would go on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import Any

from tests.lessons.run import ROOT
from tests.lessons.test_lessons_browser import PICTURES, WAIT, pytestmark

__all__ = ["pytestmark"]


def test_one_ctrl_c_ends_a_lesson_that_is_open(browser: Any) -> None:
    command = [sys.executable, "-m", "cvxml", "lesson", "mlsvm", "--headless"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # a suite in the background ignores Ctrl-C, and so would its children
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as served:  # fmt: skip
        try:
            assert served.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:\d+/\S+", served.stdout.readline())
            assert address is not None
            page = browser.new_page()
            page.goto(address[0], timeout=WAIT)
            page.wait_for_selector(PICTURES, timeout=WAIT)
            served.send_signal(signal.SIGINT)
            _, errors = served.communicate(timeout=20)
            assert (served.returncode, errors) == (0, "")
        finally:
            served.kill()
