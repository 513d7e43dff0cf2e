"""The benchmark of the server, small."""

import pytest

pytest.importorskip("websockets")
pytest.importorskip("uvicorn")

from tetrarchia_app.benchmarks.web import measure_web


@pytest.mark.slow
def test_every_figure_of_the_server_is_measured() -> None:
    rows = list(measure_web(rooms=3, games=10, actions=30, agent="greedy"))

    assert [row.unit for row in rows[:4]] == ["ms"] * 4
    assert all(row.value > 0 for row in rows)
    assert rows[0].value <= rows[1].value
