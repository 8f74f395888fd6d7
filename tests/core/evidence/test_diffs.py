"""Unified diffs as sources: passages by file and hunk, places by path and line."""

import pytest

from core.debate.evidence import Source, SourceKind, SourceReference, SourceText
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.evidence.citations import check
from core.evidence.diffs import with_hunks
from core.evidence.passages import passages_of

DIFF = """diff --git a/queue/work.py b/queue/work.py
index 1..2 100644
--- a/queue/work.py
+++ b/queue/work.py
@@ -3,5 +3,6 @@ def run():
     job = take()
--- a line with dashes
-    run(job)
+    if job:
+        run(job)
+    job.done()
     log(job)
@@ -40,2 +41,1 @@
 stop()
-wait()
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-first gone
-second gone
\\ No newline at end of file
diff --git a/a name.md b/another name.md
similarity index 90%
diff --git "a/gr\\303\\266\\303\\237e.txt" "b/gr\\303\\266\\303\\237e.txt"
--- "a/gr\\303\\266\\303\\237e.txt"
+++ "b/gr\\303\\266\\303\\237e.txt"
@@ -7 +7 @@
-so small
+so large
"""


def a_source(text: str) -> Source:
    hunks = with_hunks(SourceText(text=text))
    reference = SourceReference(kind=SourceKind.TEXT, title="x", fetch="x", by=Person(id="U1"))
    turn = Turn(act=Act.READING, round=0, agent="engine", target="1")
    return Source(turn=turn, reference=reference, **dict(hunks))


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("job = take()", "queue/work.py:3"),
        ("a line with dashes", "queue/work.py:4"),
        ("if job:", "queue/work.py:4"),
        ("job.done()", "queue/work.py:6"),
        ("log(job)", "queue/work.py:7"),
        ("stop()", "queue/work.py:41"),
        ("wait()", "queue/work.py:42"),
        ("first gone", "old.txt:1"),
        ("second gone", "old.txt:2"),
        ("so large", "größe.txt:7"),
        ("similarity index 90%", "another name.md"),
    ],
)
def test_a_quote_is_found_at_its_path_and_line(words: str, place: str) -> None:
    assert check("e1", words, [a_source(DIFF)]).place == place


def test_a_passage_is_a_hunk_or_the_head_of_a_file() -> None:
    places = [passage.place for passage in passages_of(a_source(DIFF))]
    assert places == [
        "queue/work.py",
        "queue/work.py:3",
        "queue/work.py:41",
        "old.txt",
        "old.txt:1",
        "another name.md",
        "größe.txt",
        "größe.txt:7",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# A plan\n\n```diff\n@@ -1 +1 @@\n```",
        "--- \n\nA rule above a text.",
    ],
)
def test_a_text_that_is_no_diff_stays_as_it_is(text: str) -> None:
    assert with_hunks(SourceText(text=text)) == SourceText(text=text)
