"""Adapters that let public benchmarks run against this program."""
