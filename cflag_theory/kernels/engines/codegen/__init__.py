"""Vector loops and matrix tiles as LLVM code, compilation, and its cache."""
