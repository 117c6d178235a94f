"""Do the tasks that have no result yet, here or on other machines."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import process_time
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from validation.experiments.tasks import Result, Store, Task

Measure = Callable[[Task], Result]


def run(
    measure: Measure, tasks: Sequence[Task], store: Store, n_jobs: int = 1, dask: str | None = None
) -> list[tuple[Task, Result]]:
    """Every task with its result; those on disk are not computed again.

    Each result is written as soon as it is there, by this process, so a run may be interrupted and begun again. dask:
    the address of a scheduler, whose workers are all used (with one core in all, joblib works here instead), or
    "local" for one here with n_jobs processes; else joblib's own n_jobs processes. A task has one BLAS thread wherever
    it runs, so that its result is the same on every processor of a kind.
    """
    kept = [store.load(task) for task in tasks]
    missing = [i for i, result in enumerate(kept) if result is None]
    with where(n_jobs, dask):
        found = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(
            delayed(timed)(measure, i, tasks[i]) for i in missing
        )
        with tqdm(total=len(tasks), initial=len(tasks) - len(missing), disable=None, unit="split") as bar:
            for i, result in found:
                store.save(tasks[i], result)
                kept[i] = result
                bar.set_postfix_str(tasks[i].key)
                bar.update()
    return [(task, result) for task, result in zip(tasks, kept, strict=True) if result is not None]


def timed(measure: Measure, i: int, task: Task) -> tuple[int, Result]:
    """The i-th task's result, with its seconds of processor time. What solvers warn of, it says itself: gap, status."""
    start = process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = measure(task)
    return i, {**result, "seconds": round(process_time() - start, 3)}


@contextmanager
def where(n_jobs: int, dask: str | None) -> Iterator[None]:
    """joblib's processes on this machine, or the workers of a dask scheduler."""
    if dask is None:
        with parallel_config(backend="loky"):
            yield
        return
    from distributed import Client, LocalCluster

    local: Any = (  # its status page on any free port: two runs at a time must not want the same
        LocalCluster(n_workers=n_jobs, threads_per_worker=1, dashboard_address=":0")
        if dask == "local"
        else None
    )
    try:
        with Client(local if dask == "local" else dask), parallel_config(backend="dask"):
            yield
    finally:
        if local is not None:
            local.close()


def exit_code(work: Callable[[], None]) -> int:
    """0 where the work was done; 2 for bad input, with what to do; 130 where it was interrupted."""
    try:
        work()
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0
