"""What all pages have around them: the head with style and scripts, the names of the pages, and the title."""

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from cuesta.plain_text import plain
from cuesta.site.static_files import address_of

NOTHING = Markup()
FRAME = Markup(
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
    '<meta name="color-scheme" content="light dark"/>\n<link rel="icon" href="{icon}"/>\n'
    "<title>{title} – Cuesta</title>\n{styles}{scripts}</head>\n<body>\n"
    '<a class="skip" href="#main">Skip to the page</a>\n'
    '<header><span class="brand">Cuesta</span>{links}</header>\n<main id="main" tabindex="-1">\n'
    "<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
)
STYLE, SCRIPT = Markup('<link rel="stylesheet" href="{}"/>\n'), Markup('<script src="{}" defer=""></script>\n')
PAGES = {"/": "Runs", "/systems": "Systems", "/ledger": "Ledger"}
"""The pages that every page names, by their addresses: those of `cuesta live`."""
NO_TOKEN = Markup(
    '<p id="entry" role="status">Open the address that was printed where Cuesta was started: it has the token that '
    "opens these pages.</p>\n<noscript><p>A script of this page hands over the token; no script runs here.</p>"
    "</noscript>\n"
)


def frame(  # noqa: PLR0913, each is a part of the page
    title: str,
    body: Markup,
    *,
    here: str = "",
    pages: Mapping[str, str] = PAGES,
    scripts: Iterable[str] = (),
    styles: Iterable[str] = (),
) -> Markup:
    """A whole page. `here` is its own address, `pages` those that it names; files are names of `static/`."""
    return FRAME.format(
        title=plain(title),
        body=body,
        icon=address_of("icon.svg"),
        styles=NOTHING.join(STYLE.format(address_of(name)) for name in ("page.css", "site.css", *styles)),
        scripts=NOTHING.join(SCRIPT.format(address_of(name)) for name in ("enter.js", *scripts)),
        links=_links(pages, here),
    )


def _links(pages: Mapping[str, str], here: str) -> Markup:
    current = Markup(' aria-current="page"')
    items = NOTHING.join(
        Markup('<a href="{}"{}>{}</a>').format(path, current if path == here else NOTHING, name)
        for path, name in pages.items()
    )
    return Markup('<nav aria-label="Pages">{}</nav>').format(items) if items else NOTHING


def entry_page() -> Markup:
    """The page for those who have not shown the token; its script does so if the address has one."""
    return frame("Not open yet", NO_TOKEN, pages={})


def error_page(title: str, why: str, pages: Mapping[str, str]) -> Markup:
    """The page instead of one that cannot be shown."""
    return frame(title, Markup('<p class="notice">{}</p>\n').format(plain(why)), pages=pages)
