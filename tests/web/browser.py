"""A browser driven over WebDriver's HTTP protocol, with nothing but the standard library."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One chromium with a profile of its own. Use as a context manager."""

    def __init__(self, chromedriver, chromium, width=1280, height=860):
        self.profile = tempfile.mkdtemp(prefix="pingloom-web-")
        self.driver = subprocess.Popen([chromedriver, "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.session = None
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            options = {"binary": chromium, "args": [*FLAGS, f"--window-size={width},{height}",
                                                    f"--user-data-dir={self.profile}"]}
            capabilities = {"browserName": "chrome", "goog:chromeOptions": options,
                            "goog:loggingPrefs": {"browser": "ALL"}}
            made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = made["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.session:
            try:
                self._call("DELETE", f"/session/{self.session}")
            except OSError:
                pass
        self.driver.terminate()
        self.driver.wait(10)
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise RuntimeError("chromedriver did not start")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as failure:
            raise RuntimeError(json.load(failure)["value"]["message"]) from None

    def _session(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def open(self, url):
        self._session("POST", "/url", {"url": url})

    def resize(self, width, height):
        self._session("POST", "/window/rect", {"width": width, "height": height})

    def url(self):
        return self._session("GET", "/url")

    def run(self, script, *arguments):
        """The value of a JavaScript expression or of a body with `return`."""
        body = script if "return" in script else f"return ({script});"
        return self._session("POST", "/execute/sync", {"script": body, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=10):
        """Waits until an expression is true and gives its value."""
        deadline = time.monotonic() + seconds
        while True:
            value = self.run(script, *arguments)
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"did not become true in {seconds} s: {script}")
            time.sleep(0.03)

    def point(self, x, y, click=False):
        """Moves the mouse to a place of the viewport."""
        actions = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._session("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "actions": actions}]})

    def press(self, *keys):
        actions = [step for key in keys for step in (
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self._session("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": actions}]})

    def click(self, selector):
        found = self._session("POST", "/element", {"using": "css selector", "value": selector})
        self._session("POST", f"/element/{found[ELEMENT]}/click", {})

    def prefer(self, scheme):
        """Dark or light."""
        self._session("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def console(self):
        """What the page wrote to its console since the last call, with refused resources."""
        return self._session("POST", "/se/log", {"type": "browser"})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._session("GET", "/screenshot")))
