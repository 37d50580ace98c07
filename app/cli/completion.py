"""`tachograph completion`: the script that completes words in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from app.cli import terminal
from app.cli.options import Word, with_examples

NAME, VARIABLE = "tachograph", "_TACHOGRAPH_COMPLETE"


@with_examples("completion bash", "completion zsh", "completion fish")
@click.argument("shell", type=Word(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and values in a shell.

    Bash (4.4 or newer), zsh or fish.

    \b
    bash:  echo 'eval "$(tachograph completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(tachograph completion zsh)"' >> ~/.zshrc
    fish:  tachograph completion fish > ~/.config/fish/completions/tachograph.fish
    """  # noqa: D301  it is a backspace, which makes click leave the lines as they are
    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(ctx.find_root().command, {}, NAME, VARIABLE)
    terminal.put((made.source_template % made.source_vars()).encode())
