"""Whether metrics can be sent to a collector of OpenTelemetry, and how often. Loads nothing of the SDK."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from cuesta.errors import UsageError

INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"
DEFAULT_INTERVAL = 5_000
"""Milliseconds. The SDK's default is a minute, and most runs are shorter."""
PROTOCOLS = ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
ENDPOINTS = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
DEFAULT_ENDPOINT = "http://localhost:4318"
PACKAGES = ("opentelemetry", "opentelemetry.exporter.otlp.proto.http")


def check(environment: Mapping[str, str] = os.environ) -> None:
    """Raise UsageError if metrics cannot be sent here, or not with these variables."""
    if not is_installed():
        raise UsageError("--otlp: OpenTelemetry's exporter is not installed here", "pip install 'cuesta[otlp]'")
    name = next((name for name in PROTOCOLS if environment.get(name)), None)
    if name and environment[name] != "http/protobuf":
        raise UsageError(f"{name}={environment[name]}: metrics are sent as http/protobuf only", f"unset {name}")
    read_interval(environment)


def is_installed() -> bool:
    """Whether the SDK and its exporter are."""
    try:
        return all(find_spec(package) for package in PACKAGES)
    except ModuleNotFoundError:  # a package above is missing
        return False


def read_interval(environment: Mapping[str, str] = os.environ) -> float:
    """Seconds from one export to the next. Raises UsageError."""
    text = environment.get(INTERVAL, "").strip() or str(DEFAULT_INTERVAL)
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise UsageError(f"{INTERVAL}={text}: expected milliseconds, a whole number above 0")
    return int(text) / 1000


def find_collector(environment: Mapping[str, str] = os.environ) -> str:
    """The host and port of the collector, without what its URL may hold that is secret."""
    url = next(filter(None, map(environment.get, ENDPOINTS)), DEFAULT_ENDPOINT)
    return urlsplit(url).netloc.rpartition("@")[2] or "the collector"
