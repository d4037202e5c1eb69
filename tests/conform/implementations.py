"""Right implementations in several styles, and bugs known from others' code, rebuilt from their description."""

import numpy as np

# NumPy, arguments by name.


def scaffold_client(x, c, c_i, grad, lr, steps):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) - c_i + c)
    return {"x_i": y, "c_i": c_i - c + (x - y) / (steps * lr)}


def scaffold_server(x, models, c, c_i, c_i_before, N):
    return {"x": sum(models) / len(models), "c": c + sum(a - b for a, b in zip(c_i, c_i_before, strict=True)) / N}


# Own state, displacements: what clients keep stands in `state`.


def scaffold_stateful_client(x, c, state, grad, lr, steps):
    mine = state.setdefault("c_i", 0 * x)
    y = 1 * x
    for _ in range(steps):
        y -= lr * (grad(y) + c - mine)
    new = mine - c + (x - y) / (steps * lr)
    state["c_i"] = new
    return {"delta": y - x, "delta_c": new - mine}


def scaffold_stateful_server(x, deltas, c, received, server_lr, N):
    change = sum(one["delta_c"] for one in received)
    return x + server_lr * sum(deltas) / len(deltas), c + change / N


# A whole round over client objects.


def fedavg_round(x, clients, weights, participants):
    total = sum(weights[i] for i in participants)
    new = 0 * x
    for client in clients:
        y = x
        for k in range(client.steps):
            y = y - client.lr * client.grad(y, k)
        new = new + weights[client.client] / total * y
    return new


# From the samples, without our gradients.


def fedprox_client(x, batches, lr, mu):
    y = x.copy()
    for rows, targets in batches:
        error = rows @ y - targets
        y = y - lr * (2 * rows.T @ error / len(targets) + mu * (y - x))
    return y


# C-FLAG with a class.


class CFlag:
    """Delayed gradients in a table of rows, tracking, one step on the memory."""

    def client_step(self, x, g, data, order, lr):
        rows, targets = data
        table = [2 * (row @ x - target) * row for row, target in zip(rows, targets, strict=True)]
        correction = g - sum(table) / len(table)
        y = x
        for k, j in enumerate(order):
            if k:
                table[j] = 2 * (rows[j] @ y - targets[j]) * rows[j]
            y = y - lr * (sum(table) / len(table) + correction)
        return y

    def server_step(self, x, deltas, weights, memory_grad, alpha):
        return x + sum(w * d for w, d in zip(weights, deltas, strict=True)) - alpha * memory_grad(x)


# PyTorch: a module, a loss, an optimiser.


def torch_fedprox_client(model, batches, lr, mu):
    import torch

    start = [one.detach().clone() for one in model.parameters()]
    optimiser = torch.optim.SGD(model.parameters(), lr=lr)
    for rows, targets in batches:
        optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(model(rows)[:, 0], targets)
        for now, then in zip(model.parameters(), start, strict=True):
            loss = loss + mu / 2 * ((now - then) ** 2).sum()
        loss.backward()
        optimiser.step()
    return model


def torch_scaffold_client(model, batches, c, c_i, x, lr, steps):
    import torch

    for rows, targets in batches:
        loss = torch.nn.functional.mse_loss(model(rows)[:, 0], targets)
        (gradient,) = torch.autograd.grad(loss, model.parameters())
        with torch.no_grad():
            model.weight -= lr * (gradient - c_i + c)
    y = model.weight.detach()[0]
    return y, c_i - c + (x - y) / (steps * lr)


def torch_ewc_client(model, batches, memory, start, x, lr, lam):
    import torch

    rows, targets = memory
    at_start = start.clone().requires_grad_(True)
    fisher = torch.zeros_like(start)
    for row, target in zip(rows, targets, strict=True):
        (gradient,) = torch.autograd.grad((row @ at_start - target) ** 2, at_start)
        fisher += gradient**2 / len(targets)
    for row, target in batches:
        loss = ((model(row)[:, 0] - target) ** 2).mean() + lam / 2 * (fisher * (model.weight[0] - start) ** 2).sum()
        (gradient,) = torch.autograd.grad(loss, model.parameters())
        with torch.no_grad():
            model.weight -= lr * gradient
    return model


def a_gem_client(x, grad, memory_grad, lr, steps):
    y = x
    for _ in range(steps):
        g, ref = grad(y), memory_grad(y)
        if g @ ref < 0:
            g = g - (g @ ref) / (ref @ ref) * ref
        y = y - lr * g
    return y


def adam_client(x, grad, lr, steps, beta1, beta2, eps):
    y, m, v = x, 0 * x, 0 * x
    for k in range(1, steps + 1):
        g = grad(y)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        y = y - lr * (m / (1 - beta1**k)) / (np.sqrt(v / (1 - beta2**k)) + eps)
    return y


