"""`cflag simulate` on problems that evolve and with rows that remember past rounds."""

from __future__ import annotations

import json

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import RoundWeights, algorithm, read_trace
from cflag_theory.studies.inputs import read_algorithm

RUN = ("simulate", "--beta", "0.05", "--T", "3", "--E", "2")
NOISY = (*RUN, "--problem", "noisy_quadratic", "--dial", "dimension=3", "--dial", "clients=4")
CFL = (*NOISY, "--algorithm", "cfl")


def test_a_row_with_its_settings():
    settings = ["past=taylor", "weights=lemma B.4:D2=1,R2=0.25", "window=40", "estimator=full"]
    weights = RoundWeights("lemma B.4", D2=1, R2=0.25)
    assert read_algorithm("cfl", settings) == algorithm(
        "cfl", past="taylor", weights=weights, window=40, estimator="full"
    )
    assert read_algorithm("cfl", ["weights=uniform"]) == algorithm("cfl")
    assert read_algorithm("fedavg") == algorithm("fedavg")
    for setting in ("weights=uniform:", "weights=uniform:window", "=1", "past="):
        with pytest.raises(InvalidInput, match="is not understood: write KEY=VALUE"):
            read_algorithm("cfl", [setting])


def test_simulate_in_the_framework(cflag, tmp_path):
    file = tmp_path / "trace.npz"
    code, out, _ = cflag(
        *(
            *CFL,
            "--dial",
            "D=10",
            "--participants",
            2,
            "--set",
            "past=taylor",
            "--set",
            "weights=lemma B.4:D2=100,R2=1",
        ),
        *("--diagnostics", "all", "--out", file, "--format", "json"),
    )
    assert code == 0
    summary = json.loads(out)
    assert summary["problem"] == "noisy quadratic"
    assert "h" not in summary["end"]
    trace = read_trace(file)
    assert trace.config["participants"] == 2
    assert trace.config["algorithm"]["past"] == "taylor"
    assert trace.config["algorithm"]["weights"]["D2"] == "100"
    assert trace.column("information_loss").max() < 1e-10
    assert cflag(*CFL)[0] == 0


@pytest.mark.parametrize("windows", ["all", "pointer", "subsets", "fresh"])
def test_simulate_on_windows(cflag, windows):
    problem = ("--problem", "evolving", "--dial", f"windows={windows}", "--dial", "clients=2")
    assert cflag(*RUN, *problem, "--algorithm", "cfl_core_set", "--set", "core_set=3")[0] == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((*CFL, "--set", "past=all"), "past 'all' is unknown: use one of 'none', 'exact', 'taylor'"),
        ((*CFL, "--set", "weights=best"), "scheme 'best' is unknown: use one of 'lemma B.4'"),
        ((*CFL, "--set", "weights=uniform:D2=1"), "D2 is 1 and round weights 'uniform' do not read it"),
        ((*CFL, "--set", "weights=uniform:G2=1"), "round weights have no dial 'G2' here: use one of D2"),
        ((*CFL, "--set", "weights=lemma B.4:D2=x"), "D2 is 'x': use a "),
        ((*CFL, "--set", "weights=2"), "weights is 2: use a RoundWeights"),
        ((*CFL, "--set", "window=0"), "window is 0: use an integer of at least 1"),
        ((*CFL, "--set", "memoryless=1"), "an algorithm has no field 'memoryless'"),
        ((*CFL, "--set", "past"), "setting 'past' is not understood: write KEY=VALUE"),
        ((*CFL, "--participants", "5"), "participants is 5 and problem 'noisy quadratic' has 4 clients"),
        ((*CFL, "--participants", "0"), "participants is 0: use an integer of at least 1"),
        ((*CFL, "--T", "100000"), "GiB: keep fewer by window="),
        (NOISY, "'c_flag' needs all clients on fixed local data and the run has local data that change"),
        ((*CFL, "--dial", "alpha=0.5"), "alpha = 0.5 belongs to Assumption 7: use correlation='geometric'"),
        ((*CFL, "--dial", "mu=9"), "mu is 9.0 and L is 5.0"),
        ((*CFL, "--dial", "law=cauchy"), "law 'cauchy' is unknown: use one of normal, sign"),
        ((*RUN, "--problem", "evolving", "--dial", "windows=half"), "windows 'half' is unknown: use one of all"),
        ((*RUN, "--problem", "evolving", "--dial", "count=0"), "count of the windows is 0"),
    ],
)
def test_bad_input_is_one_sentence(cflag, command, message):
    code, out, err = cflag(*command)
    assert (code, out) == (2, "")
    assert err.startswith("cflag: ")
    assert err.count("\n") == 1
    assert message in err
