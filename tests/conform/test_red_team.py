"""Attacks on `conform`: right code in many styles is not refuted, and no planted slip is silent.

Right code is text; a slip is an edit of it.
"""

import importlib.util
import textwrap
from itertools import combinations

import pytest

from cflag_theory.conform import ALGORITHMS, conform
from cflag_theory.conform.case import draw
from cflag_theory.errors import InvalidInput

NAMES = ("client_step", "server_step", "round_step")


def functions_of(source):
    module = {}
    exec(compile(textwrap.dedent(source), "<attack>", "exec"), module)
    return {name: module[name] for name in NAMES if name in module}


def report_of(algorithm, source, **options):
    return conform(algorithm, **functions_of(source), **({"problems": 4, "rounds": 3} | options))


SERVER = """
def server_step(models, weights, participants):
    total = sum(weights[i] for i in participants)
    return sum(weights[i] * model for i, model in zip(participants, models)) / total
"""

#: Local steps of FedAvg (mu = 0) and FedProx, by style; FIRST are further arguments, PULL the proximal term.
LOCAL = {
    "out of place": """
def client_step(x, grad, lr, steps, FIRST):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) + PULL)
    return y
""",
    "in place on a copy": """
def client_step(FIRST, steps, lr, grad, x):
    y = x.copy()
    for k in range(steps):
        y -= lr * (grad(y, k) + PULL)
    return {"x_i": y}
""",
    "displacement": """
def client_step(x, grad, lr, steps, FIRST):
    move = 0 * x
    for k in range(steps):
        y = x + move
        move = move - lr * (grad(y, k) + PULL)
    return {"delta": move}
""",
    "batches": """
def client_step(x, batches, lr, FIRST):
    y = x
    for rows, targets in batches:
        y = y - lr * (2 * rows.T @ (rows @ y - targets) / len(targets) + PULL)
    return y
""",
    "generator of samples": """
def client_step(x, data, order, lr, FIRST):
    rows, targets = data
    y = x
    for a, b in ((rows[j], targets[j]) for j in order):
        y = y - lr * (2 * (a @ y - b) * a + PULL)
    return (y,)
""",
    "list of numbers": """
def client_step(x, component_grad, order, lr, FIRST):
    y = x
    for j in order:
        y = y - lr * (component_grad(j, y) + PULL)
    return list(y)
""",
    "tuple of numbers": """
def client_step(x, component_grad, order, lr, FIRST):
    y = x
    for j in order:
        y = y - lr * (component_grad(j, y) + PULL)
    return tuple(y)
""",
    "layers": """
def client_step(x, grad, lr, steps, FIRST, momentum=0, weight_decay=0):
    layers = [x.copy()]
    for _ in range(steps):
        y = layers[0]
        layers[0] = y - lr * (grad(y) + PULL)
    return layers
""",
    "dataclass": """
from dataclasses import dataclass
@dataclass
class Sent:
    x_i: object
def client_step(x, grad, lr, steps, FIRST):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) + PULL)
    return Sent(y)
""",
    "named tuple": """
from collections import namedtuple
Sent = namedtuple("Sent", "x_i")
def client_step(x, grad, lr, steps, FIRST):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) + PULL)
    return Sent(x_i=y)
""",
    "closure": """
def make():
    def step(y, x, g, lr, FIRST):
        return y - lr * (g + PULL)
    def client_step(x, grad, lr, steps, FIRST):
        y = x
        for _ in range(steps):
            y = step(y, x, grad(y), lr, FIRST)
        return y
    return client_step
client_step = make()
""",
    "class": """
class Trainer:
    def client_step(self, x, grad, lr, steps, FIRST):
        self.y = x
        for _ in range(steps):
            y = self.y
            self.y = y - lr * (grad(y) + PULL)
        return self.y
client_step = Trainer().client_step
""",
    "everything at once": """
def client_step(at, FIRST):
    x = y = at.x
    for k in range(at.steps):
        y = y - at.lr * (at.grad(y, k) + PULL)
    return y
""",
    "a buffer of its own": """
def client_step(x, grad, lr, steps, state, FIRST):
    y = state.setdefault("y", x.copy())
    y[:] = x
    for _ in range(steps):
        y -= lr * (grad(y) + PULL)
    return y
""",
    "float32": """
import numpy as np
def client_step(x, batches, lr, FIRST):
    x = x.astype(np.float32)
    y = x
    for rows, targets in batches:
        rows, targets = rows.astype(np.float32), targets.astype(np.float32)
        y = y - np.float32(lr) * (2 * rows.T @ (rows @ y - targets) + np.float32(PULL))
    return y
""",
    "float32 gradients in a float64 model": """
import numpy as np
def client_step(x, grad, lr, steps, FIRST):
    y = x.astype(float)
    for _ in range(steps):
        y = y - lr * (grad(y.astype(np.float32)).astype(float) + PULL)
    return y
""",
    "float64": """
import numpy as np
def client_step(x, data, order, lr, FIRST):
    a, b = np.asarray(data[0], float), np.asarray(data[1], float)
    y = np.asarray(x, float)
    x = y
    for j in order:
        y = y - float(lr) * (2 * a[j] * (np.dot(a[j], y) - b[j]) + PULL)
    return y
""",
}
JAX = """
import jax, jax.numpy as jnp
def loss(y, rows, targets):
    return jnp.mean((rows @ y - targets) ** 2)
def client_step(x, batches, lr, FIRST):
    x = y = jnp.asarray(x)
    for rows, targets in batches:
        y = y - lr * (jax.grad(loss)(y, jnp.asarray(rows), jnp.asarray(targets)) + PULL)
    return y
"""
TORCH = {
    "tensors": """
import torch
def client_step(x, batches, lr, FIRST):
    y = x.clone().requires_grad_(True)
    for rows, targets in batches:
        (g,) = torch.autograd.grad(((rows @ y - targets) ** 2).mean(), y)
        with torch.no_grad():
            y -= lr * (g + PULL)
    return y
""",
    "module": """
import torch
def client_step(model, x, batches, lr, FIRST):
    sgd = torch.optim.SGD(model.parameters(), lr=lr)
    for rows, targets in batches:
        sgd.zero_grad()
        torch.nn.functional.mse_loss(model(rows)[:, 0], targets).backward()
        y = model.weight.detach()[0]
        model.weight.grad += (PULL)[None] if MU else 0
        sgd.step()
    return model
""",
    "module through at": """
import torch
def client_step(at, x, FIRST):
    model = at.model
    for rows, targets in at.batches:
        (g,) = torch.autograd.grad(torch.nn.MSELoss()(model(rows), targets[:, None]), model.weight)
        with torch.no_grad():
            y = model.weight[0]
            model.weight -= at.lr * (g + PULL)
    return model
""",
    ".float()": """
import torch
def client_step(x, batches, lr, FIRST):
    x = y = x.float()
    for rows, targets in batches:
        rows, targets = rows.float(), targets.float()
        y = y - lr * (2 * rows.T @ (rows @ y - targets) + PULL)
    return y.double()
""",
}


