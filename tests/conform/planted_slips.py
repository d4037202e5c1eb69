"""Right code of every algorithm, and slips that are planted into it as edits of its text."""

from right_styles import JAX, LOCAL, SERVER, TORCH, with_at

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
