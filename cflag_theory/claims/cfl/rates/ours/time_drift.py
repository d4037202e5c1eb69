"""What CFL gains under time drifts: exact past losses and a constant step average them; FedAvg does not."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
