"""The reports people read. `gate.verdict_json` writes the one for machines."""

from gate.report_markdown import markdown_report
from gate.report_text import text_report

__all__ = ["markdown_report", "text_report"]
