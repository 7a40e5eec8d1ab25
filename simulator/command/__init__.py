"""The ``ember`` command: run policies, verify records, look at scenarios and suites.

It only arranges what :mod:`simulator` offers: each command is a module of its own, reading files is in
``sources``, everything that is printed goes through ``output``, and ``main`` puts it together.
"""