def local(source, mu):
    first, pull = ("mu", "mu * (y - x)") if mu else ("start", "0 * y")
    source = source.replace("at, FIRST", "at").replace(
        "PULL", pull.replace("mu", "at.mu") if "at.batches" in source else pull
    )
    return source.replace("FIRST", first).replace("MU", str(mu))


def with_at(source, mu):
    found = local(source, mu)
    return found.replace("mu * (y", "at.mu * (y") if "(at)" in found else found


RIGHT = [
    (("fedprox" if mu else "fedavg"), name, with_at(source, mu) + server)
    for name, source in (LOCAL | {f"torch, {name}": source for name, source in TORCH.items()} | {"JAX": JAX}).items()
    for mu in (False, True)
    for server in ("", SERVER)[:: -1 if mu else 1][:1]
]
RIGHT += [
    ("fedavg", f"server: {name}", source)
    for name, source in {
        "models": SERVER,
        "displacements": """
def server_step(x, deltas, weights, participants):
    p = [weights[i] for i in participants]
    return x + sum(w * d for w, d in zip(p, deltas)) / sum(p)
""",
        "received": """
def server_step(received, participants, weights):
    new, total = 0, 0
    for i, one in zip(participants, received):
        new, total = new + weights[i] * one["x_i"], total + weights[i]
    return {"x": new / total}
""",
        "a step of the server": """
def server_step(x, deltas, weights, participants, server_lr):
    p = [weights[i] for i in participants]
    return x + server_lr * sum(w * d for w, d in zip(p, deltas)) / sum(p)
""",
        "lists": """
def server_step(models, weights, participants):
    total = sum(weights[i] for i in participants)
    return [sum(weights[i] * m[j] for i, m in zip(participants, models)) / total for j in range(2)]
""",
        "at": """
def server_step(at):
    p = [at.weights[i] for i in at.participants]
    return sum(w * m for w, m in zip(p, at.models)) / sum(p)
""",
        "a buffer": """
def server_step(x, models, weights, participants, state):
    new = state.setdefault("new", 0 * x)
    new[:] = 0
    for i, model in zip(participants, models):
        new += weights[i] * model / sum(weights[j] for j in participants)
    return new
""",
        "a round": """
def round_step(x, clients):
    new, total = 0 * x, sum(client.weight for client in clients)
    for client in clients:
        y = x
        for k in range(client.steps):
            y = y - client.lr * client.grad(y, k)
        new = new + client.weight / total * y
    return new
""",
        "a round that counts samples": """
def round_step(x, clients):
    new, total = 0 * x, sum(client.n for client in clients)
    for client in clients:
        y = x
        for _ in range(client.steps):
            y = y - client.lr * client.grad(y)
        new = new + client.n * y / total
    return new
""",
    }.items()
]

