"""SCAFFOLD, option II, in NumPy: cflag conform docs/examples/conform_scaffold.py."""

ALGORITHM = "scaffold"


def client_step(x, c, c_i, grad, lr, steps):
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) - c_i + c)
    return {"x_i": y, "c_i": c_i - c + (x - y) / (steps * lr)}


def server_step(x, deltas, server_lr, c, delta_c, N):
    return {"x": x + server_lr * sum(deltas) / len(deltas), "c": c + sum(delta_c) / N}
