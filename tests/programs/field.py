"""A field for a row in Textual: each row is answered below it."""

from textual.app import App, ComposeResult
from textual.widgets import Input, Label


class Field(App[None]):
    """An `Input` and a label."""

    answers = 0

    def compose(self) -> ComposeResult:
        yield Input()
        yield Label("answer 0 to  $")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer a row, and empty the field."""
        self.answers += 1
        self.query_one(Label).update(f"answer {self.answers} to {event.value} $")
        event.input.clear()


if __name__ == "__main__":
    Field().run()
