"""Pages that somebody else wrote: `cflag verify`, `decide`, `repair` and `falsify` on them, and pytest."""

from __future__ import annotations

import json

import pytest

from cflag_theory.claims.engine.claim import statements
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.saving import pages_of
from cflag_theory.verify import verify
from cflag_theory.verify.folders import drawn, expected, verify_folder

pytest_plugins = ["pytester"]

HEAD = r"""
symbol L positive
symbol mu nonnegative : \mu
vector x, y, z
function h; smooth = L; mu = mu

"""
TRUE = "h(z) - h(y) + mu/4 |y - z|^2 - L |z - x|^2 <= <grad h(x), z - y>"
FALSE = TRUE.replace("- L |", "- L/2 |")
CLAIM = "claim own.{name} | Lemma 5 | Perturbed strong convexity\n    say {say}\n    for mu: mu <= L\n"
PROOF = """    proof
        up: smooth h, x, z
        low: convex h, x, y
        between: square y + z - 2 x
        away: square z - x
        hence from up, low, between, away, mu
"""
#: The same in small, for what does not depend on the claim: a proof of it is found at once.
SMALL, SMALL_FALSE, SMALL_PROOF = "2 mu <= mu + L", "mu + L <= 2 mu", "    proof from mu\n"
REPAIR = "    repair typo -- L for L/2\n" + "".join(
    f"    {line}\n" for line in f"    say {TRUE}\n{PROOF}".rstrip().splitlines()
)


def write(place, *claims, head=HEAD, name="lemma"):
    page = place / f"{name}.page"
    page.write_text(head + "\n".join(claims), encoding="utf-8")
    return page


def claim(name, say, more=""):
    return CLAIM.format(name=name, say=say) + more


# verify


@pytest.mark.full
def test_the_verdicts_of_a_page(cflag, tmp_path):
    page = write(
        tmp_path,
        claim("proved", TRUE, PROOF),
        claim("bare", TRUE),
        claim("wrong", FALSE),
        claim("mended", FALSE, REPAIR),
        claim("short", TRUE, PROOF.replace(", between", "")),
    )
    code, out, _ = cflag("verify", page, "--jobs", "1")
    assert code == 0
    heads = [line for line in out.splitlines() if line.startswith("own.")]
    assert [line.rpartition(": ")[2] for line in heads] == ["holds", "holds", "false", "typo", "open"]
    assert "An exact instance has 1/4 on the left and 0 on the right." in out
    assert "      h(w) = (1/2) w^2" in out
    # What a proof lacks, as it is written on a page.
    assert "add `square 2 x - y - z`" in out
    assert "__" not in out
    # What was found is kept beside the page, and checked when it is used again.
    store = tmp_path / "certificates.json"
    kept = json.loads(store.read_text(encoding="utf-8"))
    assert kept
    spoiled = {key: {**entry, "sum": ["{slack 1}"]} for key, entry in kept.items()}
    store.write_text(json.dumps(spoiled), encoding="utf-8")
    (found,) = verify_folder(page, ["own.proved"], jobs=1)
    assert found.verdict == "holds"


def test_json_has_the_keys_of_the_ledger(cflag, tmp_path):
    page = write(tmp_path, claim("wrong", SMALL_FALSE))
    code, out, _ = cflag("verify", tmp_path, "own.wrong", "--format", "json", "--jobs", "1")
    (found,) = json.loads(out)
    assert code == 0
    assert (found["verdict"], found["paper"]) == ("false", "own")
    (of_ledger,) = verify(["cflag.eq7"], runs=False)
    assert found.keys() == of_ledger.to_json().keys()
    assert found["counterexample"]["instance"][0] == "L = 1, mu = 0"
    assert cflag("verify", page, "own.nosuch")[::2] == (
        2,
        "cflag: lemma.page has no claim 'own.nosuch': it has own.wrong\n",
    )


def test_instances_alone_are_no_proof(tmp_path):
    """True, and no proof is found: the rules that are tried know of exp no more than its tangents."""
    page = write(tmp_path, claim("exp", "1 + |x|^2 + |x|^4/2 <= exp(|x|^2)"))
    (found,) = verify_folder(page, jobs=1)
    assert found.verdict == "open"
    assert [item.finding for item in found.evidence] == ["supports"]


