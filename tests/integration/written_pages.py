"""The pages that tests/lab/pages_writer.cpp writes, as a collector shows them: every value follows from whose it is and a
count, so a page proves by itself whose it is, and that its values were written together."""

import re

VALUES = 8
SAMPLE = re.compile(r'(lab_writes_total|lab_value)\{([^}]*)\} (\S+)')
LABEL = re.compile(r'(\w+)="([^"]*)"')


def expected(identity, page, value, count):
    return (identity * 1_000_003 + page * 10_007 + value * 101 + count * 7_919) % 2**40


class WrittenPages:
    """Checks what one collector shows, and remembers how far each page has come."""

    def __init__(self, case):
        self._case = case
        self.counts = {}  # by host, identity and page: the highest so far
        self.checked = 0

    def look(self, text, pids=None):
        """Checks all pages in `text`; `pids`: of the applications, by identity, where those are known. The pages that
        are shown, and of them the counts of the whole ones."""
        pages = {}
        for _, labels, number in SAMPLE.findall(text):
            labels = dict(LABEL.findall(labels))
            identity = int(labels["identity"])
            self._case.assertEqual(labels["application"], f"writer-{identity}")
            if pids is not None:
                self._case.assertEqual(int(labels["pid"]), pids[identity], "another process' values")
            key = labels["host"], identity, int(labels["page"])
            pages.setdefault(key, {})[labels.get("value", "count")] = int(float(number))
        # One that was made a moment ago has not all its values yet.
        whole = {key: page for key, page in pages.items() if len(page) == VALUES + 1 and page["count"] > 0}
        for key, page in whole.items():
            self._check(key, page)
        return pages.keys(), {key: page["count"] for key, page in whole.items()}

    def _check(self, key, page):
        _, identity, number = key
        for value in range(VALUES):
            self._case.assertEqual(page[str(value)], expected(identity, number, value, page["count"]), (key, page))
        self._case.assertGreaterEqual(page["count"], self.counts.get(key, 0), f"{key} went back")
        self.counts[key] = page["count"]
        self.checked += 1
