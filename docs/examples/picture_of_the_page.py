"""The picture in the README: the first screen of a report, by a headless Chromium.

cflag verify --out report
python docs/examples/picture_of_the_page.py report
"""

import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PICTURE = Path(__file__).parents[1] / "pictures" / "report.png"


def main(report: str) -> int:
    """Photograph report/index.html at 1400 x 1000."""
    page = Path(report).absolute() / "index.html"
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None or not page.is_file():
        print(f"needs {page} and one of {', '.join(BROWSERS)}", file=sys.stderr)
        return 2
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=8000")
    size = ("--window-size=1400,1000", f"--screenshot={PICTURE}")
    subprocess.run([browser, *flags, *size, page.as_uri()], check=True, capture_output=True)
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or ["report"]))
