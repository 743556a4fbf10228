"""A browser window for the tests of pages."""

from __future__ import annotations

import pytest

from reporting.browser import Browser


@pytest.fixture(scope="module")
def browser():
    with Browser() as window:
        yield window
