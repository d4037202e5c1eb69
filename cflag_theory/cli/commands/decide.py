"""`cflag decide`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cflag_theory.cli.shell import Format, FormatOption, ProverOption, SeedOption, print_json, progress_bar
from cflag_theory.errors import CflagError, InvalidInput

if TYPE_CHECKING:
    from cflag_theory.falsify.conjecture import Conjecture
    from cflag_theory.falsify.decisions.decision import Decision


class Side(StrEnum):
    """What is tried."""

    prove = "prove"
    refute = "refute"


def decide_command(
    file: Annotated[
        str | None,
        Argument(
            metavar="FILE|CLAIM",
            help="A page FILE.page, a Python file with conjectures at module level, or a claim, such as cflag.eq5.2.",
        ),
    ] = None,
    names: Annotated[
        list[str] | None, Argument(metavar="[ID]...", help="The claims that are meant; default: all of the file.")
    ] = None,
    only: Annotated[Side | None, Option(help="Only look for a proof, or only for a counterexample.")] = None,
    repair: Annotated[
        bool, Option("--repair", help="Also propose the smallest changes that make a refuted claim provable.")
    ] = False,
    audit: Annotated[
        bool, Option("--audit", help="Also decide a proved claim again without each of its hypotheses.")
    ] = False,
    replay: Annotated[
        Path | None, Option(help="Compute a saved counterexample again. FILE replaces the file that it names.")
    ] = None,
    budget: Annotated[int, Option(min=1, help="Cases that the search may try, for each claim.")] = 3000,
    seconds: Annotated[float, Option(help="Time limit in seconds, for one evaluation and for algebra.")] = 20.0,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, Option(help="Folder of counterexamples; default: FILE-counterexamples beside the file.")
    ] = None,
    proofs: Annotated[Path | None, Option(help="Folder for each proof that is found: NAME.page, NAME.tex.")] = None,
    prover: ProverOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Prove or refute claims of your own, or a printed claim of the papers.

    The result is a proof for all values, or a counterexample in small rational numbers.

    If neither is found: the largest left/right found, and the smallest factor of the right side that is proved. For a
    claim with a free constant: the best value proved, and the nearest value refuted.

    --repair changes a constant, sign, power, factor or index, adds a hypothesis, such as a step size, convexity or a
    sign, or changes one. Every proposal is proved.

    --audit says which hypotheses a proof uses, and of each: a counterexample without it, a proof without it, or
    undecided. Of a claim of the papers, the statements that are proved are audited.

    Exit code 0: nothing was refuted. 1: a claim was refuted, a replayed counterexample stands, or with --only prove a
    claim was not proved. 2: bad input, in any of the claims. 130: interrupted.
    """
    from cflag_theory import falsify as sides

    if not seconds > 0:
        raise InvalidInput(f"--seconds is {seconds}: use a positive number")
    if prover not in (None, "coq"):
        raise InvalidInput(f"--prover is {prover!r}: use coq, or leave it out")
    if replay is not None:
        _replay(replay, Path(file) if file is not None else None, seconds, format)
        return
    if file is None:
        raise typer.BadParameter("give a FILE that holds a claim, a claim id, or --replay and a counterexample")
    if repair and audit:
        raise typer.BadParameter("--repair is about refuted claims and --audit about proved ones: give one of them")
    if (only is not None and (repair or audit)) or (only is Side.refute and prover is not None):
        given = "--repair" if repair else "--audit" if audit else "--prover"
        raise typer.BadParameter(f"{given} needs what --only {only.value} leaves out: give one of them")
    work: Callable[..., Any] = sides.repair if repair else sides.audit if audit else sides.decide
    if only is not None:
        work = sides.prove if only is Side.prove else sides.falsify
    done, faulty = _each(file, names or (), work, budget, seconds, seed, out, format, prover, proofs)
    if faulty:
        raise typer.Exit(2)
    if only is Side.prove:
        raise typer.Exit(0 if all(found.outcome == "proved" for found in done) else 1)
    raise typer.Exit(1 if any(found.refuted for found in done) else 0)


