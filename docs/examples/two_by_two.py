"""A 2 x 2 matrix times a vector, as generated loops compute it: prints the result and the LLVM code.

python docs/examples/two_by_two.py
"""

import re

import numpy as np
from numba import njit

from cflag_theory.kernels.engines.codegen.llvm_tiles import row_dots

two_dots = row_dots(2)


@njit
def product(A, x, z):
    two_dots(A, 0, x, 0, z, 0)


# Rows are whole lines of 64 bytes: eight numbers, six of which are zero here.
A, x, z = np.zeros((2, 8)), np.zeros((1, 8)), np.zeros(2)
A[:, :2], x[0, :2] = [[1, 2], [3, 4]], [5, 6]
product(A, x, z)
print("z =", z)

(code,) = product.inspect_llvm().values()
lines = code[code.index("\ndefine ") + 1 :].partition("\n}")[0].splitlines()
text = "\n".join(line.partition(" ;")[0].rstrip() for line in lines[1:] if line.strip() and "%retptr" not in line)
# Short names for what arrays begin with, for the width of a row, and for values in their order.
known = {"%arg.A.4": "%A", "%arg.x.4": "%x", "%arg.z.4": "%z", "%arg.A.5.1": "%width", "%for.body": "%for.body"}
known |= {name: name for name in ("%B0", "%for.end", "%for.body.preheader")}
values = [name for name in dict.fromkeys(re.findall(r"%[\w.]+", text)) if name not in known]
known |= {name: f"%{k}" for k, name in enumerate(values, 1)}
print(re.sub(r"%[\w.]+", lambda found: known[found[0]], text))