SEQUENCES = r"""
symbol k natural
symbol eta, beta positive
symbol alpha nonnegative
symbol K positive natural
sequence d nonnegative : d_{@}
index i, j
mean clients over i
vector noise : \xi_{@}

claim own.d | 1 | A recursion
    say SAY
    for beta: eta = K beta; small: 2 eta <= 1; step: for every j, d(j + 1) = 2 d(j) + alpha; start: d(0) = 0
claim own.noise | 2 | Noise
    say |x + clients(noise(i))|^2 <= FACTOR |x|^2
    for mean: clients(noise(i)) = 0
"""


@pytest.mark.parametrize(
    ("say", "factor", "finding"), [("d(k) <= 8 alpha", 1, "supports"), ("d(k) <= 6 alpha", "1/2", "refutes")]
)
def test_instances_have_sequences_and_what_equations_say(tmp_path, say, factor, finding):
    """d_3 = 7 alpha; instances draw k up to 3."""
    page = write(tmp_path, SEQUENCES.replace("SAY", say).replace("FACTOR", str(factor)))
    for one in pages_of(page).claims.values():
        (statement,) = statements(one.parts[0]).values()
        found = drawn(one.id, "1", "printed", statement, 300, 0)
        assert found.finding == finding, found


# Claims without a proof


def test_decide_repair_and_replay(cflag, tmp_path):
    page = write(tmp_path, claim("right", TRUE), claim("wrong", FALSE))
    code, out, _ = cflag("decide", page, "own.right")
    assert code == 0
    assert "own.right: proved" in out
    assert "mu in the nonnegative numbers" in out
    code, out, _ = cflag("decide", page, "own.wrong", "--format", "json")
    (found,) = json.loads(out)
    assert (code, found["outcome"], found["counterexample"]["left"]) == (1, "refuted", "1/4")
    (saved,) = (tmp_path / "lemma-counterexamples").glob("*.json")
    code, out, _ = cflag("decide", "--replay", saved)
    assert code == 1
    assert "the counterexample stands" in out
    code, out, err = cflag("decide", page, "own.nosuch")
    assert (code, err.count("\n")) == (2, 1)
    assert "has no claim 'own.nosuch': it has own.right, own.wrong" in err


# pytest


def test_a_page_is_a_file_of_tests(pytester):
    mended = f"    repair typo -- 2 mu on the left\n        say {SMALL}\n    {SMALL_PROOF}"
    claims = [
        claim("right", SMALL, SMALL_PROOF),
        claim("wrong", SMALL_FALSE),
        claim("known", SMALL_FALSE, "    expect false\n"),
        claim("mended", SMALL_FALSE, mended),
    ]
    write(pytester.path, *claims)
    (pytester.path / "broken.page").write_text("claim own.broken | 1 | No relation\n    say\n", encoding="utf-8")
    found = pytester.runpytest_inprocess("-p", "no:cacheprovider", "lemma.page")
    found.assert_outcomes(passed=3, failed=1)
    found.stdout.fnmatch_lines(["*own.wrong is false, and the page expects holds or loose*"])
    found = pytester.runpytest_inprocess("-p", "no:cacheprovider", "broken.page")
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*broken.page, line 2, column 5: nothing is said here*"])


def test_what_a_page_expects(tmp_path):
    page = write(tmp_path, claim("a", TRUE), claim("b", FALSE, REPAIR), claim("c", TRUE, "    expect open\n"))
    read = pages_of(page)
    assert [expected(read, id) for id in read.claims] == [("holds", "loose"), ("typo",), ("open",)]


# Pages that are wrong

