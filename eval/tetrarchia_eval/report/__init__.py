"""The page of results, made of kept result files."""

from tetrarchia_eval.report.write import write_report

__all__ = ["write_report"]
