"""Tables 4, 5, 6, 7 and 9, and the sentences about them.

The numbers are data, as printed strings; what the sentences make of them is recomputed by the check.
"""

from __future__ import annotations

from dataclasses import dataclass

from cflag_theory.claims.engine.claim import Claim, Part, Repair, Statement

BACKBONE = "FedAvg"
BASELINES = ("FedAvg", "FedProx", "MimeLite")
CORE_SET = "CFL-Core-Set"
REGULARIZATION = "CFL-Regularization"
WITH_PROX = "CFL-Regularization + FedProx"
ALL_LAYERS = "CFL-Regularization-Full"


@dataclass(frozen=True)
class Cell:
    """One method in one column or row of a table: top-1 accuracy and its deviation in percent."""

    table: str
    setting: str
    method: str
    accuracy: str
    deviation: str


def _rows(table: str, methods: tuple[str, ...], rows: str) -> tuple[Cell, ...]:
    """Rows "setting mean+-deviation ...", one entry a method; numbers stay strings, as printed."""
    cells = []
    for row in rows.strip().splitlines():
        setting, *entries = row.split()
        for method, entry in zip(methods, entries, strict=True):
            cells.append(Cell(table, setting, method, *entry.split("+-")))
    return tuple(cells)


#: The settings of Table 5, from the easiest to the hardest by the accuracy of FedAvg.
DATA_SETS = ("Fashion-MNIST", "CIFAR10", "CIFAR100")
OVERLAPS = ("0%", "25%", "50%")

TABLES: tuple[Cell, ...] = (
    *_rows(
        "4",
        (
            "PyHessian",
            "Fisher Information Matrix",
            "Naive (Small Set)",
            "Naive (Large Set)",
            "iCaRL (Small Set)",
            "iCaRL (Large Set)",
            "MCMC",
        ),
        "alpha=0.2 74.15+-0.66 73.70+-0.39 77.84+-0.06 78.90+-0.09 76.97+-0.16 77.09+-0.09 74.18+-0.08",
    ),
    *_rows(
        "5",
        (BACKBONE, REGULARIZATION, CORE_SET, ALL_LAYERS),
        """
        Fashion-MNIST 86.75+-0.14 87.02+-0.21 88.32+-0.12 77.37+-0.63
        CIFAR10 70.51+-0.19 70.86+-0.31 81.48+-0.24 33.09+-1.45
        CIFAR100 49.97+-0.19 50.69+-0.06 53.17+-0.08 14.84+-0.12
        """,
    ),
    *_rows(
        "6",
        (*BASELINES, CORE_SET, REGULARIZATION, WITH_PROX),
        """
        alpha=0.1 70.51+-0.19 71.57+-0.17 69.55+-0.36 81.48+-0.24 70.86+-0.31 71.50+-0.07
        alpha=0.2 77.98+-0.36 78.40+-0.22 78.65+-0.26 84.41+-0.11 78.76+-0.26 79.04+-0.01
        """,
    ),
    *_rows(
        "7",
        ("FedAvg", "MimeLite", "FedProx", REGULARIZATION, WITH_PROX),
        "stateless 78.07+-0.06 78.47+-0.19 78.48+-0.05 79.07+-0.25 79.32+-0.07",
    ),
    *_rows(
        "9",
        ("FedAvg", "MimeLite", CORE_SET, REGULARIZATION),
        """
        0% 80.66+-0.40 80.78+-0.07 84.87+-0.11 81.27+-0.38
        25% 80.16+-0.01 80.17+-0.11 84.66+-0.11 80.67+-0.27
        50% 79.97+-0.23 80.35+-0.39 84.59+-0.07 80.91+-0.25
        """,
    ),
)

#: The lower part of Table 5: data set, R_r - R_f and (R_r - R_f) / R_f, both in percent.
IMPROVEMENTS = (("Fashion-MNIST", "0.27", "0.31"), ("CIFAR10", "0.35", "0.50"), ("CIFAR100", "0.72", "1.44"))