#: Algorithm, functions, numbers.
RIGHT = {
    "SCAFFOLD in NumPy": ("scaffold", {"client_step": scaffold_client, "server_step": scaffold_server}, "exact"),
    "SCAFFOLD in float32": ("scaffold", {"client_step": scaffold_client, "server_step": scaffold_server}, "float32"),
    "SCAFFOLD with state": (
        "scaffold",
        {"client_step": scaffold_stateful_client, "server_step": scaffold_stateful_server},
        "exact",
    ),
    "SCAFFOLD in PyTorch": ("scaffold", {"client_step": torch_scaffold_client}, "torch32"),
    "FedAvg as a round": ("fedavg", {"round_step": fedavg_round}, "exact"),
    "FedProx from samples": ("fedprox", {"client_step": fedprox_client}, "exact"),
    "FedProx in PyTorch": ("fedprox", {"client_step": torch_fedprox_client}, "torch64"),
    "C-FLAG as a class": (
        "c_flag",
        {"client_step": CFlag().client_step, "server_step": CFlag().server_step},
        "float64",
    ),
    "EWC in PyTorch": ("ewc", {"client_step": torch_ewc_client}, "torch32"),
    "A-GEM": ("a_gem", {"client_step": a_gem_client}, "float32"),
    "Adam": ("local_adam", {"client_step": adam_client}, "float32"),
}

#: What some of them rely on.
ASSUME = {"SCAFFOLD in NumPy": ["server-lr-1"], "SCAFFOLD in float32": ["server-lr-1"]}


# Bugs.


def scaffold_sign(x, c, c_i, grad, lr, steps):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) + c_i - c)
    return {"x_i": y, "c_i": c_i - c + (x - y) / (steps * lr)}


def scaffold_lost_c_i(x, c, state, grad, lr, steps):
    mine = state.get("c_i", 0 * x)
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) + c - mine)
    new = mine - c + (x - y) / (steps * lr)
    # The new value stays in this call.
    return {"delta": y - x, "delta_c": new - mine}


def scaffold_zero_delta(x, c, state, grad, lr, steps):
    y = x
    mine = state.setdefault("c_i", 0 * x)
    for _ in range(steps):
        y = y - lr * (grad(y) + c - mine)
    state["c_i"] = mine - c + (x - y) / (steps * lr)
    # state["c_i"] is the new one already.
    return {"delta": y - x, "delta_c": state["c_i"] - state["c_i"]}


def scaffold_server_mean(x, models, c, c_i, c_i_before):
    change = [a - b for a, b in zip(c_i, c_i_before, strict=True)]
    return {"x": sum(models) / len(models), "c": c + sum(change) / len(change)}


def scaffold_sends_c_i(x, c, state, grad, lr, steps):
    mine = state.setdefault("c_i", 0 * x)
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) + c - mine)
    state["c_i"] = mine - c + (x - y) / (steps * lr)
    return {"delta": y - x, "delta_c": state["c_i"]}


def scaffold_counts_samples(x, c, c_i, grad, lr, steps, n):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) - c_i + c)
    return {"x_i": y, "c_i": c_i - c + (x - y) / (n * steps * lr)}


def feddyn_bracket(x, models, h, alpha, N):
    h = h - alpha / N * (sum(models) - x)
    return {"x": sum(models) / len(models) - h / alpha, "h": h}


def fedprox_shallow_copy(model, batches, lr, mu):
    import torch

    start = list(model.parameters())
    for rows, targets in batches:
        loss = torch.nn.functional.mse_loss(model(rows)[:, 0], targets)
        gradients = torch.autograd.grad(loss, model.parameters())
        with torch.no_grad():
            for now, then, gradient in zip(model.parameters(), start, gradients, strict=True):
                now -= lr * (gradient + mu * (now - then))
    return model


def a_gem_reference(x, grad, memory_grad, lr, steps):
    y = x
    for _ in range(steps):
        g, ref = grad(y), memory_grad(y)
        y = y - lr * (g - (g @ ref) / (ref @ ref) * ref if g @ ref < 0 else ref)
    return y


def fedprox_own_model(x, grad, lr, steps, mu, state):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) + mu * (y - state.get("last", x)))
    state["last"] = y
    return y


def fedprox_no_penalty(x, grad, lr, steps, mu):
    y = x
    for _ in range(steps):
        around = y
        y = y - lr * (grad(y) + mu * (y - around))
    return y


def feddyn_lost(x, h_i, grad, lr, steps, alpha):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) - h_i + alpha * (y - x))
    return {"x_i": y, "h_i": h_i + alpha * (y - x)}


def ewc_zero(x, grad, lr, steps):
    y = x
    for _ in range(steps):
        y = y - lr * grad(y)
    return y


def ewc_batch_fisher(x, grad, memory_grad, start, lr, steps, lam):
    fisher, y = memory_grad(start) ** 2, x
    for _ in range(steps):
        y = y - lr * (grad(y) + lam * fisher * (y - start))
    return y


