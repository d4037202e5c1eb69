"""Side-by-side timings of C-FLAG against what a user would write otherwise; not installed.

``python -m benchmarks`` from the root of the repository; see README.md in this folder.
"""