def table5() -> Claim:
    """The lower part of Table 5 against its upper part."""
    return Claim(
        "cfl.table5",
        "Table 5, lower part",
        "Differences and ratios of CFL-Regularization and FedAvg",
        (
            Part("1", Statement("R_r - R_f is the difference of the accuracies printed above, in each column.", None)),
            Part(
                "2",
                Statement(
                    "(R_r - R_f) / R_f in percent, rounded to two decimals, is what is printed, in each column.", None
                ),
            ),
            Part(
                "3",
                Statement(
                    "For CFL-Regularization both improvements grow with the difficulty of the task, as the bottom of "
                    "the table is said to show, for all accuracies that round to those printed.",
                    None,
                ),
            ),
        ),
        (
            "Tasks are ordered by the accuracy of FedAvg, the only measure of difficulty in the table.",
            "The improvements on Fashion-MNIST and CIFAR10 differ by 0.08, less than each printed deviation.",
            "What the sentence says of CFL methods in general is cfl.tables_text, part 7b.",
        ),
    )


def tables_text() -> Claim:
    """What the text says of Tables 4, 5, 6, 7 and 9."""
    every = "Every printed CFL method is above every printed FL baseline"
    return Claim(
        "cfl.tables_text",
        "Sec. 4.3, 5.3, App. C.1.3, text on Tables 4 to 9",
        "The superiority sentences against the printed numbers",
        (
            Part(
                "1",
                Statement(f"{every} in Table 6 (Sec. 5.3.3, 'Superior performance').", None),
                Repair(
                    "needs-hypothesis",
                    "the CFL method keeps a core set",
                    Statement("In Table 6 CFL-Core-Set is above every FL baseline.", None),
                ),
            ),
            Part(
                "2",
                Statement("In Table 7 both CFL-Regularization methods are above every FL baseline (Sec. 5.3.4).", None),
            ),
            Part(
                "3",
                Statement(
                    "In Table 6 both CFL-Regularization methods are above every FL baseline at alpha = 0.2, the alpha "
                    "of Table 7: 'similar to the observations in Table 6' (Sec. 5.3.4).",
                    None,
                ),
                reading="at the alpha of Table 7",
            ),
            Part(
                "3b",
                Statement("The same in both rows of Table 6.", None),
                reading="in the whole of Table 6",
            ),
            Part(
                "4",
                Statement(
                    f"{every} in Table 9, and so they are in the row alpha = 0.1 of Table 6 for the methods of Table "
                    "9: 'the advancement of CFL methods is consistent with Table 6' (Sec. 5.3.3).",
                    None,
                ),
                reading="consistent in order",
            ),
            Part(
                "5",
                Statement(
                    "In Table 9 the accuracies of the methods do not all rise, and do not all fall, with the overlap: "
                    "'no obvious connection' (App. C.1.3).",
                    None,
                ),
                reading="no common trend",
            ),
            Part(
                "5b",
                Statement("In Table 9 some method is at least as good with overlap as without.", None),
                reading="no connection at all",
            ),
            Part(
                "6",
                Statement(
                    "In Table 9 accuracy is higher with overlap than without, beyond the printed deviations: 'when "
                    "local data sets contain data from previous rounds, the model performance is significantly "
                    "improved (cf. Table 9)' (Remark 4.8).",
                    None,
                ),
            ),
            Part(
                "7",
                Statement(
                    "'The improvement of CFL methods over FedAvg becomes larger for more challenging tasks, as shown "
                    "in the bottom of the Table 5 for regularization based methods' (Sec. 5.3.2): CFL-Regularization, "
                    "which the bottom of Table 5 is about.",
                    None,
                ),
                reading="CFL methods are those of the bottom of Table 5",
            ),
            Part(
                "7b",
                Statement("The same for CFL-Core-Set, whose accuracies are in the same columns.", None),
                reading="CFL methods are all of Table 5",
            ),
            Part(
                "8",
                Statement(
                    "In Table 4 every core set method is above every other by more than both deviations together, "
                    "every naive core set above both of iCaRL, and PyHessian above Fisher (Sec. 5.3.1).",
                    None,
                ),
            ),
            Part(
                "9",
                Statement(
                    "In Table 5 regularization of the top layers is above that of all layers on every data set.", None
                ),
            ),
        ),
        (
            "'Above' compares means; deviations are used where a sentence says significant.",
            "Part 1 reads the heading of Sec. 5.3.3 with every method of the table; FedProx alone is not beaten, at "
            "alpha = 0.1 by CFL-Regularization with or without FedProx.",
            "Part 4: in size the two tables have little in common: ours.cfl_tables.",
            "Part 5b: every method is best without overlap, the opposite of what Remark 4.8 reads from the same table: "
            "ours.cfl_tables.",
            "Part 3b: at alpha = 0.1 FedProx, with 71.57, is above both, 70.86 and 71.50.",
            "Part 6: the sentence is about local data sets with data from previous rounds, which is the overlap of "
            "Table 9. Read as a comparison of its column CFL-Core-Set with FedAvg it would hold, but the next "
            "sentence says that this observation 'also' supports core sets, so that it is another one.",
            "Part 7 is part 3 of cfl.table5. Part 7b: core sets improve by 1.57, 10.97 and 3.20. "
            "CFL-Regularization-Full, which is regularization based too, is below FedAvg on every data set, by 9.38, "
            "37.42 and 35.13.",
            "Table 4 has no FedAvg, so that the 'trivial performance gain' of generative methods cannot be checked; "
            "MCMC is 0.03 above PyHessian, which is kept. Its PyHessian is 0.45 above Fisher, with deviations of 0.66 "
            "and 0.39.",
            "FedAvg at alpha = 0.2 is 77.98 in Table 6 and 78.07 in Table 7; the second has stateless clients, so that "
            "no sentence is contradicted.",
        ),
    )