def _each(
    file: str,
    names: Sequence[str],
    work: Callable[..., Any],
    budget: int,
    seconds: float,
    seed: int,
    out: Path | None,
    format: Format,
    prover: str | None,
    proofs: Path | None,
) -> tuple[list[Any], bool]:
    """What became of each claim, and whether one of them is bad input, which ends no other."""
    from cflag_theory.cli.edge import say
    from cflag_theory.cli.tables import decide as tables
    from cflag_theory.falsify import audit
    from cflag_theory.falsify.decisions.auditing import proved_of_the_ledger
    from cflag_theory.falsify.decisions.deciding import instance_of
    from cflag_theory.falsify.finding import Finding
    from cflag_theory.falsify.saving import save
    from cflag_theory.files import as_file_name, check_writable, own_folder, write_text

    path = Path(file)
    audited = proved_of_the_ledger(file) if work is audit and not path.exists() else []
    claims, source = (audited, file) if audited else claims_of(path, seconds, names)
    home = path.absolute().parent if isinstance(source, Path) else Path.cwd()
    folder = out if out is not None else home / f"{path.stem if isinstance(source, Path) else file}-counterexamples"
    # The usual folder is made with the first counterexample.
    own_folder(folder) if out is not None or folder.exists() else check_writable(home)
    done: list[Any] = []
    listed: list[dict[str, Any]] = []
    interrupted, faulty = False, False
    for claim in claims:
        with progress_bar(claim.name, budget) as advance:

            def progress(count: int, advance: Callable[[float, str], None] = advance) -> None:
                advance(count, "")

            try:
                whole: Any = work(claim, budget=budget, seed=seed, seconds=seconds, progress=progress)
            except CflagError as error:
                if len(claims) == 1:
                    raise
                faulty = True
                say(str(error))
                listed.append({"name": claim.name, "error": str(error)})
                continue
        decided: Any = getattr(whole, "decision", None if isinstance(whole, Finding) else whole)
        found: Finding = whole if decided is None else decided.finding
        command = None
        # With a free constant the claim of the file has no single value to replay.
        if found.refuted and (claim.free is None or decided is None):
            command = f"cflag decide --replay {shlex.quote(shown(save(found, folder, claim=source)))}"
        done.append(found if decided is None else decided)
        if proofs is not None and decided is not None and decided.derivation is not None:
            for ending, text in (("tex", decided.derivation.latex()), ("page", decided.derivation.page())):
                if text is not None:
                    write_text(own_folder(proofs) / f"{as_file_name(claim.name)}.{ending}", text)
                else:
                    say(f"{claim.name}: a page has no words for a step of its proof; the .tex has")
        kernel = _asked_coq(decided) if prover == "coq" else None
        listed.append(whole.to_json() | {"replay": command} | ({"kernel": kernel} if prover == "coq" else {}))
        if format is Format.table:
            if decided is None:
                tables.finding(found, replay=command, instance=instance_of(claim, found), vectors=claim.about_vectors)
            else:
                tables.decision(decided, replay=command, kernel=kernel, vectors=claim.about_vectors)
            tables.besides(whole)
        if found.interrupted or getattr(whole, "interrupted", False):
            interrupted = True
            break
    if format is Format.json:
        print_json(listed)
    if interrupted:
        typer.echo("cflag: interrupted; this is what was found so far", err=True)
        raise typer.Exit(130)
    return done, faulty


def _replay(saved: Path, file: Path | None, seconds: float, format: Format) -> None:
    from cflag_theory.falsify.saving import replay

    again = replay(saved, claims=file, seconds=seconds)
    if format is Format.json:
        print_json(again.to_json())
    else:
        from cflag_theory.cli.tables import decide as tables

        tables.replayed(again)
    raise typer.Exit(1 if again.broken else 0)


def claims_of(path: Path, seconds: float, names: Sequence[str] = ()) -> tuple[list[Conjecture], Path | str]:
    """The claims that are meant, or all of the file, and where a replay finds them again."""
    from cflag_theory.falsify.saving import read_claims

    if path.suffix != ".py" and not path.exists():
        from cflag_theory.falsify.saving import of_the_ledger

        made = of_the_ledger(str(path))
        if made is not None:
            return [made], str(path)
        if str(path).partition(".")[0] in ("cflag", "cfl", "ours"):
            from cflag_theory.claims.ledger import claim

            # It says that the ledger has no such claim, and what it has.
            claim(str(path))
    found = {one.name: one for one in read_claims(path, seconds=seconds)}
    for name in names:
        if name not in found:
            raise InvalidInput(f"{path} has no claim {name!r}: it has {', '.join(found)}")
    return [found[name] for name in names or found], path


def shown(path: Path) -> str:
    """A path as it is typed from here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else str(path)


def _asked_coq(found: Decision) -> bool | None:
    """Whether Coq's kernel accepts the theorem of a derivation; None where there is none."""
    from cflag_theory.verify.coq import check

    theorem = None if found.derivation is None else found.derivation.theorem()
    return None if theorem is None else theorem.name in check([theorem], wholes=True).accepted
