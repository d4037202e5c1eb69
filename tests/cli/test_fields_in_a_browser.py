"""The step size fields of the page in a headless Chromium, where one is installed, say what the command says."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from urllib.parse import urlencode

import pytest

from cflag_theory.cli.safe_steps import box
from cflag_theory.studies.stepsize.conditions import step_sizes
from cflag_theory.verify import verify, write_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = [pytest.mark.full, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]
AT = {"L": "3", "m": "0.4", "E": "8", "T": "5000", "F": "1.5", "G": "0.7", "alpha": "1/4", "beta": "0.01"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report"), verify(["cflag.eq65"], jobs=1))


def seen(page, folder, **typed):
    """The page as it stands after its script has run on these fields."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", f"--user-data-dir={folder}")
    address = f"{page.as_uri()}?{urlencode(typed)}#steps"
    done = subprocess.run([BROWSER, *flags, "--dump-dom", address], capture_output=True, text=True, timeout=120)
    return done.stdout


def cells(dom, name):
    return [unescape(cell) for cell in re.findall(rf'<td[^>]*data-{name}="\d+"[^>]*>([^<]*)</td>', dom)]


def answer(dom):
    return unescape(re.search(r'<p id="answer"[^>]*>(.*?)</p>', dom, re.S)[1])


def test_bounds_and_conditions_are_those_of_the_command(page, tmp_path):
    dom = seen(page, tmp_path, **AT)
    found = step_sizes(L=3.0, m=0.4, E=8, T=5000, alpha=0.25, beta=0.01, gap=1.5, grad_g=0.7)
    values = {(bound.claim, bound.kind): bound.value for bound in found.bounds}
    shown = [values[one["claim"], one["kind"]] for one in box()["bounds"]]
    assert any(value is not None for value in shown)
    for cell, value in zip(cells(dom, "bound"), shown, strict=True):
        assert cell.startswith("needs ") if value is None else float(cell) == pytest.approx(value, rel=6e-4)
    holds = {row.condition: row.holds for row in found.conditions}
    listed = [one for one in box()["conditions"] if one["proved"] or one["repaired"]]
    assert cells(dom, "condition") == ["yes" if holds[one["name"]] else "no" for one in listed]


def test_step_sizes_that_are_left_empty_are_chosen_and_safe(page, tmp_path):
    words = answer(seen(page, tmp_path, **AT | {"alpha": "", "beta": "", "epsilon": "0.2"}))
    alpha, beta = (float(re.search(rf"At .*{letter} = ([\d.e-]+)", words)[1].rstrip(".,")) for letter in "αβ")
    assert step_sizes(L=3.0, m=0.4, E=8, T=5000, alpha=alpha, beta=beta).answer.safe
    assert "α ≤ 1/L = 0.3333" in words


def test_a_link_keeps_what_was_typed_and_words_are_refused(page, tmp_path):
    dom = seen(page, tmp_path, **AT)
    kept = unescape(re.search(r'<a id="keep" href="([^"]*)"', dom)[1])
    assert "L=3" in kept
    assert "alpha=1%2F4" in kept
    refused = seen(page, tmp_path, **AT | {"L": "three"})
    assert answer(refused).startswith("No number that is possible here: L = three.")
    assert set(cells(refused, "bound")) == {""}
