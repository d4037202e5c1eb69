"""The wall: what users write in Python runs in processes of its own.

It is a wall against accidents, such as an exit, a loop, a memory that fills, a class of Python that is changed. It is
none against malice: what a file may do to the files of its user, it may do here.
"""
