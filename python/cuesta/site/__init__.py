"""Pages in a browser: runs that go on, finished ones, certifications and the ledger.

A page only reads; what it may ask of a run that goes on is to stop and to mark an instant.

- `access`: who may look; `guard`: what every request and answer passes.
- `application`: routes behind the guard; `serving`: serves them on a socket, with limits.
- `live_page`: the page of a run that goes on, its events, and what it asks of the run.
- `going_on`: the same for runs of other commands, from their folders.
- `frame`: what all pages have around them; `static_files`: the scripts and styles that they load.
- `finished`: the pages of `cuesta live`. `entries`: what there is below the folders; `lists`: the lists of it;
  `reports`: builds what pages show; `questions`: the ledger's; `recordings`: plays a user's session beside a chart.

This file imports none of them: a run that goes on needs few of these.
"""
