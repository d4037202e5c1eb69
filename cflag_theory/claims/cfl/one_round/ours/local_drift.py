"""The local drifts of a round, from one client's path to their mean over steps and clients."""

from cflag_theory.claims.pages.page import load

__getattr__, _ = load(__file__, globals())
