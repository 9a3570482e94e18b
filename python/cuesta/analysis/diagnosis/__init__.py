"""Causes by name: which limit or setting of the host made lines fail or users wait. docs/causes.md is the table.

- `observed`: what rules look at: failures and their texts, the phases of opening lines, the host's counters.
- `rule`: how a cause is declared: its name, how it is recognized, the setting to change, what it was proved against.
- `logins`: limits and look-ups of login services; `terminals`: pseudo-terminals and the services that end without them;
  `resources`: processes, files, disks, memory, CPU time; `network`: queues and tables of the kernel's network stack.
- `find`: applies all rules to a step. `document`: writes docs/causes.md.

A rule names a cause only on evidence that tells it apart; with less evidence it says that it may be this one.
"""