SCAFFOLD = """
def client_step(x, c, c_i, grad, lr, steps):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) - c_i + c)
    new = c_i - c + (x - y) / (steps * lr)
    return {"x_i": y, "c_i": new}
def server_step(x, deltas, server_lr, c, delta_c, N):
    return {"x": x + server_lr * sum(deltas) / len(deltas), "c": c + sum(delta_c) / N}
"""
FEDPROX = with_at(LOCAL["out of place"], True) + SERVER
FEDNOVA = """
def server_step(x, deltas, weights, steps):
    tau = sum(w * e for w, e in zip(weights, steps))
    return x + tau * sum(w * d / e for w, d, e in zip(weights, deltas, steps))
"""
FEDDYN = """
def client_step(x, h_i, grad, lr, steps, alpha):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) - h_i + alpha * (y - x))
    return {"x_i": y, "h_i": h_i - alpha * (y - x)}
def server_step(models, x, h, alpha, N):
    h = h - alpha * sum(m - x for m in models) / N
    return {"x": sum(models) / len(models) - h / alpha, "h": h}
"""
MIMELITE = """
def client_step(x, s, gamma, grad, full_grad, lr, steps):
    y = x
    for _ in range(steps):
        y = y - lr * ((1 - gamma) * grad(y) + gamma * s)
    return {"x_i": y, "g_i": full_grad(x)}
def server_step(models, g_i, s, gamma):
    return {"x": sum(models) / len(models), "s": (1 - gamma) * sum(g_i) / len(g_i) + gamma * s}
"""
C_FLAG = """
def client_step(x, g, component_grad, order, n, lr, steps):
    table = [component_grad(j, x) for j in range(n)]
    correction = g - sum(table) / n
    y = x
    for k in range(steps):
        if k > 0:
            table[order[k]] = component_grad(order[k], y)
        y = y - lr * (sum(table) / n + correction)
    return y
def server_step(x, deltas, weights, memory_grad, alpha):
    return x + sum(w * d for w, d in zip(weights, deltas)) - alpha * memory_grad(x)
"""
ADAM = """
def client_step(x, grad, lr, steps, beta1, beta2, eps):
    y, m, v = x, 0 * x, 0 * x
    for k in range(1, steps + 1):
        g = grad(y)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        y = y - lr * (m / (1 - beta1**k)) / ((v / (1 - beta2**k)) ** 0.5 + eps)
    return y
"""
ER = """
def client_step(x, grad, memory_component, memory_order, lr, steps):
    y = x
    for k in range(steps):
        y = y - lr * (grad(y, k) + memory_component(memory_order[k], y)) / 2
    return y
"""
SOURCES = {
    "fedavg": with_at(LOCAL["out of place"], False) + SERVER,
    "scaffold": SCAFFOLD,
    "fedprox": FEDPROX,
    "fednova": FEDNOVA,
    "feddyn": FEDDYN,
    "mimelite": MIMELITE,
    "c_flag": C_FLAG,
    "local_adam": ADAM,
    "er": ER,
}
RIGHT += [
    (name, f"{kind} numbers", source)
    for name, source in SOURCES.items()
    for kind in ("auto", "float64", "float32")
    if not (name == "fedavg" and kind == "auto")
]

