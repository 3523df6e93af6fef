"""Makes the README's pictures from a running demo: scripts/demo.sh --fault slow=3, then

    python3 tests/web/screenshots.py http://127.0.0.1:8080
"""

import pathlib
import shutil
import sys
import time

from browser import Browser

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
WINDOWS = 3  # seconds until what the page asked for has come


def main(url):
    with Browser(shutil.which("chromedriver"), shutil.which("chromium"), 1280, 760) as browser:
        browser.prefer("dark")
        browser.open(url)
        browser.wait("document.querySelector('#heatmap')?.dataset.pairs > 0")
        source, destination = browser.run(
            "const { probe } = document.querySelector('#heatmap').heatmap.grid;"
            "return [probe.sources[0], probe.destinations[2]];")
        time.sleep(WINDOWS)
        browser.screenshot(DOCS / "heatmap.png")
        browser.open("about:blank")
        browser.open(f"{url}/#page=pair&from={source}&to={destination}&span=5m")
        browser.wait("document.querySelectorAll('.uplot canvas').length === 2")
        time.sleep(WINDOWS)
        browser.screenshot(DOCS / "pair.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1].rstrip("/"))
