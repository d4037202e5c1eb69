"""What the text says of Figures 2 and 6, of the class-incremental setup and of the number of clients."""

from __future__ import annotations

from cflag_theory.claims.c_flag.published import METHOD, TABLES, Entry
from cflag_theory.claims.engine.claim import Claim, Part, Statement

#: Numbers of clients in Table 8, besides the 5 of the other tables.
MORE = (50, 25, 15, 10)


def _table8(setting: str, data: str, row: str) -> dict[int, Entry]:
    """A row of Table 8, "accuracy,forgetting" for each number of clients."""
    (five,) = (entry for entry in TABLES if (entry.table, entry.setting, entry.data) == ("8", setting, data))
    entries = (Entry("8", setting, data, METHOD, *pair.split(",")) for pair in row.split())
    return {**dict(zip(MORE, entries, strict=True)), 5: five}


TABLE8: tuple[dict[int, Entry], ...] = (
    _table8("IID", "CIFAR10", "90.67,2.39 90.77,3.53 91.05,4.28 90.52,5.22"),
    _table8("non-IID", "CIFAR100", "35.20,2.28 32.60,4.27 35.48,6.38 35.95,8.58"),
)


def figure2_text() -> Claim:
    """The sentence on Figure 2."""
    last = "after the last task, of which Table 3 has the numbers"
    no = "on IID CIFAR10 and CIFAR100, after the last task."
    return Claim(
        "cflag.figure2_text",
        "Figure 2 and the text on it",
        "Highest accuracy and lowest forgetting after each task",
        (
            Part(
                "accuracy",
                Statement(f"In Table 3 no baseline has a higher accuracy than C-FLAG {no}", None),
                reading=last,
            ),
            Part("forgetting", Statement(f"In Table 3 no baseline forgets less than C-FLAG {no}", None), reading=last),
            Part(
                "earlier",
                Statement(
                    "The same after each of the tasks before the last, on both data sets and in both metrics.", None
                ),
                reading="after each task, as the sentence says",
            ),
        ),
        (
            "The sentence is about each task. The plot prints no numbers, so that part earlier stays open; Table 3 "
            "decides the last task alone. The plot shows accuracy, and the sentence speaks of forgetting as well.",
        ),
    )


def class_text() -> Claim:
    """The sentence on Table 7."""
    return Claim(
        "cflag.class_text",
        "text after Table 7",
        "Class-incremental: comparable overall, better in select cases",
        (
            Part(
                "select",
                Statement(
                    "In Table 7 there are a setting, a data set and a metric in which every baseline is worse than "
                    "C-FLAG.",
                    None,
                ),
            ),
            Part(
                "overall",
                Statement(
                    "In the means over the four settings and data sets of Table 7, at most half of the baselines are "
                    "ahead of C-FLAG in accuracy, and at most half in forgetting.",
                    None,
                ),
                reading="comparable in the mean over all settings",
            ),
            Part(
                "everywhere",
                Statement(
                    "In Table 7 no baseline is ahead of C-FLAG in accuracy by more than the sum of the two printed "
                    "standard deviations.",
                    None,
                ),
                kind="question",
                reading="comparable in accuracy in every setting, within the printed deviations",
            ),
        ),
        (
            "'Comparable overall' names no measure: the mean over all settings decides it, and whether it is so in "
            "every setting is a question, with the answer no. In the means C-FLAG is third of eight in both metrics. "
            "On non-IID CIFAR100 its accuracy is 13.94 against 23.22 of TARGET, and it forgets most of all.",
            "The caption counts 5, 5 and 10 tasks; the table has two data sets.",
        ),
    )


def figure6_text() -> Claim:
    """The sentence on Figure 6."""
    return Claim(
        "cflag.figure6_text",
        "Figure 6 and the text on it",
        "Superior to the baselines on class-incremental non-IID CIFAR10",
        (
            Part(
                "accuracy",
                Statement(
                    "In Table 7 no baseline has a higher accuracy than C-FLAG on non-IID CIFAR10, after the last task.",
                    None,
                ),
                reading="in average accuracy after the last task, which Figure 6 plots and Table 7 prints",
            ),
            Part(
                "earlier",
                Statement("The same after each of the tasks before the last.", None),
                reading="in the whole plot, which has a point after each task",
            ),
        ),
        (
            "The plot prints no numbers, and shows one seed (Supplement 4), so that part earlier stays open; Table 7 "
            "decides the last task alone.",
            "C-FLAG is ahead of the next, iCARL-FL, by 1.22, with deviations of 2.63 and 4.23.",
            "The sentence speaks of accuracy alone. Fine-FL, EWC-FL, LwF-FL and TARGET forget less there: 2.31, 6.12, "
            "5.62 and 9.73 against 43.04.",
        ),
    )


def table8_text() -> Claim:
    """The sentence on the number of clients."""
    return Claim(
        "cflag.table8_text",
        "Supplement 5.2, text on Table 8",
        "More clients do not deteriorate the continual learning abilities",
        (
            Part(
                "forgetting",
                Statement("In Table 8 no number of clients above 5 forgets more than 5 clients.", None),
                reading="abilities as forgetting",
            ),
            Part(
                "accuracy",
                Statement("In Table 8 no number of clients above 5 has a lower accuracy than 5 clients.", None),
                reading="abilities as accuracy",
            ),
        ),
        (
            "On non-IID CIFAR100 the accuracy falls from 38.43 to 32.60 at 25 clients and is 35.20 at 50; on IID "
            "CIFAR10 it rises. Forgetting falls with every step from 5 to 50 clients on both.",
            "Table 8 prints no deviations; those of Table 6 for 5 clients on non-IID CIFAR100 are 1.64 in accuracy. "
            "Its column of 5 clients is not that of Tables 2 and 3: cflag.tables_consistent.",
        ),
    )


CLAIMS = {
    "cflag.figure2_text": figure2_text,
    "cflag.class_text": class_text,
    "cflag.figure6_text": figure6_text,
    "cflag.table8_text": table8_text,
}
