"""`cuesta certify`: runs a plan repeatedly and fills in MPL-17's form; or shows, signs or verifies one made before."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from cuesta.cli.control import control_run
from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.options import plan_options
from cuesta.cli.output import check_json, say, write_json
from cuesta.cli.verbs.setting_flags import ENGINE
from cuesta.engine.folder import new_folder
from cuesta.errors import Exit, UsageError
from cuesta.ledger.signature import check_key
from cuesta.plan import load
from cuesta.terminal import inform
from cuesta.workflow.certify_system import (
    Certification,
    CertificationTerms,
    PlannedCertification,
    certify_systems,
    finish_certification,
    prepare_certifications,
)


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    _check_flags(arguments)
    if arguments.verify:
        return _verify(arguments)
    if arguments.sign:
        check_key(arguments.sign)
    if arguments.what.is_dir():
        certification = finish_certification(arguments.what, arguments.sign)
        say(certification.text(), arguments.json)
        write_json(arguments.json, certification.json())
        return certification.exit
    return _certify(arguments)


def _verify(arguments: argparse.Namespace) -> int:
    """Verify what was certified; exit 1 if something is wrong."""
    from cuesta.workflow.verify import verify_all  # noqa: PLC0415, a certification needs none of it

    results = verify_all(arguments.what, arguments.signers)
    for result in results:
        say(result.text(), arguments.json)
    objects = [result.json() for result in results]
    write_json(arguments.json, objects[0] if len(objects) == 1 else {"verified": objects})
    return Exit.GOOD if all(result.ok for result in results) else Exit.FAILED


def _check_flags(arguments: argparse.Namespace) -> None:
    """Raise UsageError for flags that cannot be combined."""
    names = ("runs", "absentee", "dry_run", "system", "reference", "profile", "comment", "out", *ENGINE)
    values = {name.replace("_", "-"): getattr(arguments, name) for name in names}
    plan_flags = ", ".join(f"--{flag}" for flag, value in values.items() if value or type(value) is int)
    if arguments.signers and not arguments.verify:
        raise UsageError(
            "cuesta certify: --signers goes with --verify", "cuesta certify --verify FOLDER --signers FILE"
        )
    if arguments.verify and arguments.sign:
        raise UsageError("cuesta certify: --verify changes nothing, --sign does", "sign first, and verify then")
    if plan_flags and (arguments.verify or arguments.what.is_dir()):
        raise UsageError(
            f"cuesta certify: {plan_flags}: goes with a plan that is run, and {arguments.what} was made already",
            "leave it out; what was certified cannot be told otherwise afterwards",
        )


def _certify(arguments: argparse.Namespace) -> int:
    """Certify each group of a plan. The exit code is the largest of theirs."""
    plan = load(plan_options(arguments.what, arguments), Path.cwd())
    folder = arguments.out or new_folder(Path(), plan.settings.name)
    planned = prepare_certifications(plan, _terms(arguments), folder)
    if arguments.dry_run:
        say("\n\n".join(each.text() for each in planned), arguments.json)
        write_json(arguments.json, _by_group({each.group.name: each.data() for each in planned}, planned))
        return Exit.GOOD
    made = dict[str, Certification]()
    with catch_interrupts() as stopping:
        try:
            with control_run(arguments, stopping, plan.settings.name, folder, plan.settings) as control:
                made.update(certify_systems(planned, control, arguments.sign))
        finally:  # what was certified is shown, whatever happened to those that followed
            for certification in made.values():
                for failure in certification.failures:
                    inform(f"cuesta: {failure}")
                say(certification.text(), arguments.json)
    write_json(arguments.json, _by_group({group: each.json() for group, each in made.items()}, planned))
    return max(each.exit for each in made.values())


def _terms(arguments: argparse.Namespace) -> CertificationTerms:
    names = ("runs", "absentee", "system", "reference", "profile")
    given = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    return CertificationTerms(**given, comments=arguments.comment)


def _by_group(objects: Mapping[str, object], planned: list[PlannedCertification]) -> object:
    """An object by group if the plan has several groups, else that of its one group."""
    return objects if len(planned) > 1 else objects[planned[0].group.name]
