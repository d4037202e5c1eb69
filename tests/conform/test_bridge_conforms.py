"""`conform` on the bridge's own methods: no false alarm, and slips that are planted into them are named."""

from __future__ import annotations

import pytest

# What follows imports torch.
# ruff: noqa: E402
torch = pytest.importorskip("torch")

from bridge_conforming import METHODS, bridge_round, ewc_client, flagged, tracked
from needs import LONG, in_turn

from cflag_theory.bridge.methods import finetune, flag
from cflag_theory.bridge.methods.baselines import ErRing, Ewc, Union
from cflag_theory.bridge.methods.finetune import FedProx, FineTune, Job, MimeLite
from cflag_theory.bridge.methods.track import FedTrack
from cflag_theory.bridge.models import rates
from cflag_theory.bridge.models.compiled import Adam
from cflag_theory.bridge.models.iag_table import DelayedGradient, KeptRows
from cflag_theory.bridge.models.rates import Rates
from cflag_theory.bridge.settings.options import AVERAGE, LITERAL, MINIBATCH, PLAIN
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.environment import threads
from cflag_theory.conform import ALGORITHMS, conform


@pytest.fixture(autouse=True)
def one_thread():
    """Vectors of two numbers: more threads only wait for each other."""
    with threads(1):
        yield


def report_of(method, **more):
    row, functions, parameters = METHODS[method]
    # A round of the bridge has minibatches of an epoch.
    assume = [] if "client_step" in functions else ["equal-steps"]
    return conform(row, **functions, parameters=parameters, numbers="float64", assume=assume, **more)


@pytest.mark.parametrize("method", METHODS)
def test_the_bridge_agrees(method):
    report = report_of(method)
    assert not report.refuted, str(report)
    # x in three rounds of 20 problems at least.
    assert report.compared >= 20 * 3


@pytest.mark.full
@pytest.mark.parametrize("method", in_turn(METHODS, 3))
def test_no_false_alarm_with_the_bridge(method):
    report = report_of(method, problems=1_500 if LONG else 250, rounds=2, seed=100)
    assert not report.refuted, str(report)


# Slips in what clients send and in the server's means.


def equal_weights(patch, *names):
    """Means of these vectors, or of all, with equal weights."""
    mean = InOneProcess.mean

    def slip(self, vectors, p):
        found = mean(self, vectors, p)
        equal = mean(self, vectors, [1 / len(p)] * len(p))
        return {name: equal[name] if not names or name in names else value for name, value in found.items()}

    patch.setattr(InOneProcess, "mean", slip)


def weights_left_out(patch):
    equal_weights(patch)


def weights_of_moves_left_out(patch):
    equal_weights(patch, "move")


def weights_of_memories_left_out(patch):
    equal_weights(patch, "grad_f_memory")


def sum_of_moves(patch):
    mean = InOneProcess.mean

    def slip(self, vectors, p):
        return mean(self, vectors, [1.0] * len(p) if any("move" in own for own in vectors.values()) else p)

    patch.setattr(InOneProcess, "mean", slip)


# Slips in the local steps.


def one_step_missing(patch):
    descend = finetune.descend

    def slip(state, d, orders, *most, **options):
        return descend(state, d, [order[:-1] for order in orders], *most, **options)

    patch.setattr(finetune, "descend", slip)


def gradients_at_the_start(patch):
    gradient = Job.gradient

    def slip(self, k, local):
        if k == 0:
            self.first = local.clone()
        return gradient(self, k, self.first[: len(local)])

    patch.setattr(Job, "gradient", slip)


def moments_kept(patch):
    locals_of = FineTune.locals_of

    def slip(self, *given):
        if not hasattr(self, "adam"):
            self.adam = Adam()
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(finetune, "make_step", lambda name, **more: self.adam)
            return locals_of(self, *given)

    patch.setattr(FineTune, "locals_of", slip)


def given_as(change):
    """The slip that changes what local steps are given."""

    def plant(patch):
        descend = FedTrack.descend

        def slip(self, *most):
            *most, given = most
            return descend(self, *most, lambda estimates, corrections: given(estimates, change(self, corrections)))

        patch.setattr(FedTrack, "descend", slip)

    return plant


