"""The table of exact worst cases: cells are kept one by one and not solved again."""

from __future__ import annotations

import json

from benchmarks.worst_cases import METHODS, cells, sheet


def test_cells_are_kept_and_not_solved_again(tmp_path):
    file = tmp_path / "cells.jsonl"
    told = []
    known = cells(file, most=1, tell=told.append)
    assert told == [f"{name}, E = 1, T = 1" for name in METHODS]
    assert all(0 <= cell["upper"] - cell["lower"] < 1e-6 for cell in known)
    lines = file.read_text().splitlines()
    refused = {"method": "fedavg", "E": 10, "T": 20, "error": "stopped"}
    file.write_text("\n".join([*lines, json.dumps(refused)]) + "\n")
    again = cells(file, most=1, tell=told.append)
    assert len(told) == len(METHODS)
    table = sheet(again)
    assert table.title.endswith(f"{len(METHODS) + 1} of 125 cells")
    assert table.rows[0][:2] == ("fedavg", "1")
    assert table.rows[1][3] == "no proof"
