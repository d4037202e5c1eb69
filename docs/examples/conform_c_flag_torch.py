"""C-FLAG in PyTorch: cflag conform docs/examples/conform_c_flag_torch.py."""

import torch

ALGORITHM = "c_flag"


def gradient(model, rows, targets):
    loss = torch.nn.functional.mse_loss(model(rows)[:, 0], targets)
    return torch.autograd.grad(loss, model.weight)[0][0]


def client_step(model, data, order, g, lr):
    rows, targets = data
    samples = [(rows[j : j + 1], targets[j : j + 1]) for j in range(len(targets))]
    table = [gradient(model, *sample) for sample in samples]
    correction = g - torch.stack(table).mean(0)
    for k, j in enumerate(order):
        if k > 0:
            table[j] = gradient(model, *samples[j])
        with torch.no_grad():
            model.weight -= lr * (torch.stack(table).mean(0) + correction)
    return model


def server_step(x, deltas, weights, memory_grad, alpha):
    mean = sum(weight * delta for weight, delta in zip(weights, deltas, strict=True))
    return x + mean - alpha * memory_grad(x)