def first_correction(method, corrections):
    if not hasattr(method, "first"):
        method.first = corrections.clone()
    return method.first[: len(corrections)]


tracking_sign = given_as(lambda method, corrections: -corrections)
untracked = given_as(lambda method, corrections: 0 * corrections)
frozen = given_as(first_correction)


def old_gradients_stay(patch):
    refresh = KeptRows.refresh

    def slip(self, *step):
        old = self._kept.clone()
        value = refresh(self, *step)
        self._kept.copy_(old)
        return value

    patch.setattr(KeptRows, "refresh", slip)


def not_divided(patch):
    refresh = KeptRows.refresh

    def slip(self, *step):
        self._counts = [torch.ones_like(each) for each in self._counts]
        return refresh(self, *step)

    patch.setattr(KeptRows, "refresh", slip)


def one_step_late(patch):
    refresh = KeptRows.refresh

    def slip(self, k, chosen, new):
        before = self._delayed[: len(new)].clone()
        refresh(self, k, chosen, new)
        return before

    patch.setattr(KeptRows, "refresh", slip)


def not_divided_elsewhere(patch):
    refresh = DelayedGradient.refresh

    def slip(self, *step):
        self._counts = [1.0] * len(self._counts)
        return refresh(self, *step)

    patch.setattr(DelayedGradient, "refresh", slip)


# Slips in the rates.


def constant_alpha_times(factor):
    def plant(patch):
        right = flag.client_rates

        def slip(*given, **options):
            chosen, Lambda = right(*given, **options)
            return [Rates(factor * each.alpha, each.beta) for each in chosen], Lambda

        patch.setattr(flag, "client_rates", slip)

    return plant


def lambda_sign(patch):
    patch.setattr(rates, "interference_rate", lambda alpha, product, norm2: alpha * (1 + product / norm2))


def alpha_kept(patch):
    patch.setattr(rates, "interference_rate", lambda alpha, product, norm2: alpha + 0 * product)


def no_L(patch):
    patch.setattr(rates, "transference_rate", lambda L, alpha, product, norm2: (1 - L * alpha) * product / norm2)


# Slips in one method.


def proximal_sign(patch):
    patch.setattr(FedProx, "given", lambda self, g, x, start: g - self.options.mu * (x - start))


def around_the_first_model(patch):
    def slip(self, gradients, x, start):
        if not hasattr(self, "first"):
            self.first = start.clone()
        return gradients + self.options.mu * (x - self.first)

    patch.setattr(FedProx, "given", slip)


def whole_gradient(patch):
    def given(self, gradients, x, start):
        return gradients if self.momentum is None else gradients + self.options.gamma * self.momentum

    patch.setattr(MimeLite, "given", given)


def momentum_never_updated(patch):
    def slip(self, round, state, means, kept):
        self.momentum = torch.zeros_like(state)

    patch.setattr(MimeLite, "close_round", slip)


def fisher_times(factor):
    def plant(patch):
        close_task = Ewc.close_task

        def slip(self, round, state, means):
            close_task(self, round, state, {"fisher": factor * means["fisher"]})

        patch.setattr(Ewc, "close_task", slip)

    return plant


def fisher_of_the_mean(patch):
    def slip(self, round, client, state):
        _, gradient = round.model.gradient(state, client.current.batch(slice(None)), training=False)
        return {"fisher": gradient.square()}

    patch.setattr(Ewc, "end_task", slip)


def around_x_t(patch):
    locals_of = FineTune.locals_of

    def slip(self, round, clients, state, *most):
        self.centre = state.clone()
        return locals_of(self, round, clients, state, *most)

    patch.setattr(Ewc, "locals_of", slip)


def memory_not_replayed(patch):
    patch.setattr(ErRing, "jobs", FineTune.jobs)


def replay_added(patch):
    gradient = Job.gradient

    def slip(self, k, local):
        losses, gradients = gradient(self, k, local)
        return losses, 2 * gradients

    patch.setattr(Union, "gradient", slip)


