"""`cflag errata`: what its list holds, what it does not overwrite, and that TeX takes it."""

import re
import shutil
import subprocess

import pytest

from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.cli import errata
from cflag_theory.cli.documents import LaTeX, Markdown, breakable
from cflag_theory.cli.typeset import typeset
from cflag_theory.verify import verify

#: A misprint, a missing hypothesis, two that fail (one beside a theorem of ours), a loose one, one that holds, an
#: assumption, and a question.
SOME = (
    "cflag.eq3",
    "cflag.assumption2",
    "cflag.eq5",
    "cflag.eq7",
    "cflag.overfitting_mean",
    "cflag.thm2",
    "cflag.lemma13",
)


@pytest.fixture(scope="module")
def some(kept):
    named = [id for id in errata.rows("C-FLAG") if id.startswith("ours.")]
    wanted = [id for id in LEDGER if id in (*SOME, *named[:3])]
    return verify(wanted, kept=kept)


@pytest.mark.full
def test_every_part_that_fails_is_listed_once_in_order(some):
    text = errata.errata(some, "C-FLAG", Markdown())
    wrong = [
        (verdict.claim.id, part.key)
        for verdict in some
        for part in verdict.parts
        if part.kind == "claim" and part.verdict in errata.WRONG
    ]
    body = text.split("## Errata")[1].split("## Constants")[0]
    listed = re.findall(
        r"^(?:Misprint|A hypothesis is missing|The statement fails)\. `([\w.]+)`(?:, part (\w+))?", body, re.M
    )
    assert [id for id, _ in listed] == [id for id, _ in wrong]
    assert all(key in ("", part) for (_, key), (_, part) in zip(listed, wrong, strict=True))
    assert [int(n) for n in re.findall(r"^### (\d+)\.", body, re.M)] == list(range(1, len(wrong) + 1))
    assert "cflag.lemma13" in text.split("## Constants")[1]
    # An assumption is not an erratum.
    assert "cflag.assumption2`" not in text


@pytest.mark.full
def test_an_item_is_complete(some):
    text = errata.errata(some, "C-FLAG", Markdown())
    item = text.split("### 1.")[1].split("### 2.")[0]
    for words in (
        r"> Sec. 2, (3): “$h(\mathbf{x}) = \frac{|\mathcal{P}|}",
        "**Counterexample:** $N = 2$",
        r"The left side is $- \frac{7}{4}$, the right side is $- \frac{3}{2}$.",
        "**Proposed correction:** every client must have the same share of past data",
        "**Proof (outline):**",
    ):
        assert words in item
    failing = text.split("`cflag.overfitting_mean`, part 1")[1].split("###")[0]
    assert r"\mathbb{E}[B(t)] = 0" in failing
    assert "**Proposed correction:** " in failing
    assert "**Corrected" not in failing


@pytest.mark.full
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")
@pytest.mark.parametrize("paper", ["C-FLAG", "CFL"])
def test_tex_takes_all_statements(paper, some, tmp_path):
    """Formulas and words of the whole ledger, whatever their verdict, on the preamble that errata have."""
    from cflag_theory.claims.ledger import claim
    from cflag_theory.claims.printed import printed

    document = LaTeX(expectation=paper == "CFL")
    document.begin("All", errata.MARK)
    for one in printed(paper):
        document.quotation(one.place, one.text)
        document.small(one.remark)
    for id in errata.rows(paper):
        for part in claim(id).parts:
            document.labelled("Printed", part.printed.words)
            if part.printed.relation is not None:
                document.formula(in_latex(part.printed.relation))
    (tmp_path / "all.tex").write_text(document.end(), encoding="utf-8")
    (tmp_path / "some.tex").write_text(errata.errata(some, "C-FLAG", LaTeX()), encoding="utf-8")
    for name in ("all", "some"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert run.returncode == 0, run.stdout[-2000:]


@pytest.mark.parametrize(
    ("words", "tex"),
    [
        ("||S||^2 <= 2 beta for every t", r"$\|S\|^{2} \le 2 \beta$ for every $t$"),
        ("E[f_{t,i}(w)] with E local steps", r"$\mathbb{E}[f_{t,i}(w)]$ with $E$ local steps"),
        ("<grad f, S> is 1", r"$\langle \nabla f,S\rangle$ is 1"),
        ("the p-weighted mean, a step and 50%", r"the p-weighted mean, a step and 50\%"),
        ("h~_i and x_hat_t", r"$\tilde{h}_{i}$ and $\hat{x}_{t}$"),
        ("2*sqrt(2) <= w*", r"$2\,\sqrt{2} \le w^{*}$"),
        ("`cflag show ID`, (5) and Lemma 3", r"\texttt{cflag show ID}, (5) and Lemma 3"),
    ],
)
def test_formulas_in_sentences(words, tex):
    assert typeset(words, escape=LaTeX().escape) == tex


def test_long_fractions_can_be_broken():
    above = " + ".join(f"a_{{{n}}}" for n in range(20))
    assert (
        breakable(rf"\left(\frac{{{above}}}{{b}}\right) \le \frac{{1}}{{2}}") == rf"(({above})/(b)) \le \frac{{1}}{{2}}"
    )


def test_only_lists_of_errata_are_overwritten(cflag, tmp_path, monkeypatch):
    monkeypatch.setattr(errata, "rows", lambda paper: ["cflag.eq3"])
    mine = tmp_path / "paper.tex"
    mine.write_text("my paper", encoding="utf-8")
    code, _, err = cflag("errata", "--out", mine)
    assert code == 2
    assert "was not written by cflag errata" in err
    assert mine.read_text(encoding="utf-8") == "my paper"
    assert cflag("errata", "--out", tmp_path / "list.txt")[0] == 2
    assert cflag("errata", "--out", tmp_path / "none" / "list.md")[0] == 2
    for _ in range(2):
        code, out, _ = cflag("errata", "--out", tmp_path / "list.md")
        assert code == 0
    text = (tmp_path / "list.md").read_text(encoding="utf-8")
    assert "### 1. $(3)$" in text or "### 1. (3)" in text
    code, out, _ = cflag("errata")
    assert "hold as printed" in out.splitlines()[0]
    assert out.count("cflag.eq3") == text.count("`cflag.eq3`")
    assert "--out errata.md, or errata.tex" in out