#: Right text and what stands in its place, by algorithm: bugs of the field.
EDITS = {
    "fedavg": [
        ("sum(weights[i] * model for i, model in zip(participants, models)) / total", "sum(models) / len(models)"),
        ("weights[i] * model for i, model", "weights[0] * model for i, model"),
        ("weights[i] * model for i, model in zip(participants", "weights[-i] * model for i, model in zip(participants"),
        ("in zip(participants, models)", "in zip(participants, models[::-1])"),
        (" / total", ""),
        ("sum(weights[i] for i in participants)", "sum(weights)"),
        ("total = sum(weights[i] for i in participants)", "total = len(participants)"),
        ("range(steps)", "range(steps - 1)"),
        ("range(steps)", "range(steps + 1)"),
        ("range(steps)", "range(4)"),
        ("range(steps)", "range(2)"),
        ("grad(y)", "grad(x)"),
        ("grad(y)", "grad(start)"),
        ("grad(y)", "grad(y, 0)"),
        ("grad(y)", "grad(y) / 2"),
        ("y - lr", "y + lr"),
        ("y - lr", "y - lr * lr"),
        ("    return y", "    return y - x"),
        ("    return y", "    return x"),
        ("    y = x\n", "    y = start\n"),
        ("    y = x\n", "    y = x\n    x -= lr * 0 + x / 1000000000000\n"),
        ("def client_step(", "MEMORY = {}\ndef client_step(client, "),
    ],
    "fedprox": [
        ("mu *", "mu / 2 *"),
        ("mu *", "2 * mu *"),
        ("+ mu", "- mu"),
        ("mu * (y - x)", "mu * (y - y)"),
        ("mu * (y - x)", "mu * (x - y)"),
        ("mu * (y - x)", "(1 - mu) * (y - x)"),
        (" + mu * (y - x)", ""),
        ("zip(participants, models)) / total", "zip(participants, models)) / len(models)"),
    ],
    "scaffold": [
        ("- c_i + c)", "+ c_i - c)"),
        ("- c_i + c)", "+ c)"),
        ("- c_i + c)", ")"),
        ("c_i - c + (x - y)", "c_i + (x - y)"),
        ("(x - y) / (steps * lr)", "(x - y) / steps"),
        ("(x - y) / (steps * lr)", "(y - x) / (steps * lr)"),
        ("server_lr * sum(deltas)", "sum(deltas)"),
        ("server_lr * sum(deltas)", "server_lr * server_lr * sum(deltas)"),
        ("sum(deltas) / len(deltas)", "sum(deltas)"),
        ("sum(delta_c) / N", "sum(delta_c) / len(delta_c)"),
        ("c + sum(delta_c)", "c - sum(delta_c)"),
        ("c + sum(delta_c) / N", "c"),
        ('"c_i": new', '"c_i": c_i'),
    ],
    "fednova": [
        ("sum(w * e for w, e in zip(weights, steps))", "max(steps)"),
        ("sum(w * e for w, e in zip(weights, steps))", "sum(steps) / len(steps)"),
        ("w * d / e", "w * d"),
        ("tau * sum(w * d / e", "sum(w * d"),
        ("x + tau * sum(w * d / e for w, d, e in zip(weights, deltas, steps))", "x + sum(deltas) / len(deltas)"),
        ("w * d / e", "w * d / steps[0]"),
    ],
    "feddyn": [
        ("- h_i + alpha", "+ h_i + alpha"),
        ("c", "c"),
        ("- h / alpha", "+ h / alpha"),
        ("/ N\n", "/ len(models)\n"),
        ("h_i - alpha * (y - x)", "h_i + alpha * (y - x)"),
        (" + alpha * (y - x))", ")"),
    ],
    "mimelite": [
        ("gamma * s)", "0 * s)"),
        ("(1 - gamma) * grad(y) + gamma * s", "gamma * grad(y) + (1 - gamma) * s"),
        ("full_grad(x)", "full_grad(y)"),
        ("(1 - gamma) * sum(g_i)", "sum(g_i)"),
        ('"s": (1 - gamma) * sum(g_i) / len(g_i) + gamma * s', '"s": s'),
    ],
    "c_flag": [
        ("w * d for w, d in zip(weights, deltas)", "d / 3 for d in deltas"),
        ("table[order[k]] = component_grad(order[k], y)", "pass"),
        ("component_grad(order[k], y)", "component_grad(order[k], x)"),
        ("table[order[k]] =", "table[order[k - 1]] ="),
        ("g - sum(table) / n", "sum(table) / n - g"),
        ("+ correction", "+ 0 * correction"),
        (" - alpha * memory_grad(x)", ""),
        ("- alpha * memory", "+ alpha * memory"),
        ("memory_grad(x)", "memory_grad(x + sum(w * d for w, d in zip(weights, deltas)))"),
        ("alpha * memory_grad(x)", "alpha / 3 * memory_grad(x)"),
        ("if k > 0", "if k > 1"),
    ],
    "local_adam": [
        ("m / (1 - beta1**k)", "m"),
        ("beta1 * m + (1 - beta1) * g", "(1 - beta1) * m + beta1 * g"),
        ("(1 - beta2) * g * g", "(1 - beta2) * g"),
        ("+ eps)", "+ 2 * eps)"),
        ("beta2**k", "beta1**k"),
    ],
    "er": [
        (") / 2", ")"),
        ("memory_component(memory_order[k], y)", "memory_component(memory_order[k], x)"),
        ("memory_order[k], y", "memory_order[0], y"),
    ],
}
EDITS["feddyn"] = [edit for edit in EDITS["feddyn"] if edit[0] != edit[1]]
SLIPS = [(name, *edit) for name, edits in EDITS.items() for edit in edits]


