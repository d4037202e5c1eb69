"""FedProx in the style of Flower, with lists of arrays: cflag conform docs/examples/conform_flower.py."""

ALGORITHM = "fedprox"


class Client:
    """Trains on its batches."""

    def __init__(self, batches):
        self.batches = batches

    def fit(self, parameters, config):
        (start,) = parameters
        w = start
        for rows, targets in self.batches:
            gradient = 2 * rows.T @ (rows @ w - targets) / len(targets)
            w = w - config["lr"] * (gradient + config["mu"] * (w - start))
        return [w]


class Strategy:
    """Averages what clients return."""

    def aggregate_fit(self, results):
        total = sum(count for _, count in results)
        return [sum(count * layer for (layer,), count in results) / total]


def client_step(x, batches, lr, mu):
    return Client(batches).fit([x], {"lr": lr, "mu": mu})[0]


def server_step(models, weights, participants):
    return Strategy().aggregate_fit([([model], weights[i]) for i, model in zip(participants, models, strict=True)])[0]