def a_gem_always(x, grad, memory_grad, lr, steps):
    y = x
    for _ in range(steps):
        g, ref = grad(y), memory_grad(y)
        y = y - lr * (g - (g @ ref) / (ref @ ref) * ref)
    return y


def delayed_from_x0(x, g, data, order, lr, full_grad, state):
    rows, targets = data
    first = state.setdefault("first", x)
    table = [2 * (row @ first - target) * row for row, target in zip(rows, targets, strict=True)]
    y, correction = x, g - full_grad(x)
    for k, j in enumerate(order):
        if k:
            table[j] = 2 * (rows[j] @ y - targets[j]) * rows[j]
        y = y - lr * (sum(table) / len(table) + correction)
    return y


def algorithm_3(*, last_line):
    """Algorithm 3 as it is printed, to line 13 or to its end."""

    def client_step(x, g, memory_g, full_grad, component_grad, order, n, lr, steps, alpha, L, N, weight):
        table, mean, y = [component_grad(j, x) for j in range(n)], full_grad(x), x
        correction = g - mean
        for k, j in enumerate(order):
            if k:
                new = component_grad(j, y)
                mean, table[j] = mean + (new - table[j]) / n, new
            y = y - lr * (mean + correction)
        a = x - steps * lr * correction - y
        Lambda, rate = memory_g @ a, lr
        if Lambda > 0:
            rate = (1 - L * alpha) * Lambda / (L * N * weight * (a @ a))
        else:
            alpha = alpha * (1 - Lambda / (memory_g @ memory_g))
        a = rate / lr * a
        return {"delta": alpha * memory_g + (steps * rate * correction if last_line else 0) + a}

    return client_step


def memory_twice(x, deltas, memory_grad, alpha, N):
    return x + sum(deltas) / N - alpha * memory_grad(x) / N


def not_renormalised_displacements(x, deltas, weights, participants):
    return x + sum(weights[i] * delta for i, delta in zip(participants, deltas, strict=True))


#: Algorithm, functions, words of the slip that must be named, and whether clients are absent.
BUGS = {
    "sign of the correction": ("scaffold", {"client_step": scaffold_sign}, "sign of c - c_i", False),
    "c_i is lost": (
        "scaffold",
        {"client_step": scaffold_lost_c_i, "server_step": scaffold_stateful_server},
        "c_i is never written back",
        False,
    ),
    "the change of c_i is zero": (
        "scaffold",
        {"client_step": scaffold_zero_delta, "server_step": scaffold_stateful_server},
        "c_i is overwritten before c_i+ - c_i is taken",
        False,
    ),
    "c_i is sent whole": (
        "scaffold",
        {"client_step": scaffold_sends_c_i, "server_step": scaffold_stateful_server},
        "c_i+ is sent in place of c_i+ - c_i",
        False,
    ),
    "samples for steps": ("scaffold", {"client_step": scaffold_counts_samples}, "the number of samples times E", False),
    "a bracket ends too early": ("feddyn", {"server_step": feddyn_bracket}, "ends too early", False),
    "A-GEM follows the reference": ("a_gem", {"client_step": a_gem_reference}, "follows g_ref and not g", False),
    "mean over the participants": (
        "scaffold",
        {"client_step": scaffold_client, "server_step": scaffold_server_mean},
        "without the factor |S|/N",
        True,
    ),
    "proximal term around the own model": (
        "fedprox",
        {"client_step": fedprox_own_model},
        "around the wrong point",
        False,
    ),
    "proximal term of zero": ("fedprox", {"client_step": fedprox_no_penalty}, "always zero", False),
    "EWC without a penalty": ("ewc", {"client_step": ewc_zero}, "multiplied by zero", False),
    "EWC's Fisher of a batch": ("ewc", {"client_step": ewc_batch_fisher}, "square of the mean gradient", False),
    "A-GEM always projects": ("a_gem", {"client_step": a_gem_always}, "every gradient is projected", False),
    "the table is that of x_0": ("c_flag", {"client_step": delayed_from_x0}, "filled at x_0", False),
    "Algorithm 3 as printed": ("c_flag_adaptive", {"client_step": algorithm_3(last_line=True)}, "lines 4 to 14", False),
    "Algorithm 3 but for its last line": (
        "c_flag_adaptive",
        {"client_step": algorithm_3(last_line=False)},
        "lines 4 to 13",
        False,
    ),
    "memory divided twice": ("c_flag", {"server_step": memory_twice}, "divided by N twice", False),
    "weights of participants": (
        "fedavg",
        {"server_step": not_renormalised_displacements},
        "not renormalised",
        True,
    ),
    # What no catalogue has: a sign that turns one vector into another.
    "an unknown slip": ("feddyn", {"client_step": feddyn_lost}, "", False),
}
