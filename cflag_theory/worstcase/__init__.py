"""Exact worst cases of federated methods for every number of clients: `worst.worst_case`.

`methods` poses a row of the algorithm table as a `model.Problem` in `vectors`; `solving` solves it in floats, which
proves nothing; `certificate` proves the upper end in fractions, and `attaining` reaches the lower end by a run of the
simulator.
"""
