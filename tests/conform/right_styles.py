"""Right code as text, by style: the local steps of FedAvg and FedProx, and their server."""

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