SAID = {
    "h(x) <= q(y)": "nothing on the page is called 'q'",
    "||x||^2 <= L": "write |v| for the norm of v",
    "(z - x) <= L": "a vector stands beside a relation sign",
    "x^2 <= L": "a vector has no powers",
    "": "nothing is said here",
    "0 <= mu <= L": "a second '<=': write two facts",
    "mu == L": "write =",
    "mu \N{LESS-THAN OR EQUAL TO} L": "write <=",
    "L/0 <= mu": "it divides by 0",
    "sqrt(-1) <= mu": "takes the root of less than 0",
    "L <= 2^(10^(10^10))": "a power of so many digits",
    "mu.real <= L": "'.' ",
    "__import__('os') <= L": "where a name or a number should",
    "exp(\"__import__('os').abort()\") <= L": "stands where a number should",
    "\"__import__('os').abort()\" <= L": "stands where a number should",
    "<x, L> <= L": "",
}


@pytest.mark.parametrize("say", SAID)
def test_what_is_said_wrongly(tmp_path, say):
    with pytest.raises(InvalidInput) as raised:
        pages_of(write(tmp_path, claim("one", say)))
    assert str(raised.value).startswith("lemma.page, line 8, column ")
    assert SAID[say] in str(raised.value)
    assert "__1" not in str(raised.value)


GOOD = claim("one", TRUE)
PAGES = {
    "": "has no claim",
    HEAD: "has no claim",
    HEAD + GOOD.replace("own.", "cflag."): "is a name of this package's own ledger",
    HEAD + GOOD + GOOD: "stands on the page twice",
    HEAD + GOOD + "    coq Drift.lemma13\n": "'coq' names a theorem of this package, which no page of yours has",
    HEAD + GOOD + "    given mu: mu <= L\n": "'given' stands under a claim",
    HEAD + GOOD + "    expect maybe\n": "'maybe' is no verdict: use holds, loose",
    HEAD + GOOD + "    sharp L = 2\n": "are no two numbers: sharpen a constant of the claim",
    HEAD + GOOD + "    repair tpyo\n        say L <= L\n": "a repair is typo or needs-hypothesis",
    HEAD + GOOD + "    proof\n        a: for every q, L <= L\n": "nothing on the page is called 'q'",
    HEAD + GOOD + "\tfor b: mu <= L\n": "a tab: indent with blanks",
    "use os\n" + HEAD + GOOD: "the folder has no page 'os'",
    "use lemma\n" + HEAD + GOOD: "or it uses this one",
    "simbol a\n" + HEAD + GOOD: "'simbol' begins no block",
    "# filler\n" * 500_000: "it has more than 4194304 bytes",
}


@pytest.mark.parametrize("text", PAGES, ids=range(len(PAGES)))
def test_a_page_that_is_none(tmp_path, text):
    page = tmp_path / "lemma.page"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as raised:
        pages_of(page)
    assert PAGES[text] in str(raised.value)


def test_files_that_are_no_pages(cflag, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary.page").write_bytes(bytes(range(256)))
    for place, words in (
        (tmp_path / "empty", "is no page and has none"),
        (tmp_path / "nosuch.page", "is no page and has none"),
        (tmp_path / "binary.page", "it is not text in UTF-8"),
    ):
        code, out, err = cflag("verify", place)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]", "see all of it, which should be a table"),
        ('{"a": 1}', "see a, which should be a table"),
        ('{"a": {"goal": ""}}', "see a.sum, which is missing and should be a list"),
        ('{"a": {"goal": 1, "sum": [1]}}', "see a.goal, which should be a word in quotes; a.sum[0], which should be"),
        ('{"a": {"goal": "", "sum": ["%s"]}}' % ("1" * 100_001), "a.sum[0], which should be at most 100000 letters"),
        ('{"a": {"goal": "", "sum": [], "times": {}}}', "a.times, which should be at most 100000 letters"),
        ('{"a": %s}' % ("9" * 5000), "4300 digits"),
        ("[" * 100_000, "it is nested too deeply"),
        ("{", "line 1 column 2"),
        (b"\xff\xfe{}", "can't decode byte"),
    ],
    ids=range(10),
)
def test_a_store_of_certificates_that_is_none(cflag, tmp_path, text, words):
    page = write(tmp_path, claim("small", SMALL, SMALL_PROOF))
    (tmp_path / "certificates.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    for command in ("verify", "decide"):
        code, out, err = cflag(command, page)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "certificates.json is no store of certificates (" in err
        assert words in err
        assert err.endswith("): remove it, and they are found again\n")
