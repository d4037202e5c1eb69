"""Sentences of the ledger for TeX, the formulas in them between dollars; and formulas of the report as MathML.

`claims.engine.plain` goes the other way, from LaTeX to text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from xml.etree import ElementTree

from cflag_theory.claims.engine.plain import plain
from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.pages.text import bare
from cflag_theory.shown import escaped

_GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi",
    "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma",
    "Phi", "Psi", "Omega", "varphi", "varsigma",
))  # fmt: skip
_FUNCTIONS = frozenset(("exp", "ln", "log", "min", "max", "sup", "inf"))
_COMMANDS = _GREEK | _FUNCTIONS | {"grad", "sum", "sqrt"}
_SIGNS = {
    "||": r"\|", "<=": r"\le ", ">=": r"\ge ", "->": r"\to ", "==": "=", "!=": r"\ne ", "...": r"\ldots ",
    "<<": r"\ll ", "+-": r"\pm ", "%": r"\%", "&": r"\&", "#": r"\#", "{": r"\{", "}": r"\}", "~": r"\sim ",
    "\\": r"\setminus ", "$": r"\$", "*": r"\,", "⟨": r"\langle ", "⟩": r"\rangle ", "𝔼": r"\mathbb{E}",
}  # fmt: skip
_OPERATORS = frozenset(("=", "<=", ">=", "<", ">", "->", "==", "!=", "+", "-", "+-", "/", "*", "<<", "|", "||"))
_PIECE = re.compile(r"\|\||<=|>=|->|==|!=|<<|\+-|\.\.\.|[A-Za-z]+|\d+(?:\.\d+)?|\s+|.")
_MARKED = re.compile(r"[_^=<>|*~+{}𝔼⟨⟩]|\d|(?:\b[A-Za-z]|[})\d])'(?![a-z])")
_SYMBOL = re.compile(
    r"^[-(\[]*(?:"
    + "|".join([*_GREEK, "grad", "sqrt", "exp", "ln", "min_", "max_", r"[B-HJ-Zb-z]'*"])
    + r")(?![A-Za-z])"
)
#: Ids, names of files, words with hyphens, and numbers of equations: no formulas.
_NAME = re.compile(
    r"^\(?(?:(?:cflag|cfl|ours)\.[\w.]+|[a-z]{2,}\d+|[A-Z][a-z]+\d*|[A-Z]{3,}\d*|[Zz]3|[A-Z](?:\.\d+)+|[A-Za-z]+(?:-[A-Za-z]{2,})+|\(?\d+\)(?:-\(\d+\))*|[A-Za-z\d]'s)\)?$"
)
#: Part of a formula beside one, and plain words elsewhere.
_EITHER = re.compile(r"^(?:[aA]|sum|\(?-?[\d./]+[)\]]*|\d+%)$")
_ENDS = ",.;:?"


def typeset(words: str, *, escape: Callable[[str], str], dollar: str = "$", expectation: bool = False) -> str:
    """A sentence, as claims, counterexamples and notes have it ("||S||^2 <= 2 beta for every t"), with its formulas set
    in TeX between `dollar` signs; `escape` makes of other text what the format prints as it is.

    `expectation` is whether a bare E is the expectation, as in the CFL paper; elsewhere it is the number of local
    steps, unless a bracket, a norm or an index follows.
    """
    out: list[str] = []
    for place, piece in enumerate(words.split("`")):
        out.append(escape(f"`{piece}`") if place % 2 else _sentence(piece, escape, dollar, expectation))
    return "".join(out)


def _sentence(words: str, escape: Callable[[str], str], dollar: str, expectation: bool) -> str:
    # Brackets that belong together are one token: inner products, and lists of numbers.
    words = re.sub(r"<(?![=<\s-])([^<>|]*?[^<>|\s])>", lambda one: f"⟨{_tight(one[1])}⟩", words)
    words = re.sub(r"[(\[](?:-?[\d./]+, )+-?[\d./]+[)\]]", lambda one: _tight(one[0]), words)
    tokens = re.findall(r"\s+|\S+", words)
    formal = [_is_formula(token) for token in tokens]
    out: list[str] = []
    run = ""
    for place, token in enumerate(tokens):
        if token.isspace():
            run, out = (run + " ", out) if run else ("", [*out, token])
            continue
        if formal[place] or _belongs(token, run, tokens[place + 2] if place + 2 < len(tokens) else ""):
            bare = token.rstrip(_ENDS) if not token.startswith("...") else "..."
            run += bare
            if len(bare) < len(token):
                out.append(_between(run, dollar, expectation) + escape(token[len(bare) :]))
                run = ""
            continue
        if run:
            out.append(_between(run.rstrip(), dollar, expectation) + (" " if run.endswith(" ") else ""))
            run = ""
        out.append(escape(token))
    if run:
        out.append(_between(run.rstrip(), dollar, expectation))
    return "".join(out)


def _tight(words: str) -> str:
    return re.sub(r",\s+", ",", words)


def _belongs(token: str, run: str, following: str) -> bool:
    """Whether a sign, a number, an "a" or a "sum" is part of the formula before or after it."""
    if token in _OPERATORS:
        return bool(run) or _is_formula(following)
    bare = token.rstrip(_ENDS)
    before = run.split()[-1] if run else ""
    if not _EITHER.match(bare):
        return False
    if before in _OPERATORS or (before and re.match(r"-?[\d./]+[)\]]*$", bare)):
        return True
    return token == bare and (following in _OPERATORS or (bare == "sum" and _is_formula(following)))


def _is_formula(token: str) -> bool:
    bare = token.rstrip(_ENDS)
    if (_NAME.match(bare) and bare not in _GREEK) or not bare or _EITHER.match(bare):
        return token.startswith("...")
    return bool(_MARKED.search(bare) or _SYMBOL.match(bare))


def _between(run: str, dollar: str, expectation: bool) -> str:
    return f"{dollar}{untagged(formula(run, expectation=expectation))}{dollar}"


def untagged(latex: str) -> str:
    """A formula in which no sign stands before a letter, as in a tag of HTML."""
    return re.sub(r"<(?=[^\s=])", "< ", latex)


def formula(text: str, *, expectation: bool = False) -> str:
    """A formula in plain text as TeX: "||grad g(x_t)||^2" is "\\|\\nabla g(x_{t})\\|^{2}"."""
    pieces = _PIECE.findall(text)
    out: list[str] = []
    # A second index or power of the same letter must be TeX's own, or TeX refuses it.
    scripts: set[str] = set()
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        # A star is an index of what stands before it, unless it stands between two factors: w*, and 2*sqrt(2).
        following = pieces[place + 1][:1] if place + 1 < len(pieces) else ""
        star = (
            piece == "*" and place > 0 and not (pieces[place - 1].isspace() or following.isalnum() or following == "(")
        )
        if piece in "_^'" or star:
            body, after = ("*", place + 1) if star else _script(pieces, place, expectation)
            kind = "_" if piece == "_" else "^"
            accent = next((name for name in ("hat", "bar") if body == rf"\mathrm{{{name}}}"), "")
            if accent and out:
                _accent(out, accent)
            else:
                out.append(("{}" if kind in scripts else "") + f"{kind}{{{body}}}")
                scripts.add(kind)
            place = after
            continue
        scripts = set()
        if piece == "sqrt" and pieces[place + 1 : place + 2] == ["("]:
            body, place = _script(pieces, place, expectation)
            out.append(rf"\sqrt{{{body}}}")
            continue
        out.append(_piece(pieces, place, expectation))
        # grad_f_memory is the gradient of f_memory.
        place += 2 if piece == "grad" and pieces[place + 1 : place + 2] == ["_"] else 1
        if place < len(pieces) and pieces[place] == "~" and piece[0].isalpha():
            out[-1] = rf"\tilde{{{out[-1].strip()}}}"
            place += 1
    return re.sub(r" +(?=[ _^}]|$)", "", "".join(out))


def _accent(out: list[str], accent: str) -> None:
    """Put an accent on the last letter, before its indices, or a line over the last inner product."""
    last = len(out) - 1
    while last > 0 and out[last].lstrip("{}")[:1] in ("_", "^"):
        last -= 1
    if out[last] == _SIGNS["⟩"] and _SIGNS["⟨"] in out:
        start = last - out[last::-1].index(_SIGNS["⟨"])
        out[start:] = [rf"\overline{{{''.join(out[start:])}}}"]
    else:
        out[last] = rf"\{accent}{{{out[last].strip()}}}"


def _script(pieces: Sequence[str], place: int, expectation: bool) -> tuple[str, int]:
    """What stands at an index or power, and where the text goes on."""
    if pieces[place] == "'":
        return r"\prime", place + 1
    start = place + 1
    if start >= len(pieces):
        return "", start
    closing = {"{": "}", "(": ")", "[": "]"}.get(pieces[start])
    if pieces[start] == "|" and "|" in pieces[start + 1 :]:
        end = pieces.index("|", start + 1) + 1
        return formula("".join(pieces[start:end]), expectation=expectation), end
    if closing is None:
        # -1 and tau1 are one index.
        longer = pieces[start] == "-" or (
            pieces[start].isalpha() and pieces[start + 1 : start + 2] and pieces[start + 1].isdigit()
        )
        end = min(start + 2 if longer else start + 1, len(pieces))
        return formula("".join(pieces[start:end]), expectation=expectation), end
    depth = 0
    for end in range(start, len(pieces)):
        depth += (pieces[end] == pieces[start]) - (pieces[end] == closing)
        if depth == 0:
            inner = formula("".join(pieces[start + 1 : end]), expectation=expectation)
            return (f"[{inner}]" if closing == "]" else inner), end + 1
    return _piece(pieces, start, expectation), start + 1


def _piece(pieces: Sequence[str], place: int, expectation: bool) -> str:
    piece = pieces[place]
    if piece == "E":
        bracket = place + 1 < len(pieces) and pieces[place + 1] in ("[", "||", "_")
        return r"\mathbb{E}" if expectation or bracket else "E"
    if piece == "grad":
        return r"\nabla "
    if piece == "sum":
        return r"\sum "
    if piece in _GREEK or piece in _FUNCTIONS:
        return rf"\{piece} "
    if len(piece) > 1 and piece.isalpha():
        # Letters side by side are a product or an index, such as pB; words are words.
        return piece if len(piece) == 2 else rf"\mathrm{{{piece}}}"
    if piece.isspace():
        words = [one for one in pieces[max(place - 1, 0) : place + 2] if one.isalpha()]
        spaced = len(words) == 2 and any(len(one) > 2 and one not in _COMMANDS for one in words)
        return r"\ " if spaced else " "
    return _SIGNS.get(piece, piece)


#: What a formula is made of. Text within one could bring any other element, and a link any address.
_ELEMENT = re.compile(
    r"\{.*\}(none|m(ath|row|i|o|n|text|space|frac|sqrt|root|su[bp]|subsup|over|under|underover|multiscripts|prescripts"
    r"|style|padded|phantom|enclose|table|tr|td))"
)
#: Characters of a line, as plain text: what fits beside the margins of the page.
_WIDE = 84
_BREAKS = re.compile(r" (?:\+|-|=|<|\\le) ")
#: Around the formulas of a sentence; no sentence has it.
_MARK = "\0"


@cache
def mathml(latex: str) -> str:
    """A formula, in as many blocks as it takes lines."""
    found = []
    for line in lines(bare(latex)):
        block = _converted(line)
        found.append(block.replace("<math ", '<math class="dense" ', 1) if len(plain(line)) > _WIDE + 6 else block)
    return "".join(found)


def prose(words: str) -> str:
    """A sentence with formulas in plain text as HTML: formulas as MathML, pieces in backticks as code."""
    return quoted(typeset(bare(words).replace(_MARK, ""), escape=str, dollar=_MARK), _MARK)


@cache
def quoted(words: str, dollar: str = "$") -> str:
    """A sentence whose formulas are LaTeX between dollars, as HTML."""
    pieces = bare(words).split(dollar)
    # A dollar alone is money.
    last = len(pieces) if len(pieces) % 2 else len(pieces) - 1
    return "".join(
        _converted(piece, "inline") if place % 2 and place < last else _text(piece)
        for place, piece in enumerate(pieces)
    )


def _text(words: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped(words))


@cache
def _converted(latex: str, display: str = "block") -> str:
    """MathML and nothing else; what cannot be converted is shown as it is written."""
    from latex2mathml.converter import convert

    # The converter has an exception for each of its refusals, and none for all.
    with suppress(Exception):
        made = str(convert(latex, display=display))
        elements = list(ElementTree.fromstring(made).iter())
        if all(_ELEMENT.fullmatch(one.tag) and "href" not in one.attrib for one in elements):
            return made
    return f"<code>{escaped(latex)}</code>"


def of_relation(relation: Relation) -> str:
    """A relation of a claim as blocks."""
    return mathml(in_latex(relation))


def lines(latex: str) -> list[str]:
    """LaTeX in lines, broken before signs: outside of all brackets first, then inside of round ones.

    A fraction or a root stays whole.
    """
    found: list[str] = []
    for line in _broken(latex, brackets=True):
        flat = re.sub(r"\\(?:left|right)(?=[()\[\]])", "", line)
        found += _broken(flat, brackets=False) if len(plain(line)) > _WIDE else [line]
    return found


def _broken(latex: str, *, brackets: bool) -> list[str]:
    pieces, start = [], 0
    for place in _places(latex, brackets=brackets):
        pieces.append(latex[start:place])
        start = place
    pieces.append(latex[start:])
    found = [pieces[0]]
    for piece in pieces[1:]:
        if len(plain(found[-1] + piece)) <= _WIDE:
            found[-1] += piece
        else:
            found.append(piece)
    return found


def _places(latex: str, *, brackets: bool) -> list[int]:
    """Where signs stand outside of braces and norms, and outside of round brackets if they count."""
    places, depth = [], 0
    signs = {match.start() for match in _BREAKS.finditer(latex)}
    for place, letter in enumerate(latex):
        escaped = place > 0 and latex[place - 1] == "\\"
        if letter in ("({[" if brackets else "{") and not escaped:
            depth += 1
        elif letter in (")}]" if brackets else "}") and not escaped:
            depth -= 1
        elif latex.startswith(("\\{", "\\langle", "\\begin"), place):
            depth += 1
        elif latex.startswith(("\\}", "\\rangle", "\\end"), place):
            depth -= 1
        elif depth == 0 and place in signs and place > 0:
            places.append(place)
    return places
