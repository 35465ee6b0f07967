"""Headless Chromium, and a web server that records the requests of a page."""

import contextlib
import functools
import http.server
import os
import shutil
import threading

import pytest


@contextlib.contextmanager
def open_chromium():
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (browser and driver):
        pytest.skip("NO BROWSER: the page is not tested. Run scripts/install-chromium as root.")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--force-prefers-reduced-motion")  # a click does not wait for scrolling
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Not with the sanitizers that `make sanitize` loads into Python.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    session = webdriver.Chrome(options, webdriver.ChromeService(driver, env=environment))
    try:
        yield session
    finally:
        session.quit()


class Recorder(http.server.SimpleHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012

    def log_message(self, form, *arguments):
        self.asked.append(self.path)


@contextlib.contextmanager
def served(folder):
    """Serve this folder; the address of the server."""
    Recorder.asked.clear()
    handler = functools.partial(Recorder, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextlib.contextmanager
def phone(browser, scheme="light"):
    """Emulate a phone: 390 points wide, with this colour scheme."""
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def script(browser, code, *arguments):
    return browser.execute_script(f"return {code}", *arguments)
