"""From source to machine code: what compiled code computes, how large it is, and when it may be used again.

``test_compiler.py`` has a small model for each construct of the language.
"""
