"""The pages of `cuesta live`: what is below some folders, a page for each run, certification and comparison."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cuesta.errors import InputError
from cuesta.plain_text import plain
from cuesta.report.model import Listing, Report, Section
from cuesta.report.render.page import Address, body, has_plots, html_alone, write_sections
from cuesta.site.entries import Entries, Entry, list_files
from cuesta.site.frame import frame
from cuesta.site.going_on import GoingOn
from cuesta.site.lists import list_certifications, list_comparisons, list_runs
from cuesta.site.questions import QUESTIONS, ask
from cuesta.site.recordings import casts_of, recording_routes
from cuesta.site.reports import Reports, Wanted

NOTHING = Markup()
PLOT_SCRIPTS = ("vega.js", "plots.js")
NONE = Markup(
    "<p>Nothing is here yet: <code>cuesta run</code> leaves a folder below <code>runs</code>, and this page shows it "
    "when it is opened again.</p>\n"
)
LINK = Markup('<a class="button" href="{}">{}</a> ')
ENDED = Markup(
    '<p class="faint">The run has ended, and with it the server of this page. The report is in {} too; '
    "<code>cuesta live</code> shows it with all others.</p>\n"
)
SECTION = Markup("<section>\n<h2>{}</h2>\n{}</section>\n")


@dataclass(frozen=True, slots=True)
class Finished:
    """What the pages show, and where what is derived is kept."""

    entries: Entries
    reports: Reports
    database: Path
    """A file of the ledger's database, which no other process uses."""

    def routes(self) -> Sequence[BaseRoute]:
        """All pages."""
        return [
            Route("/", self.home),
            Route("/run/{id}", self.run),
            Route("/files/{id}/{path:path}", self.file),
            Route("/certification/{id}", self.of_several_runs),
            Route("/comparison/{id}", self.of_several_runs),
            Route("/side-by-side", self.side_by_side),
            Route("/compare", self.compare),
            Route("/certifications", self.certifications),
            Route("/systems", self.systems),
            Route("/ledger", self.ledger),
            *recording_routes(self.find, self.reports),
            *GoingOn(self.find).routes(),
        ]

    async def find(self, request: Request) -> Entry:
        """The entry that an address names."""
        entries = await self.reports.work(self.entries.find)
        entry = entries.get(request.path_params["id"])
        if entry is None:
            raise HTTPException(404, "it is not below the folders that are shown here, or not any more")
        return entry

    async def home(self, _request: Request) -> Response:
        """The list of all."""
        entries = await self.reports.work(self.entries.find)
        alone = [entry for entry in entries.values() if not entry.part_of]
        kinds = (
            ("Runs", list_runs, [entry for entry in alone if entry.kind in {"run", "search"}]),
            ("Comparisons", list_comparisons, [entry for entry in alone if entry.kind == "comparison"]),
            ("Certifications", list_certifications, [entry for entry in alone if entry.kind == "certification"]),
        )
        parts = [SECTION.format(title, write(those)) for title, write, those in kinds if those]
        where = Markup('<p class="faint">below {}</p>\n').format(plain(", ".join(map(str, self.entries.places))))
        return HTMLResponse(frame("Runs", where + (NOTHING.join(parts) or NONE), here="/", scripts=("choose.js",)))

    async def run(self, request: Request) -> Response:
        """A run, as its report has it; of one that goes on, its live page."""
        entry = await self.find(request)
        if entry.state == "goes on":
            return RedirectResponse(f"{entry.address}/live/")
        watch = [(f"/run/{entry.id}/watch/{cast.name}", f"Watch {cast.name}") for cast in casts_of(entry)]
        return await self._show(request, Wanted.report_of(entry), more=watch)

    async def of_several_runs(self, request: Request) -> Response:
        """A certification, or a comparison of two versions or of pairs, and its runs."""
        entry = await self.find(request)
        return await self._show(request, Wanted.report_of(entry), await self._runs_of(entry))

    async def side_by_side(self, request: Request) -> Response:
        """Several runs."""
        return await self._show(request, Wanted("runs", await self._chosen(request, {"run", "search"})))

    async def compare(self, request: Request) -> Response:
        """Two runs, the older one as the base, unless the address has them the other way round."""
        chosen = await self._chosen(request, {"run", "search"})
        if "swapped" not in request.query_params:
            chosen = tuple(sorted(chosen, key=lambda entry: entry.started))
        swapped = "?" + urlencode([*(("id", entry.id) for entry in reversed(chosen)), ("swapped", "")])
        return await self._show(request, Wanted("comparison", chosen), more=[(swapped, "Swap the sides")])

    async def certifications(self, request: Request) -> Response:
        """Several systems."""
        return await self._show(request, Wanted("certifications", await self._chosen(request, {"certification"})))

    async def systems(self, _request: Request) -> Response:
        """The certified systems, and what is planned."""
        sections = await self.reports.work(self._list_systems)
        return HTMLResponse(frame("Systems", write_sections(sections, no_link), here="/systems"))

    async def ledger(self, request: Request) -> Response:
        """Questions to all that was recorded, and the answer to one."""
        name = request.query_params.get("question", "")
        items = NOTHING.join(
            Markup('<li><a href="?question={}"{}>{}</a></li>\n').format(
                each, Markup(' aria-current="page"') if each == name else NOTHING, question.words
            )
            for each, question in QUESTIONS.items()
        )
        listed = Markup('<ul class="questions">\n{}</ul>\n').format(items)
        if name not in QUESTIONS:
            return HTMLResponse(frame("Ledger", listed, here="/ledger"))
        entries = await self.reports.work(self.entries.find)
        answer = await self.reports.work(
            lambda: ask(QUESTIONS[name], self.entries.places, self.database, [*entries.values()])
        )
        return HTMLResponse(frame("Ledger", listed + answer, here="/ledger"))

    async def file(self, request: Request) -> Response:
        """A file of a run's folder, to be stored."""
        entry = await self.find(request)
        wanted = request.path_params["path"]
        files = await self.reports.work(lambda: [*list_files(entry.folder)])
        file = next((file for file in files if file.relative_to(entry.folder).as_posix() == wanted), None)
        if file is None:
            raise HTTPException(404, "the folder has no such file")
        return FileResponse(file, media_type="application/octet-stream", filename=file.name)

    async def _runs_of(self, entry: Entry) -> Markup:
        entries = await self.reports.work(self.entries.find)
        runs = [each for each in entries.values() if each.part_of == entry.id]
        return SECTION.format("Its runs", list_runs(runs)) if runs else NOTHING

    async def _chosen(self, request: Request, kinds: set[str]) -> tuple[Entry, ...]:
        entries = await self.reports.work(self.entries.find)
        chosen = [entries.get(each) for each in dict.fromkeys(request.query_params.getlist("id"))]
        return tuple(entry for entry in chosen if entry and entry.kind in kinds)

    async def _show(
        self, request: Request, wanted: Wanted, below: Markup = NOTHING, more: Sequence[tuple[str, str]] = ()
    ) -> Response:
        """A report as a page, or as one file to be stored and passed on."""
        report = await self.reports.get(wanted)
        if "copy" in request.query_params:
            copy = await self.reports.work(lambda: html_alone(report))
            name = "-".join(entry.name for entry in wanted.entries)[:100] or "report"
            return HTMLResponse(copy, headers={"Content-Disposition": f'attachment; filename="{_safe(name)}.html"'})
        title = name_page(report, wanted.entries)
        linked = link_files(wanted.entries[0]) if len(wanted.entries) == 1 else no_link
        text = await self.reports.work(lambda: body(report, linked))
        return HTMLResponse(_page(request, title, text, below, more))

    def _list_systems(self) -> list[Section]:
        from cuesta.workflow.list_systems import list_systems  # noqa: PLC0415, slow to load

        return [Section("Certified systems", [Listing(list_systems(self.entries.places, None, None).text())])]


