"""Every claim of the package about speed, measured by one command beside the best alternative.

    CVXML_DATA=FOLDER python -m validation.benchmarks [--only mlsvm,nca] [--quick] [--learners PYTHON]

from the root of the repository. A benchmark is a module here with

    TITLE, WHAT          what its section of the report begins with
    tasks(quick)         its parts: list[Task]; settings["part"] is "metric-learn" where the other Python is needed
    measure(task)        one part: {"claims": [...], "growth": [...], "facts": [...]}, each of which may be missing

measure.py says what a claim and a growth are, and isolated.py how a part is run.
"""
