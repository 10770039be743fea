"""Solutions to small tasks, each a model as somebody writes it who knows Python and has read one page of the manual.

``tests/agreement/test_tasks.py`` says what becomes of each. Nothing here is written for the compiler: where Python has three ways
to say something, all three are here.
"""
