"""The picture of a verdict: what ``driftgate demo`` prints, as SVG."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile

from rich.console import Console
from rich.text import Text

WIDTH = 118
AFTERWARDS = "\nThe bug is fixed."
"""Where the demo has shown its first verdict and goes on to its second act."""
STYLES = {
    r"NOT TRUSTED|\[FAIL\]": "bold red",
    r"(?<!NOT )TRUSTED|\[PASS\]": "green",
    r"\[INACTIVE\]": "yellow",
}
NO_FONT_FROM_ELSEWHERE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g>
</svg>
"""


def of_the_demo() -> str:
    """Runs the demo in a folder of its own. Raises CalledProcessError where it does not end well."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(coloured(_demo()), soft_wrap=False)
    return console.export_svg(title="driftgate demo", code_format=NO_FONT_FROM_ELSEWHERE, unique_id="verdict")


def coloured(output: str) -> Text:
    text = Text(output.partition(AFTERWARDS)[0].rstrip())
    for pattern, style in STYLES.items():
        text.highlight_regex(pattern, style)
    return text


def _demo() -> str:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "driftgate", "demo"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
