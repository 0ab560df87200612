"""Evidence from where the work is done: one module for each program that Evidentia works in.

Each is an extra of its own, imports its program itself, and raises nothing into it.
"""
