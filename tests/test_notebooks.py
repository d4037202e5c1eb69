"""docs/notebooks: each runs from top to bottom, shows what it promises, and is stored without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
#: What a notebook's outputs have to say, cell by cell.
SHOWN = {
    "lemma": ("Verdict", "typo", "counterexample", "Trace", "fails in replica"),
    "own_loss": ("Problem", "Rate", "falls like 1/T", "a floor stays at", "grad_g2"),
    "own_claim": ("proved", "refuted", "largest step", "proved 1, refuted"),
    "step_sizes": ("conditions are met", "ours.drawn_once fewest rounds", "Step sizes for", "Estimates", "the true L"),
}
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def test_there_are_four():
    assert sorted(SHOWN) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_stored_without_outputs(name):
    stored = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len("".join("".join(cell["source"]) for cell in stored["cells"])) < 4000


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_its_results(name, tmp_path):
    pytest.importorskip("ipykernel", reason="pip install -e '.[notebooks]' runs the notebooks")
    pytest.importorskip("pandas")
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    client(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    text = " ".join(
        output.get("text", "") + "".join(value for kind, value in output.get("data", {}).items() if kind[:4] == "text")
        for output in outputs
    )
    assert [words for words in SHOWN[name] if words not in text] == []
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    drawn = sum("_figure(" in "".join(cell.source) for cell in notebook.cells)
    assert len(pictures) == drawn
    # Warnings would be here.
    assert not [output for output in outputs if output.get("name") == "stderr"]
