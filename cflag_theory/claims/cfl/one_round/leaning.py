"""Local steps that do not increase distances: their gradients do not lean along the noises that moved them."""

from cflag_theory.claims.pages.page import load

__getattr__, _ = load(__file__, globals())
