"""The report: reads run folders, and nothing else of the zoo; writes tables, claims with verdicts, and a page."""

from zoo.report.compare import compare
from zoo.report.keep import keep
from zoo.report.text import show
from zoo.report.write import write

__all__ = ["compare", "keep", "show", "write"]
