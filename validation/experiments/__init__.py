"""The papers' experiments on the papers' data: one command, and the table beside the paper's.

    CVXML_DATA=FOLDER python -m validation.experiments NAME [--preset small|reduced|full] [--n-jobs 2]

from the root of the repository. NAME is mlsvm, table1, glml, synthetic or nca. The words of its report, its presets
and the explanations of differences are data: words/NAME.toml (words.py). An experiment is a module here with

    TITLE, QUESTION      the first lines of the report
    EACH, DEPARTURES     what an open observation is about; how data and methods differ from the paper's
    FIGURES, sets_said   if there: what an open figure is, one and several; what is added to the number of data sets
    used(method, settings)      if there: those of the settings of a task that change its result
    WHAT                 the setting, at its end
    PRESETS              name -> Preset
    tasks(preset)        the work, in pieces that do not depend on each other: list[Task], the longest first
    measure(task)        one piece: a dict for JSON, the same wherever it is computed, but for "seconds"
    short(results, preset)      conclusion, result, contradictions for the first screen, and details: page.Short
    parts(results, preset)      tables of the paper's values and ours, verdicts, details: page.Parts
    draw(results, preset, figure)       the picture
"""