#: What is planted, the methods that are run, and the slip that must be named, by its key; None where none has it.
PLANTED = [
    (weights_left_out, ("fedavg", "finetune", "finetune, one by one", "fedprox", "mimelite", "er_ring"), "unweighted"),
    (weights_of_moves_left_out, ("fedtrack", "c_flag", "fedavg with Adam"), "unweighted"),
    (weights_of_moves_left_out, ("c_flag, rates of Table 1",), None),
    (weights_of_memories_left_out, ("c_flag",), "memory equal"),
    (sum_of_moves, ("fedavg", "fedtrack"), "server sum"),
    (one_step_missing, ("fedavg", "fedprox", "mimelite", "er_ring", "ewc, plain steps"), "step missing"),
    (gradients_at_the_start, ("fedavg", "finetune, one by one", "fedprox", "fedavg with Adam"), "stale local"),
    (moments_kept, ("fedavg with Adam",), "kept"),
    (tracking_sign, ("fedtrack", "fedtrack, one by one", "c_flag", "c_flag, rates from the displacement"), "sign"),
    (tracking_sign, ("c_flag, rates of Table 1",), None),
    (
        untracked,
        ("fedtrack", "fedtrack, a table elsewhere", "c_flag", "c_flag, rates from the displacement"),
        "untracked",
    ),
    (frozen, ("fedtrack", "c_flag"), "frozen"),
    (old_gradients_stay, ("fedtrack", "c_flag", "c_flag, rates of Table 1"), "not stored"),
    (not_divided, ("fedtrack", "fedtrack, one by one", "c_flag", "c_flag, rates of Table 1"), "not divided"),
    (not_divided_elsewhere, ("fedtrack, a table elsewhere",), "not divided"),
    (one_step_late, ("fedtrack", "c_flag", "c_flag, rates of Table 1"), None),
    (constant_alpha_times(-1), ("c_flag",), "memory sign"),
    (constant_alpha_times(0), ("c_flag",), "no memory"),
    (constant_alpha_times(1 / 3), ("c_flag",), "memory divided"),
    (lambda_sign, ("c_flag, rates of Table 1",), "alpha sign"),
    (alpha_kept, ("c_flag, rates of Table 1",), "alpha kept"),
    (no_L, ("c_flag, rates of Table 1",), "no L"),
    (proximal_sign, ("fedprox",), "sign"),
    (around_the_first_model, ("fedprox",), "first model"),
    (whole_gradient, ("mimelite",), "no factor"),
    (momentum_never_updated, ("mimelite",), "never"),
    (fisher_times(2), ("ewc, what Adam is given", "ewc, plain steps"), "double"),
    (fisher_times(-1), ("ewc, what Adam is given", "ewc, plain steps"), "sign"),
    (fisher_of_the_mean, ("ewc, what Adam is given", "ewc, plain steps"), "batch"),
    (around_x_t, ("ewc, what Adam is given", "ewc, plain steps"), "around x"),
    (memory_not_replayed, ("er_ring",), "no memory"),
    (replay_added, ("er_ring",), "sum"),
]


def only(slip, row):
    """The words of this slip in this row, alone."""
    return () if slip is None else (ALGORITHMS[row].slips()[slip],)


@pytest.mark.parametrize(
    ("plant", "method", "slip"),
    [
        pytest.param(plant, method, slip, id=f"{number}-{slip}-{method}")
        for number, (plant, methods, slip) in enumerate(PLANTED)
        for method in methods
    ],
)
def test_planted_slips_are_named(plant, method, slip, monkeypatch):
    plant(monkeypatch)
    report = report_of(method)
    assert report.refuted
    assert report.slips == only(slip, METHODS[method][0]), str(report)


@pytest.mark.parametrize(
    ("row", "functions", "slip"),
    [
        ("c_flag_adaptive", {"round_step": bridge_round(flagged(AVERAGE), moves="delta")}, "average case"),
        ("c_flag_adaptive", {"round_step": bridge_round(flagged(LITERAL), moves="delta")}, "printed"),
        ("fedtrack", {"round_step": bridge_round(tracked(estimate=MINIBATCH))}, "stochastic"),
        # Plain steps take the penalty at their end, see `ewc`.
        ("ewc", {"client_step": ewc_client(PLAIN, undone=False)}, None),
    ],
)
def test_what_the_bridge_does_otherwise_by_choice_is_refuted(row, functions, slip):
    report = conform(row, **functions, numbers="float64", assume=["equal-steps"] if "round_step" in functions else [])
    assert report.refuted
    assert report.slips == only(slip, row), str(report)
