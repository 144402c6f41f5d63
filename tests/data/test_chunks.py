import random
import threading
import time

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.data.chunks import (
    MAX_CHUNK_ROWS,
    MIN_CHUNK_ROWS,
    RowRange,
    fold,
    resolve_n_jobs,
    row_ranges,
)
from mossrules.exceptions import InvalidParameter


class Planned(Exception):
    """Raised on purpose."""


def add(a, b):
    """Combine lists, keeping every element."""
    return a + b


def slowly(item):
    """Return the item after a time that shuffles the order of completion."""
    time.sleep(random.random() / 500)  # noqa: S311
    return [item]


# --- rows into chunks -------------------------------------------------------------------------


@given(
    n_rows=st.integers(0, 10**9),
    n_jobs=st.integers(1, 64),
    chunk_rows=st.none() | st.integers(10**5, 10**10),
)
@settings(deadline=None, max_examples=50)
def test_chunks_cover_the_rows_once_and_in_order(n_rows, n_jobs, chunk_rows):
    """Consecutive chunks meet end to end, from the first row to the last, and none is empty."""
    chunks = row_ranges(n_rows, n_jobs=n_jobs, chunk_rows=chunk_rows)
    edges = [0, *(chunk.stop for chunk in chunks)]
    assert [chunk.start for chunk in chunks] == edges[:-1]
    assert edges[-1] == n_rows
    assert all(0 < len(chunk) <= (chunk_rows or MAX_CHUNK_ROWS) for chunk in chunks)


def test_small_tables_are_one_chunk_and_middling_ones_feed_every_thread():
    """Threads get a chunk each as soon as chunks are worth their while."""
    assert row_ranges(MIN_CHUNK_ROWS, n_jobs=8) == [RowRange(0, MIN_CHUNK_ROWS)]
    assert len(row_ranges(8 * MIN_CHUNK_ROWS, n_jobs=8)) == 8
    assert len(row_ranges(100 * MAX_CHUNK_ROWS, n_jobs=8)) == 100


def test_no_rows_make_no_chunks():
    """A table without rows has nothing to go over."""
    assert row_ranges(0) == []


@pytest.mark.parametrize("chunk_rows", [0, -5, 2.5, "many", True])
def test_impossible_chunk_sizes_are_refused(chunk_rows):
    """A chunk holds a whole, positive number of rows."""
    with pytest.raises(InvalidParameter, match=r"chunk_rows is .*; pass an integer of at least 1"):
        row_ranges(10, chunk_rows=chunk_rows)


# --- threads ----------------------------------------------------------------------------------


def test_n_jobs_counts_threads_like_joblib():
    """None and -1 are all cores, other negative numbers leave some free, positive ones are kept."""
    cores = joblib.cpu_count()
    assert resolve_n_jobs(None) == resolve_n_jobs(-1) == cores
    assert resolve_n_jobs(-2) == max(1, cores - 1)
    assert resolve_n_jobs(-1000) == 1
    assert resolve_n_jobs(3) == resolve_n_jobs(np.int64(3)) == 3


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", np.int64(0)])
def test_impossible_numbers_of_threads_are_refused(n_jobs):
    """No threads, or half a thread, is a mistake."""
    with pytest.raises(InvalidParameter, match=r"n_jobs is .*; pass None or a non-zero integer"):
        resolve_n_jobs(n_jobs)


def test_a_joblib_worker_keeps_to_its_share():
    """Where joblib allows one thread, as inside its workers, all cores means one thread."""
    with joblib.parallel_config(backend="sequential"):
        assert resolve_n_jobs(None) == 1


# --- fold -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8, 50])
@pytest.mark.parametrize("n_items", [1, 2, 3, 30])
def test_every_result_is_combined_exactly_once(n_jobs, n_items):
    """Whatever the threads and the order of completion, each item counts once."""
    combined = fold(slowly, range(n_items), add, n_jobs=n_jobs)
    assert sorted(combined) == list(range(n_items))


