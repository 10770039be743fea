"""This repository: its pages say what is true, its package holds what it must, its imports go one way."""
