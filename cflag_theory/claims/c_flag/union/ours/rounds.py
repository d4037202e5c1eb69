"""What we prove instead of Lemma 3 and the text around it: rounds, descent and convergence on the union."""

from cflag_theory.claims.c_flag.union.tracking import Tracked
from cflag_theory.claims.c_flag.vectors import LOCAL_STEP, ROUND_START, TABLE, tau, x_local
from cflag_theory.claims.engine.notation import components, g, x_t
from cflag_theory.claims.pages.page import load

current = Tracked(g, components, x_t, x_local, tau, (ROUND_START, LOCAL_STEP, TABLE))
#: e_t: how far S is from E times grad g(x_t).
error = current.deviation
__getattr__, CLAIMS = load(__file__, globals())
algorithm1_descent = CLAIMS["ours.algorithm1_descent"]