def test_items_that_are_alike_all_count():
    """Equal items are not mistaken for one another."""
    assert fold(lambda item: item, [1] * 40, lambda a, b: a + b, n_jobs=4) == 40


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_results_may_be_none(n_jobs):
    """None is a result like any other."""
    seen = []
    assert fold(seen.append, range(5), lambda _a, _b: None, n_jobs=n_jobs) is None
    assert sorted(seen) == list(range(5))


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_nothing_to_fold_over_is_an_error(n_jobs):
    """Without chunks there is no result."""
    with pytest.raises(InvalidParameter, match="no chunks were given"):
        fold(slowly, [], add, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_few_results_exist_at_a_time(n_jobs):
    """Slow combining holds back the workers: at most n_jobs + 1 results wait or are under way."""
    lock = threading.Lock()
    started, combined, most = 0, 0, 0

    def work(_item):
        nonlocal started, most
        with lock:
            started += 1
            most = max(most, started - combined)
        return 1

    def combine(a, b):
        nonlocal combined
        time.sleep(0.002)  # long enough for every worker to finish meanwhile
        with lock:
            combined += 1
        return a + b

    assert fold(work, range(40), combine, n_jobs=n_jobs) == 40
    # The first result of all is the start of the sum: nothing is combined with it.
    assert most <= n_jobs + 2


def test_threads_really_work_at_the_same_time():
    """With n_jobs threads, that many items are under way together."""
    barrier = threading.Barrier(3, timeout=10)
    assert sorted(fold(lambda item: [barrier.wait() * 0 + item], range(3), add, n_jobs=3)) == [
        0,
        1,
        2,
    ]


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_the_first_error_is_raised_as_it_is_and_stops_the_fold(n_jobs):
    """The caller sees the worker's own exception, and the items after it are left alone."""
    done = []
    error = Planned("row 3 is broken")

    def work(item):
        if item == 3:
            raise error
        time.sleep(0.001)
        done.append(item)
        return [item]

    with pytest.raises(Planned) as caught:
        fold(work, range(1000), add, n_jobs=n_jobs)
    assert caught.value is error
    assert len(done) < 100


@pytest.mark.parametrize("n_jobs", [1, 4])
@pytest.mark.parametrize("culprit", ["combine", "progress"])
def test_an_error_of_the_caller_stops_the_threads(n_jobs, culprit):
    """When combining or reporting fails, no thread is left behind and no more work begins."""
    before = threading.active_count()
    done = []

    def work(item):
        time.sleep(0.001)
        done.append(item)
        return [item]

    def fail(*_):
        raise Planned

    with pytest.raises(Planned) as caught:
        fold(
            work,
            range(1000),
            fail if culprit == "combine" else add,
            n_jobs=n_jobs,
            progress=fail if culprit == "progress" else None,
        )
    assert threading.active_count() == before
    assert len(done) < 100
    del caught


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_counts_up_to_the_total(n_jobs):
    """The callback hears the stage, the chunks done and their number, once per chunk."""
    heard = []
    fold(slowly, range(7), add, n_jobs=n_jobs, stage="reading", progress=lambda *a: heard.append(a))
    assert heard == [("reading", done, 7) for done in range(1, 8)]


def test_progress_comes_after_combining():
    """A chunk is reported as done when its result is part of the whole."""
    combined, heard = [], []
    fold(
        lambda item: [item],
        range(5),
        lambda a, b: combined.append(len(a + b)) or a + b,
        progress=lambda _stage, done, _total: heard.append((done, len(combined))),
    )
    assert heard == [(done, done - 1) for done in range(1, 6)]


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=40), st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_an_exact_combine_gives_the_same_for_any_number_of_threads(items, n_jobs):
    """Integer sums do not depend on the number of threads."""
    assert fold(lambda item: item, items, lambda a, b: a + b, n_jobs=n_jobs) == sum(items)