async def show_report(reports: Reports, folder: Path) -> Response:
    """The report of one folder, of whatever kind it is, as a page without links: the server ends once it is loaded.

    Raises CuestaError if there is no report of it.
    """
    entries = await reports.work(Entries([folder]).find)
    entry = next((each for each in entries.values() if each.folder == folder.absolute()), None)
    if entry is None:
        raise InputError(f"{folder}: there is no run in it")
    report = await reports.get(Wanted.report_of(entry))
    text = await reports.work(lambda: body(report, no_link))
    note = ENDED.format(plain(str(folder)))
    return HTMLResponse(frame(name_page(report, (entry,)), note + text, pages={}, scripts=_scripts(text)))


def name_page(report: Report, entries: Sequence[Entry]) -> str:
    """The title of a report, and the folder that it is of."""
    names = [entry.name for entry in entries if entry.name not in report.title]
    return f"{report.title}: {names[0]}" if len(entries) == len(names) == 1 else report.title


def no_link(file: Path) -> tuple[str, str]:
    """What stands for files where they are not linked."""
    return "", file.name


def link_files(entry: Entry) -> Address:
    """The addresses of the files of an entry."""

    def address(file: Path) -> tuple[str, str]:
        if not file.is_relative_to(entry.folder):
            return no_link(file)
        name = file.relative_to(entry.folder).as_posix()
        return f"/files/{entry.id}/{quote(name)}", name

    return address


def _page(request: Request, title: str, text: Markup, below: Markup, more: Sequence[tuple[str, str]]) -> Markup:
    """A report in the frame of all pages: first what can be done with it, last what else belongs to it."""
    query = f"{request.url.query}&copy" if request.url.query else "copy"
    links = NOTHING.join(LINK.format(*link) for link in [*more, (f"?{query}", "Copy as one file")])
    tools = Markup('<p class="tools">{}</p>\n').format(links)
    return frame(title, tools + text + below, scripts=_scripts(text))


def _scripts(text: Markup) -> Sequence[str]:
    return PLOT_SCRIPTS if has_plots(text) else ()


def _safe(name: str) -> str:
    """A name of a file, in ASCII and without what a header or a shell would read otherwise."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "report"
