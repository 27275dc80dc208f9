"""Rows of Nodes are kept as runs: first and length of each, which together are the rows again."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.engine.scheduler.framework.diagnosis import runs_of, runs_where


@pytest.mark.parametrize("rows, runs", [([], []), ([4], [[4, 1]]), ([0, 1, 2], [[0, 3]]), ([0, 2, 3, 7], [[0, 1], [2, 2], [7, 1]])])
def test_neighbours_are_one_run(rows, runs):
    assert runs_of(np.array(rows, dtype=np.int64)) == runs


@given(st.sets(st.integers(0, 200)))
def test_runs_are_the_rows_again_and_none_touches_the_next(rows):
    runs = runs_of(np.array(sorted(rows), dtype=np.int64))
    assert [first + i for first, length in runs for i in range(length)] == sorted(rows)
    assert all(first + length < after for (first, length), (after, _length) in itertools.pairwise(runs))


@given(st.lists(st.booleans()))
def test_the_runs_of_a_mask_are_those_of_its_rows(mask):
    rows = np.array(mask, dtype=np.bool_)
    assert runs_where(rows) == runs_of(np.flatnonzero(rows))
