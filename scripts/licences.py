"""Check the licences of all Rust crates (by deny.toml) and of all installed Python packages (no GPL)."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent


def rust_faults() -> list[str]:
    """The crates whose licence is not in deny.toml."""
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"])
    command = ["cargo", "metadata", "--format-version=1", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    return [
        f"{package['name']}: {package['license']}"
        for package in metadata["packages"]
        if not permitted(package["license"] or "", allowed)
    ]


def permitted(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression is permitted: one side of every `OR`, both sides of every `AND`."""
    depth_free = re.sub(r"\(([^()]*)\)", lambda inner: "MIT" if permitted(inner[1], allowed) else "none", expression)
    arms = re.split(r" OR |/", depth_free)
    return any(all(part.strip() in allowed for part in arm.split(" AND ")) for arm in arms)


def python_faults() -> list[str]:
    """The installed packages under the GPL or AGPL; the LGPL is permitted."""
    licences = {each.metadata["Name"]: licence(each) for each in distributions()}
    return [f"{name}: {text}" for name, text in licences.items() if re.search(r"\bA?GPL|GNU (Affero )?General", text)]


def licence(package: Distribution) -> str:
    """The licence fields of a package's metadata, shortened."""
    metadata = package.metadata
    classified = [text for text in metadata.get_all("Classifier", []) if text.startswith("License")]
    return "; ".join([metadata.get("License-Expression", ""), (metadata.get("License") or "")[:80], *classified])


if __name__ == "__main__":
    faults = rust_faults() + python_faults()
    print("\n".join(f"licence not permitted: {fault}" for fault in faults), end="\n" if faults else "")
    sys.exit(bool(faults))