def skip_without(source):
    for library in ("torch", "jax"):
        if f"import {library}" in source and importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")


@pytest.mark.parametrize(("algorithm", "style", "source"), RIGHT, ids=lambda value: value[:40].split("\n")[0])
def test_right_code_is_not_refuted(algorithm, style, source):
    skip_without(source)
    numbers = style.split()[0] if style.split()[0] in ("float64", "float32") and "numbers" in style else "auto"
    found = report_of(algorithm, source, numbers=numbers)
    assert not found.refuted, str(found)
    if style in ("JAX", "torch, .float()") or style.startswith("float32"):
        assert "to float32's precision" in str(found)
        assert "run it in float64 to see more" in str(found)


@pytest.mark.parametrize(("algorithm", "right", "wrong"), SLIPS)
def test_no_slip_is_silent(algorithm, right, wrong):
    source = SOURCES[algorithm]
    assert source.count(right) >= 1
    source = source.replace(right, wrong, 1)
    if "MEMORY" in wrong:
        source = source.replace("    y = x\n", "    y = MEMORY.get(client, x)\n", 1)
        source = source.replace("    return y\n", "    MEMORY[client] = y\n    return y\n", 1)
    outcome = outcome_of(algorithm, source)
    assert any(words in outcome for words in (": refuted", "in place", "run again", "raised")), outcome


def outcome_of(algorithm, source, **options):
    """The report, or the error, in words."""
    try:
        return str(report_of(algorithm, source, **options))
    except InvalidInput as error:
        return str(error)


UNWEIGHTED = "def server_step(models): return sum(models) / len(models)"
UNWEIGHTED_ROUND = """
def round_step(x, clients):
    new = 0 * x
    for client in clients:
        y = x
        for k in range(client.steps):
            y = y - client.lr * client.grad(y, k)
        new = new + y / len(clients)
    return new
"""


