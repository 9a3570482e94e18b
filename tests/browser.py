"""A headless Chromium, driven over pipes by its DevTools protocol: loads pages, records their requests and messages."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--no-first-run", "--remote-debugging-pipe"),
)
Row = dict[str, Any]
DRAWN = """
new Promise(resolve => {
  const look = () => {
    const wanted = document.querySelector('figure.plot');
    if (!wanted || document.documentElement.dataset.plots === 'drawn') resolve(true); else setTimeout(look, 20);
  };
  setTimeout(() => resolve(false), 20000);
  look();
})
"""
"""Waits until the plots of a page are drawn."""


class Browser:
    """A Chromium process. It reads requests from descriptor 3 and answers on descriptor 4; a zero byte ends each."""

    def __init__(self, profile: Path) -> None:
        program = shutil.which("chromium")
        assert program, "no chromium here: ./scripts/setup --tests installs it"
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        own_files = f'exec 3<&{orders} 4>&{answers}; exec "$0" "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", own_files, program, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(orders, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(orders)
        os.close(answers)
        self.number = 0
        self.buffer = b""
        self.listeners: list[Callable[[Row], None]] = []

    def call(self, method: str, session: str | None = None, **arguments: object) -> Row:
        """Send a request and wait for its answer; events that arrive meanwhile go to the listeners."""
        self.number += 1
        order: Row = {"id": self.number, "method": method, "params": arguments}
        text = json.dumps(order | ({"sessionId": session} if session else {}))
        os.write(self.orders, text.encode() + b"\0")
        answer = self.wait(lambda row: row.get("id") == self.number)
        assert "error" not in answer, (method, answer)
        result: Row = answer["result"]
        return result

    def wait(self, wanted: Callable[[Row], bool]) -> Row:
        """Read messages until the wanted one arrives."""
        while True:
            row = self._read()
            for listener in self.listeners:
                listener(row)
            if wanted(row):
                return row

    def close(self) -> None:
        """Close its pipe; the process then ends."""
        os.close(self.orders)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)

    def _read(self) -> Row:
        while b"\0" not in self.buffer:
            part = os.read(self.answers, 1 << 20)
            assert part, "Chromium has ended"
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        row: Row = json.loads(text)
        return row


@dataclass
class Tab:
    """A loaded page, with its requests and messages."""

    browser: Browser
    session: str
    requests: list[str] = field(default_factory=list)
    """Addresses that it requested, its own first."""
    said: list[str] = field(default_factory=list)
    """Its messages on the console, and the browser's errors."""

    def call(self, method: str, **arguments: object) -> Row:
        """Send a request to this page."""
        return self.browser.call(method, self.session, **arguments)

    def listen(self, row: Row) -> None:
        """Record requests and messages."""
        if row.get("sessionId") != self.session:
            return
        match row:
            case {"method": "Network.requestWillBeSent", "params": {"request": {"url": url}}}:
                self.requests.append(url)
            case {"method": "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded", "params": said}:
                self.said.append(json.dumps(said))

    def look(self, file: Path, width: int, scheme: str = "light", media: str = "screen") -> None:
        """Load a file at a width, for a screen or paper."""
        self.open(file.absolute().as_uri(), width, scheme, media)

    def open(self, address: str, width: int = 1100, scheme: str = "light", media: str = "screen") -> None:
        """Load an address at a width, and wait until its plots are drawn."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        self.call("Page.navigate", url=address)
        self.wait_for_load()
        assert self.value(DRAWN), "the plots are not drawn within 20 s"

    def enter(self, address: str) -> None:
        """Open an address with a token: its page hands the token over, and loads itself again."""
        self.call("Page.navigate", url=address)
        self.wait_for_load()
        self.wait_for_load()

    def wait_for_load(self) -> None:
        """Wait until a page is loaded."""
        self.browser.wait(
            lambda row: row.get("method") == "Page.loadEventFired" and row.get("sessionId") == self.session
        )

    def picture(self) -> bytes:
        """What is seen, as PNG: the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def press(self, key: str) -> None:
        """Press a key, named as in JavaScript."""
        text = {"text": key} if len(key) == 1 else {"text": "\r", "windowsVirtualKeyCode": 13} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, condition: str, what: str = "", seconds: int = 30) -> None:
        """Wait until an expression of JavaScript is true; fail after `seconds`, and if the page is left."""
        looks = f"""
        new Promise(resolve => {{
          const look = () => {{ if ({condition}) resolve(true); else setTimeout(look, 20); }};
          setTimeout(() => resolve(false), {1000 * seconds});
          look();
        }})
        """
        assert self.value(looks), f"{what or condition}: not within {seconds} s"

    def point(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the mouse to a place in the window, and click there if asked to."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def printed(self) -> bytes:
        """The printed page, as PDF. The media that `look` set are reset first, else they would apply to print too."""
        self.call("Emulation.setEmulatedMedia", media="")
        return base64.b64decode(self.call("Page.printToPDF")["data"])


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Run a browser during the block."""
    browser = Browser(profile)
    try:
        yield browser
    finally:
        browser.close()


@contextmanager
def tab(browser: Browser) -> Iterator[Tab]:
    """Open an empty page during the block."""
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    opened = Tab(browser, session)
    for domain in ("Page", "Network", "Runtime", "Log"):
        opened.call(f"{domain}.enable")
    browser.listeners.append(opened.listen)
    try:
        yield opened
    finally:
        browser.listeners.remove(opened.listen)
        browser.call("Target.closeTarget", targetId=target)
