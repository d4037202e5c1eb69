"""App. C.1.1 and C.2: how the data sets are split."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import sequence, symbol
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import at_most, equal

# Algorithm 5 with classes a and b left, and the class that is deleted.
theta_a = symbol("theta_a", r"\theta_a", positive=True)
theta_b = symbol("theta_b", r"\theta_b", positive=True)
deleted = symbol("theta_deleted", r"\theta_i", positive=True)
new_theta = sequence("new_theta", r"\theta'_{@}", nonnegative=True)
new_a, new_b = new_theta(0), new_theta(1)
# The same for any number of classes: sums over the classes that are left, and one of them.
rest = symbol("rest", r"\sum_{j\ne i}\theta_j", positive=True)
j = index("j")
remaining = sum_over(j, symbol("classes_left", "C'", positive=True, integer=True))
theta = sequence("theta", r"\theta_{@}", nonnegative=True)(j)
new = new_theta(j)
new_sum = symbol("new_sum", r"\sum_{j\ne i}\theta'_j", remaining(new))
theta_j = symbol("theta_j", r"\theta_j", nonnegative=True)
# The sum while Algorithm 5 runs in place: before and after theta[j] is divided by it.
running = symbol("running", "s", positive=True)
running_after = symbol("running_after", "s'", positive=True)

# Algorithm 6.
classes = symbol("classes", "C", positive=True, integer=True)
entries = symbol("entries", r"|\mathcal{G}|", positive=True, integer=True)
last = symbol("last", r"\mathcal{G}_\mathrm{last}", nonnegative=True, integer=True)
total = symbol("total", r"\sum_c|S_c|", nonnegative=True, integer=True)
M = symbol("M", "M", positive=True, integer=True)
size = symbol("size", r"\lceil N\rceil", positive=True, integer=True)
drawn = symbol("drawn", r"\sum_m|D_m|", nonnegative=True, integer=True)
left = symbol("left", "l", real=True)

# App. C.1.1.
subsets = symbol("subsets", "n", positive=True, integer=True)
images = symbol("images", r"|\mathcal{D}|", positive=True, integer=True)
subset_size = symbol("subset_size", "S_l", positive=True, integer=True)
step = symbol("pointer_step", "s", positive=True, integer=True)
test_images = symbol("test_images", r"|\mathcal{D}_\mathrm{test}|", positive=True, integer=True)
used_test = symbol("used_test", "u", real=True)


def alg5() -> Claim:
    """Algorithm 5: the weights of the remaining classes are to sum to one."""
    whole = Fact("theta", equal(theta_a + theta_b + deleted, 1), "theta sums to one before, and theta[i] > 0.")
    printed = Statement(
        "After Algorithm 5 the weights of the classes j != i sum to one. Here: two classes are left, a before b; the "
        "sum in line 2 is over theta without theta[i], and theta changes while the loop runs, as written.",
        equal(new_a + new_b, 1),
        (whole,),
        definitions=(
            Fact("a", equal(new_a * (theta_a + theta_b), theta_a), "Line 2 for j = a."),
            Fact("b", equal(new_b * (new_a + theta_b), theta_b), "Line 2 for j = b, theta[a] being changed already."),
        ),
    )
    goal = equal(new_sum, 1)
    repaired = shown(
        "theta'_j = theta_j / sum_{l != i} theta_l, with the sum taken before the loop, sums to one over j != i, for "
        "any number of classes.",
        goal,
        rules.mean("all classes", remaining, given="line 2"),
        given=("all classes", "rest"),
        where=(
            Fact("rest", equal(rest, remaining(theta)), "The sum, taken once."),
            Fact("line 2", equal(new, theta / rest), "Line 2 with the sum taken once.", (j,)),
        ),
    )
    return Claim(
        "cfl.alg5",
        "Algorithm 5",
        "Renormalised weights sum to one",
        (
            Part(
                "1",
                printed,
                Repair("typo", "take the sum once, before the loop, and drop theta[i] from theta", repaired),
            ),
        ),
        (
            "theta / theta[i] is read as S[y] / data and G / y of Algorithm 6: theta without theta[i]. Element by "
            "element division would turn line 2 into theta[j] theta[i] / sum(theta), which is no better.",
            "With one class left the printed loop is right.",
            "How far the printed sum falls short, class by class: ours.cfl_renormalize. It can be as near to zero as "
            "one likes.",
            "theta[i] itself is left as it was, so that class i can be drawn again: cfl.alg6.",
        ),
    )


def renormalize(factor: Any = 1) -> Claim:
    """What the printed Algorithm 5 does; `factor` scales the shrinking of the gap."""
    goal = equal(1 - running_after, factor * (1 - running) * (1 - theta_j / running))
    one = shown(
        "For positive weights that sum to one: while the printed loop runs, 1 - s with s the sum over j != i shrinks "
        "by the factor 1 - theta_j / s with every class j; s starts at 1 - theta_i and stays below one while two "
        "classes or more are left.",
        goal,
        given=("line 2",),
        where=(
            Fact("line 2", equal(running_after, running - theta_j + theta_j / running), "theta_j becomes theta_j / s."),
        ),
    )
    return Claim(
        "ours.cfl_renormalize",
        "on Algorithm 5",
        "The sum that the printed Algorithm 5 leaves",
        (Part("1", one),),
        (
            "In all, the sum falls short of one by theta_i prod_j (1 - theta_j / s_j), s_j the sum when class j is "
            "reached: positive unless one class is left.",
            "theta = (x e, (1 - x) e, 1 - e) leaves x + (1 - x) e / (x + (1 - x) e), which tends to x as e -> 0.",
        ),
    )


def alg6() -> Claim:
    """Algorithm 6: index ranges, termination, coverage."""
    counted = Fact("entries", equal(entries, last + 1), "0, 1, ..., up to the last entry, both ends included.")
    shorter = Fact("line 2", equal(last, classes - 1), "Line 2 with len(S) - 1 as the last entry.")
    indices = Part(
        "1",
        Statement(
            "G = [0, 1, ..., len(S)] lists the classes: it has as many entries as theta and p, one for each class.",
            equal(entries, classes),
            (Fact("line 2", equal(last, classes), "Line 2 as printed."),),
            definitions=(counted,),
        ),
        Repair(
            "typo",
            "G = [0, ..., len(S) - 1]",
            shown(
                "G = [0, ..., len(S) - 1] has one entry for each class.",
                equal(entries, classes),
                given=("entries", "line 2"),
                under=(shorter,),
                where=(counted,),
            ),
        ),
    )
    running_loop = Fact("loop", at_most(drawn + 1, M * size), "The loop of line 7 runs: some D_m has less than N data.")
    still = Fact("left", equal(left, total - drawn), "Every pass moves one datum from S to a D_m.")
    something = at_most(1, left)
    enough = Fact("enough data", at_most(M * size, total), "M ceil(N) <= the number of data.")
    terminates = Part(
        "2",
        Statement(
            "Algorithm 6 ends for every S, M >= 1 and N: at every pass of the loop there is a datum left to draw.",
            something,
            (running_loop,),
            definitions=(still,),
        ),
        Repair(
            "needs-hypothesis",
            "M ceil(N) <= sum_c |S_c|; with theta, p and G over the classes that are left, so that no pass fails",
            shown(
                "With M ceil(N) <= sum_c |S_c| there is a datum left at every pass, and the algorithm ends after M "
                "ceil(N) of them.",
                something,
                given=("loop", "enough data", "left"),
                under=(running_loop, enough),
                where=(still,),
            ),
        ),
        kind="question",
    )
    stays = Part(
        "3",
        Statement(
            "Classes that run out are handled by lines 13 to 15: when M N is at most the number of data, every draw of "
            "a class finds data. G is that of the repair of part 1.",
            None,
        ),
        Repair(
            "typo",
            "delete entry i from theta as well as from G (Algorithm 5 leaves it), and draw p and theta of the next "
            "client over the classes in G",
            Statement("With theta and p over the classes in G, every draw of a class finds data.", None),
        ),
    )
    ended = Fact("ended", equal(drawn, M * size), "The loop of line 7 has ended for every client.")
    covers = Part(
        "4",
        Statement("The D_m are a split of the data set: nothing is left.", at_most(left, 0), (ended,), None, (still,)),
        Repair(
            "needs-hypothesis",
            "M ceil(N) >= sum_c |S_c|, hence equality with part 2",
            shown(
                "With M ceil(N) = sum_c |S_c| nothing is left.",
                at_most(left, 0),
                given=("ended", "all data", "left"),
                under=(ended, Fact("all data", at_most(total, M * size), "M ceil(N) >= the number of data.")),
                where=(still,),
            ),
        ),
        kind="question",
    )
    return Claim(
        "cfl.alg6",
        "Algorithms 4 and 6",
        "The splitting terminates, covers the data, and stays in range",
        (indices, terminates, stays, covers),
        (
            "The paper does not say parts 2 and 4. Algorithm 6 is printed without conditions on M and N.",
            "Part 3: neither change is enough alone, and both are. The evidence counts the small instances.",
            "N need not be an integer: Algorithm 4 calls Algorithm 6 with N_local = len(D_m)/T (D_m is not defined "
            "there; D[i] is meant), and the loop then draws ceil(N_local) data T times, more than there are unless T "
            "divides. Rounding N_local down corrects it. Its cluster_num is not defined either; T is meant.",
            "No datum is in two of the D_m, since line 12 removes it.",
            "The numbers of App. C.1.1, 210 subsets of 285, meet part 2 on all 60000 images of CIFAR10, but not on "
            "the 50000 that are not in its test set: cfl.setup_overlap.",
        ),
    )


def setup_overlap(size_of_subset: int = 285, moves: tuple[int, int] = (213, 142)) -> Claim:
    """App. C.1.1: 7 clients with 30 subsets of 285 images, and the overlaps of the moving pointer."""

    def needs(available: int, which: str) -> tuple[Fact, ...]:
        return (
            Fact("n", equal(subsets, 210), "210 subsets."),
            Fact("S_l", equal(subset_size, size_of_subset), f"of size {size_of_subset}."),
            Fact("D", equal(images, available), f"{available} images, {which}."),
        )

    fits = at_most(subsets * subset_size, images)
    clients = Part("1", Statement("210 subsets for 7 clients are 30 subsets for each client.", None))
    disjoint = Part(
        "2",
        shown(
            f"'The whole data set', 60000 images, holds 210 disjoint subsets of size {size_of_subset}.",
            fits,
            given=("n", "S_l", "D"),
            under=needs(60000, "all of CIFAR10, the test set included"),
        ),
    )
    outside = Part(
        "4",
        Statement(
            f"210 disjoint subsets of size {size_of_subset} fit into the images of CIFAR10 that are not in its global "
            "test data set of 10000 images.",
            fits,
            needs(50000, "those outside of the test set"),
        ),
        kind="question",
    )
    overlaps = Part(
        "3",
        Statement(
            f"Pointer steps of 285, {moves[0]} and {moves[1]} make windows of 285 overlap by 0%, 25% and 50%, to the "
            "nearest percent, while the pointer does not return to the start.",
            None,
        ),
    )
    return Claim(
        "cfl.setup_overlap",
        "App. C.1.1",
        "210 subsets of size 285, overlaps of 25% and 50%",
        (clients, disjoint, overlaps, outside),
        (
            "That CIFAR10 has 50000 training and 10000 test images is the data set's own description. 285 is 60000/210 "
            "rounded down; 50000/210 gives 238.",
            "Part 2: 210 * 285 = 59850. Part 4: accuracy is measured on 'a global test data set' (Sec. 5.2), and if "
            "all 60000 images are split most of the test set of CIFAR10 is trained on: ours.cfl_test_images. The text "
            "does not say that the two are apart, nor does it mention a test set of the authors' own.",
            "Exactly, 72/285 = 25.26% and 143/285 = 50.18%. When the pointer returns to the start, after 39 and 59 "
            "windows, consecutive windows do not overlap at all.",
        ),
    )


def test_images_used() -> Claim:
    """How many test images are trained on if the 210 subsets come from all images."""
    goal = at_most(9850, used_test)
    unused = Fact(
        "unused",
        at_most(test_images - used_test, images - subsets * subset_size),
        "A test image that no subset has is one of the images that no subset has.",
    )
    known = (
        Fact("n", equal(subsets, 210), "210 disjoint subsets."),
        Fact("S_l", equal(subset_size, 285), "of size 285."),
        Fact("D", equal(images, 60000), "60000 images in all."),
        Fact("test", equal(test_images, 10000), "10000 test images."),
    )
    statement = shown(
        "210 disjoint subsets of size 285 from the 60000 images of CIFAR10 contain at least 9850 of its 10000 test "
        "images.",
        goal,
        given=("unused", "n", "S_l", "D", "test"),
        under=known,
        where=(unused,),
    )
    return Claim(
        "ours.cfl_test_images",
        "on App. C.1.1",
        "Splitting all images leaves at most 150 test images",
        (Part("1", statement),),
        ("Attained when the 150 images that are left over are test images.",),
    )


CLAIMS = {
    "cfl.alg5": alg5,
    "cfl.alg6": alg6,
    "cfl.setup_overlap": setup_overlap,
    "ours.cfl_renormalize": renormalize,
    "ours.cfl_test_images": test_images_used,
}
