"""The end of an output, in bounded memory."""

from hypothesis import given
from hypothesis import strategies as st

from driftgate.harness.last_lines import KEPT_BYTES_PER_LINE, LastLines


@given(st.lists(st.binary(max_size=30) | st.text("a\r\n", max_size=9).map(str.encode), max_size=20), st.integers(1, 5))
def test_chunking_does_not_matter(chunks, limit):
    """The lines kept are the last ones of the whole, however the bytes were cut into chunks."""
    last = LastLines(limit)
    for chunk in chunks:
        last.feed(chunk)
    rows = b"".join(chunks).split(b"\n")
    rows = rows if rows[-1].strip(b"\r") else rows[:-1]
    newest = [row.rstrip(b"\r").rpartition(b"\r")[2] for row in rows[-limit:]]
    assert last.lines() == tuple(row.decode("utf-8", "replace") for row in newest)


def test_a_progress_bar_leaves_its_last_state():
    """However long it was drawn, what follows it on the line is not cut off."""
    last = LastLines()
    for step in range(1000):
        last.feed(b"\r%5d/1000 [####      ]" % step)
    last.feed(b"Traceback (most recent call last):\r")
    last.feed(b"\n")
    assert last.lines() == ("  999/1000 [####      ]Traceback (most recent call last):",)


def test_an_endless_line_is_cut():
    """A line without end takes no more memory than its kept part, and says how much is missing."""
    last = LastLines()
    for _ in range(100):
        last.feed(b"x" * KEPT_BYTES_PER_LINE)
    (line,) = last.lines()
    assert line == "x" * KEPT_BYTES_PER_LINE + f" ... ({99 * KEPT_BYTES_PER_LINE} bytes more)"
    assert len(last._open) == KEPT_BYTES_PER_LINE


def test_bytes_that_are_not_utf8_are_shown():
    """Garbage in an output is replaced, never an exception."""
    last = LastLines()
    last.feed(b"\xff\xfe ok\r\n")
    assert last.lines() == ("\ufffd\ufffd ok",)
