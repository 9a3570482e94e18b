"""The metrics of a run, kept up to date from what the command tells."""

from cuesta.live.followed import FollowedRun
from cuesta.publish.messages import ToPublisher
from cuesta.publish.metrics import Metrics


class FollowedMetrics:
    """Feeds metrics."""

    def __init__(self, run: FollowedRun, run_id: str) -> None:
        self.metrics = Metrics(run_id)
        self._run = run
        self._marks = 0

    def take(self, message: ToPublisher) -> None:
        """Take what is new."""
        if message.seen and self._run.view:
            self.metrics.take(message.seen.snapshots, self._run.view)
        if message.told is not None:
            self.metrics.tell(message.told)
        for mark in self._run.marks.since(self._marks):
            self.metrics.mark(mark.text)
        self._marks = self._run.marks.count