@pytest.mark.parametrize(
    ("algorithm", "source", "takes"),
    [
        ("fedavg", UNWEIGHTED, ("equal-weights",)),
        ("fedprox", UNWEIGHTED, ("equal-weights",)),
        ("fedavg", UNWEIGHTED_ROUND, ("equal-weights",)),
        ("ewc", UNWEIGHTED, ("equal-weights",)),
        ("fednova", UNWEIGHTED, ("equal-weights", "equal-steps")),
        ("scaffold", SCAFFOLD.replace("server_lr *", "1 *"), ("server-lr-1",)),
        ("scaffold", SCAFFOLD.replace("/ N", "/ len(delta_c)"), ("all-clients",)),
        ("fedavg", "def server_step(models, weights): return sum(w * m for w, m in zip(weights, models, strict=True))",
         ("all-clients",)),
        ("fedavg", UNWEIGHTED_ROUND.replace("client.steps", "clients[0].steps").replace("/ len(clients)", "* client.n")
         .replace("return new", "return new / sum(client.n for client in clients)"), ("equal-steps",)),
    ],
)  # fmt: skip
def test_what_code_takes_for_granted_is_its_own_finding(algorithm, source, takes):
    found = report_of(algorithm, source)
    assert found.refuted
    assert found.takes == takes
    assert "your code takes " in str(found)
    assert not report_of(algorithm, source, assume=takes).refuted


def test_who_misuses_weights_does_not_take_equal_ones():
    found = report_of("fedavg", SOURCES["fedavg"].replace("weights[i] * model", "weights[0] * model"))
    assert "your code takes equal weights" not in str(found)
    found = report_of("fedavg", SOURCES["fedavg"].replace("weights[i]", "weights[-i]"))
    assert found.takes == ("equal-weights",)
    assert "your code is right only with equal weights" in str(found)


def test_a_step_size_that_is_asked_for_is_not_granted():
    source = "def server_step(models, weights, server_lr, participants):" + SERVER.split(":", 1)[1]
    assert report_of("fedavg", source).takes == ("server-lr-1",)
    assert not report_of("fedavg", SERVER).refuted


def test_a_slip_is_named_beside_what_is_taken_for_granted():
    source = SCAFFOLD.replace("server_lr *", "1 *").replace("- c_i + c)", "+ c_i - c)")
    found = report_of("scaffold", source)
    assert (found.slips, found.under, found.takes) == (("sign of c - c_i",), ("server-lr-1",), ())


def test_single_precision_does_not_hide_the_slip_of_the_next_round():
    source = SCAFFOLD.replace("    y = x\n", "    x = x.astype('float32')\n    y = x\n")
    assert not report_of("scaffold", source).refuted
    found = report_of("scaffold", source.replace("- c_i + c)", "+ c_i - c)"))
    assert found.difference.t == 1
    assert found.slips == ("sign of c - c_i",)
    assert "line 3 (x = x.astype('float32'))" in found.cast or "line 3" in found.cast


def test_a_small_defect_in_double_precision_is_refuted():
    source = SOURCES["fedavg"].replace("grad(y)", "(grad(y) + 1 / 10**9)")
    found = report_of("fedavg", source, numbers="float64")
    assert found.refuted
    assert "no float32 is seen in your code" in str(found)
    # The same in single precision is not called right without a word.
    assert "Differences below float32's rounding are not seen" in outcome_of("fedavg", source, numbers="float32")


def test_no_parameter_is_special():
    """A slip such as 1 - mu in place of mu shows: no simple expressions of two parameters are equal."""
    for kind in ALGORITHMS.values():
        case = draw(0, parameters=kind.parameters)
        numbers = {"lr": case.lr, "server_lr": case.server_lr, **case.parameters}
        for value in numbers.values():
            assert len({value, 1 - value, value / 2, 2 * value, 1 / value, 1 + value}) == 6
        for one, other in combinations(numbers.values(), 2):
            assert one not in (other, 1 - other)
        assert len(set(case.weights)) > 1
        assert len(set(case.steps)) > 1


def test_seconds_are_those_of_the_users_own_code():
    # Waiting, imports and our gradients do not count.
    slow = "import time\ndef client_step(x):\n    time.sleep(0.15)\n    return x\n"
    assert report_of("fedavg", slow, seconds=0.1, problems=1, rounds=1).refuted
    with pytest.raises(InvalidInput, match=r"took more than 0\.1 s"):
        report_of("fedavg", "def client_step(x):\n    while True:\n        pass\n", seconds=0.1)
    with pytest.raises(InvalidInput, match=r"took more than"):
        report_of("fedavg", "import time\ndef client_step(x):\n    time.sleep(99)\n", seconds=0.05)
