"""`cflag rate --paper cfl`: the exact curves, the printed rate and the proved bounds on the noisy quadratic model."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.studies.rates.cfl import METHODS, SIMULATED, Model, cfl_rate, floor, our_bound, printed_bound

SMALL = {"horizons": (2, 8, 32), "replicas": 2}
MODELS = (
    Model(),
    Model(stateless=True),
    Model(information_loss=0.05),
    Model(K=4, sigma=1.0),
    Model(mu=0.0, dimension=3, clients=2),
    Model(mu=0.0, stateless=True, D=0.0),
    Model(G=0.0, D=0.0, sigma=0.0),
    Model(dimension=1, L=2.0, mu=2.0, clients=1, G=3.0, D=0.5),
)


@pytest.mark.full
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_is_proved_holds_on_the_model(model):
    study = cfl_rate(model, **SMALL)
    for rate in study.methods:
        for place, T in enumerate(study.horizons):
            if rate.ours[place] is None:
                assert model.mu == 0
                assert model.K > 1
            elif model.mu > 0:
                assert rate.last[place] <= rate.ours[place]
            assert study.floor[place] <= rate.last[place] * (1 + 1e-12)
            assert rate.eta[place] <= 1 / (10 * model.L)
            assert T <= SIMULATED


def test_the_least_gap_of_general_convex_runs_is_below_the_bound():
    model = Model(mu=0.0, dimension=4)
    study = cfl_rate(model, horizons=(4, 64), replicas=2)
    for rate in study.methods:
        # The mean over rounds is not below the least gap.
        assert rate.last[-1] <= rate.ours[-1]
        assert our_bound(model, rate.method, 64) == rate.ours[-1]


@pytest.mark.full
def test_the_printed_rate_fails_for_clients_that_stay_and_not_for_new_ones():
    """The printed rate goes to zero; the clients' own minimiser stays where it is."""
    stay, new = (cfl_rate(Model(stateless=stateless), horizons=(256, 4096), replicas=2) for stateless in (False, True))
    for rate in stay.methods:
        assert rate.printed[0] > rate.mean[0]
        assert rate.printed[1] < rate.mean[1]
        assert rate.slope > -0.1
    for rate in new.methods:
        assert rate.printed[1] > rate.mean[1]
    assert new.methods[METHODS.index("CFL")].slope < -0.9


def test_exact_curves_agree_with_simulated_ones():
    study = cfl_rate(Model(dimension=3, clients=2, information_loss=0.1), horizons=(4, 16), replicas=400, seed=5)
    for rate in study.methods:
        for place in range(2):
            low, high = rate.band[place]
            # Five standard errors: the band is about four wide.
            assert abs(rate.simulated[place] - rate.last[place]) < 1.25 * (high - low)


def test_the_printed_bound_by_hand():
    """T = 1 and K = 1: the start, c_1 eta and c_2 eta^2 of FedAvg, once."""
    model = Model(dimension=2, clients=4, L=2.0, mu=1.0, G=1.0, D=2.0, sigma=3.0, distance=0.5)
    eta, h = model.step(1), 0.5
    c_1 = 2 * (1 + 4) + 9 / 4
    c_2 = 2 * 5 / 3 + 2 * 9 / 6
    assert printed_bound(model, "FedAvg", 1) == pytest.approx(h / eta + c_1 * eta + c_2 * eta**2)
    assert printed_bound(model, "CFL", 1) == printed_bound(model, "FedAvg", 1)
    # Two rounds of CFL: p = (4/9, 5/9) with R^2 = 1.
    lossy = Model(dimension=2, clients=4, L=2.0, mu=0.0, G=1.0, D=2.0, sigma=3.0, distance=0.5, information_loss=0.7)
    eta, R2 = lossy.step(2), lossy.R**2
    p = 4 / (8 + R2)
    second = 2 * (1 + 4 * (p**2 + (1 - p) ** 2)) + 9 / 4 + 2 * p**2 * R2
    third = 2 * (1 + 4 * (p**2 + (1 - p) ** 2)) / 3 + 2 * 9 / 6 + 2 * p**2 * R2 / 3
    phi = 2 * p * math.sqrt(R2) * math.sqrt(0.5)
    rounds = ((c_1, c_2, 0.0), (second, third, phi))
    expected = 0.5 / (2 * eta) + sum(a * eta + b * eta**2 + c for a, b, c in rounds) / 2
    assert printed_bound(lossy, "CFL", 2) == pytest.approx(expected)


def test_the_floor_by_hand():
    model = Model(dimension=1, L=2.0, mu=2.0, clients=4, G=4.0, D=0.0, distance=1.0)
    # g = 16/(4 * 4) = 1 and h = 1: (2/2) * 1/2.
    assert floor(model, 7) == pytest.approx(0.5)
    assert floor(Model(dimension=1, L=2.0, mu=2.0, clients=4, G=0.0, D=4.0, distance=1.0), 1) == pytest.approx(0.5)


def test_the_study_is_data():
    study = cfl_rate(**SMALL)
    shown = json.loads(json.dumps(study.to_json(), allow_nan=False))
    assert [rate["method"] for rate in shown["methods"]] == list(METHODS)
    assert np.isfinite(shown["methods"][0]["slope"])
    assert shown["model"]["stateless"] is False


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"L": 0.0}, "L is 0.0: use a finite positive number"),
        ({"mu": 9.0}, "mu is 9.0 and L is 5.0"),
        ({"G": -1.0}, "G is -1.0"),
        ({"D": math.nan}, "D is nan"),
        ({"clients": 0}, "clients is 0"),
        ({"K": 1.5}, "K is 1.5"),
        ({"stateless": 1}, "stateless is 1"),
    ],
)
def test_bad_models(values, message):
    with pytest.raises(InvalidInput, match=message.replace("-", r"\-")):
        Model(**values)


@pytest.mark.parametrize(
    ("values", "message"), [({"horizons": (4,)}, "do not increase"), ({"replicas": 1}, "replicas = 1 leave nothing")]
)
def test_bad_studies(values, message):
    with pytest.raises(InvalidInput, match=message):
        cfl_rate(Model(), **values)


@pytest.mark.full
def test_the_command(cflag, tmp_path):
    command = ("rate", "--paper", "cfl", "--dial", "D=2", "--horizons", "2,8", "--replicas", 2)
    code, out, err = cflag(*command, "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "clients that stay" in out
    assert "clients new in every round" in out
    assert sorted(path.name for path in tmp_path.glob("cfl*")) == ["cfl_rate.json", "cfl_rate.png", "cfl_rate.svg"]
    _, out, _ = cflag(*command, "--format", "json")
    assert json.loads(out) == json.loads((tmp_path / "cfl_rate.json").read_text(encoding="utf-8"))
    assert [study["model"]["D"] for study in json.loads(out)] == [2, 2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dial", "lambda=1"), "has no dial 'lambda' here"),
        (("--dial", "D"), "write KEY=VALUE"),
        (("--problem", "glm"), "leave out --problem"),
    ],
)
def test_what_users_can_mend(cflag, arguments, words):
    code, out, err = cflag("rate", "--paper", "cfl", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("│", " ").split())