def tables() -> Claim:
    """What Tables 5, 6, 7 and 9 do say."""
    return Claim(
        "ours.cfl_tables",
        "instead of cfl.tables_text",
        "What the tables of the CFL paper say",
        (
            Part(
                "1",
                Statement(
                    "In every column of Table 5 and every row of Tables 6 and 9 CFL-Core-Set is above every other "
                    "method by more than both deviations together.",
                    None,
                ),
            ),
            Part(
                "2",
                Statement(
                    "In every column of Table 5 and every row of Tables 6, 7 and 9 CFL-Regularization is above "
                    "FedAvg, by 0.27 to 1.00.",
                    None,
                ),
            ),
            Part("3", Statement("In Table 9 every method is best without overlap.", None)),
            Part(
                "4",
                Statement(
                    "The column CIFAR10 of Table 5 is the row alpha = 0.1 of Table 6, means and deviations, in each of "
                    "their three common methods.",
                    None,
                ),
            ),
            Part(
                "5",
                Statement(
                    "Without overlap and at alpha = 0.1, Table 9 is above the row alpha = 0.1 of Table 6 in each of "
                    "their four common methods, by 3.39 at least, and above its row alpha = 0.2 as well.",
                    None,
                ),
            ),
        ),
        (
            "Part 4 agrees with App. C.1.3, which has alpha = 0.1 for the settings of Table 5; its caption may be "
            "read as if that were peculiar to Fashion-MNIST.",
            "Part 5: 210 disjoint subsets for 7 clients and alpha = 0.1 describe both rows. Of differences the text "
            "names subsets in sequence instead of drawn at random, and S_l = 285 for Table 9 alone. FedAvg is at "
            "80.66 and at 70.51.",
        ),
    )


CLAIMS = {
    "cfl.table5": table5,
    "cfl.tables_text": tables_text,
    "ours.cfl_tables": tables,
}
