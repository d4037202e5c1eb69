"""What each figure is drawn from: its data are compared with a form before anything is drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from cflag_theory.errors import InvalidInput
from cflag_theory.figures.style import plain
from cflag_theory.public import Rule, one_of
from cflag_theory.reading import ANY, NUMBER, TABLE, TRUTH, WORD, Each, Form, Maybe, filled, integer, numbers, unfit


def _numbers(like: str = "") -> Rule:
    """`numbers`, at least one."""
    rule = numbers(like)
    return rule._replace(fits=lambda value: rule.fits(value) and len(value) > 0, wanted="a list of numbers, not empty")


_PAIR = Rule(lambda value: numbers().fits(value) and len(value) == 2 and None not in value, "two numbers")


def _is_path(value: Any) -> bool:
    two = value if type(value) in (list, tuple) and len(value) == 2 else ((), ())
    return filled().fits(two[0]) and numbers().fits(two[1]) and len(two[0]) == len(two[1])


_PATH = Rule(_is_path, "places and as many heights")
_BAND = {"mean": filled("t"), "low": filled("t"), "high": filled("t")}
_MEAN = {"mean": NUMBER, "low": NUMBER, "high": NUMBER}
_CURVE = {"min_mean": _numbers("T"), "mean": _numbers("T"), "fit": Maybe({"interval": _PAIR, "slope": NUMBER})}
_RATE = {
    "title": WORD,
    "horizons": filled("T"),
    "curves": Each(Maybe(_CURVE)),
    "bounds": [{"claim": WORD, "proved": TRUTH, "quantity": one_of("f", "g", "h"), "values": _numbers("T")}],
    **dict.fromkeys(("power", "alpha_factor", "alpha", "c", "m", "E"), NUMBER),
}
_GROUP = {"label": WORD, **{key: numbers("x") for key in ("x", "mean", "low", "high")}, "diverged": integer(0)}
_ALONG = {"at": filled("at"), "clients": [filled("at")], "mean": filled("at")}
_PANEL: dict[str, Form] = {
    **dict.fromkeys(("title", "ylabel", "range_words"), WORD),
    **dict.fromkeys(("printed", "range"), NUMBER),
    **dict.fromkeys(("u", "proved"), filled("u")),
    "instances": Each(filled("u")),
}
_METHOD = {"method": WORD, "mode": Maybe(WORD)}
_NQM: dict[str, Form] = {
    "method": one_of("FedAvg", "FedProx", "CFL", "CFL-0.001", "CFL-0.01"),
    "rate": NUMBER,
    "mean": filled("t"),
}
_NQM |= {"low": Maybe(filled("t")), "high": Maybe(filled("t"))}
#: Of the data of a figure, by its name; of figures that take several, of each.
FORMS: Mapping[str, Form] = {
    "rate_figure": _RATE,
    "rate_details_figure": _RATE,
    "rate_family_figure": {"varied": WORD, "values": filled("study"), "studies": [_RATE]},
    "sharp_figure": {
        "where": WORD,
        "exact": TRUTH,
        "u": filled("u"),
        "printed": filled("u"),
        "supremum": Maybe(_numbers("u")),
        **dict.fromkeys(("range", "largest"), Maybe(NUMBER)),
        **dict.fromkeys(("at", "printed_at"), NUMBER),
        "along_u": [
            {"n": integer(1), "E": integer(1), "worst": filled("u"), "met_u": numbers("met"), "met": numbers("met")}
        ],
        "along_E": [{"n": integer(1), "E": filled("E"), "worst": filled("E"), "met": numbers("E")}],
    },
    "step_sizes_figure": {
        **dict.fromkeys(("point", "x_range", "y_range"), _PAIR),
        "x": filled("x"),
        "safe": [numbers()],
        "axes": [[WORD]],
        "numbers": Each(NUMBER),
        "answer": WORD,
    },
    "tasks_figure": {
        **dict.fromkeys(("title", "finding"), WORD),
        "tasks": integer(1),
        "runs": [{"learner": WORD, "along": _BAND, "learned": [_MEAN], "average": [_MEAN], "ends": numbers()}],
    },
    "forgetting_figure": {
        **dict.fromkeys(("study", "level", "words", "algorithm"), WORD),
        "Gamma": _BAND,
        "largest": _MEAN,
        "server_interfering": filled(),
    },
    "adaptive_rates_figure": {
        **dict.fromkeys(("title", "finding"), WORD),
        "rules": [{"words": WORD, "diverged": integer(0), "values": Each(_MEAN)}],
    },
    "cfl_rate_figure": {
        **dict.fromkeys(("title", "finding"), WORD),
        "horizons": filled("T"),
        "floor": filled("T"),
        "methods": [
            {"method": one_of("FedAvg", "CFL"), "band": [_PAIR], "last": filled("T"), "printed": filled("T")}
            | {"mean": _numbers("T"), "ours": _numbers("T")}
        ],
    },
    "nqm_figure": {"title": WORD, "curves": [_NQM]},
    "worst_case_figure": {
        **dict.fromkeys(("upper", "lower"), NUMBER),
        "unit": WORD,
        "curves": {
            "apart": _ALONG,
            "start": _ALONG,
            "rounds": filled(),
        },
    },
    "published_figure": {
        "compared": [{"name": WORD, "constant": TRUTH, "E": integer(1), "T": integer(1), "factor": NUMBER}]
    },
    "sharp_plane_figure": {
        **dict.fromkeys(("statement", "asked"), WORD),
        **dict.fromkeys(("point", "y_range"), _PAIR),
        **dict.fromkeys(("paper", "true"), _PATH),
        "axes": [[WORD]],
        "numbers": Each(NUMBER),
    },
    "floors_figure": {
        **dict.fromkeys(("title", "quantity", "words"), WORD),
        **dict.fromkeys(("T", "measured", "predicted"), filled("T")),
    },
    "expectation_figure": dict.fromkeys(("t", "drawn_once", "drawn_every_round"), filled("t")),
    "drift_figure": {"drift": _PANEL, "error": _PANEL},
    "series_figure": {"x": WORD, "y": WORD, "title": WORD, "groups": [_GROUP | {"slope": Maybe(NUMBER)}]},
    "curves_figure": {"y": WORD, "title": WORD, "groups": [_GROUP]},
    "map_figure": {**dict.fromkeys(("x", "by", "y", "title"), WORD), "columns": ANY, "rows": ANY, "mean": ANY},
    "bridge_accuracy_figure": {"title": WORD, "tasks": integer(1), "methods": [_METHOD | {"accuracy_by_task": TABLE}]},
    "bridge_gamma_figure": {"title": WORD, "tasks": integer(1), "rounds": integer(1), "methods": [_METHOD]},
    "bridge_levels_figure": {"title": WORD, "axis": WORD, "groups": [_METHOD | {"label": WORD}]},
    "bridge_rounds_figure": {"title": WORD, "methods": [{"method": WORD, "accuracy": _BAND, "loss": _BAND}]},
}
#: Figures of several results.
SEVERAL: tuple[str, ...] = (
    "rate_figure",
    "rate_details_figure",
    "sharp_figure",
    "forgetting_figure",
    "adaptive_rates_figure",
)
SEVERAL += ("cfl_rate_figure", "nqm_figure", "floors_figure", "bridge_gamma_figure")


def of_form(draw: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The figure, which raises `InvalidInput` where its data are not what it is drawn from."""
    name = draw.__name__

    @functools.wraps(draw)
    def drawn(data: Any) -> Any:
        form, found = FORMS[name], plain(data)
        if name in SEVERAL and not isinstance(found, Mapping):
            form, found = [form], [plain(one) for one in found] if isinstance(found, list | tuple) else found
        if wrong := unfit(found, form) or ("" if found else "all of it, which is empty"):
            raise InvalidInput(f"{name} is drawn from other data, see {wrong}: pass what the study gives")
        return draw(data)

    return drawn
