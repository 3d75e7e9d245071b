"""What a demonstration asks before it shows its answer: a guess, in writing."""

import numbers
from typing import Any


def guessed(guess: Any) -> bool:
    """Whether a guess has been written; if not, one line asks for it.

    Example:
        >>> guessed(...)
        A guess first: write yours in place of the dots above, and run both cells. It costs nothing.
        False
    """
    if guess is ...:
        print("A guess first: write yours in place of the dots above, and run both cells. It costs nothing.")
    return guess is not ...


def compare(guess: Any, truth: Any) -> None:
    """Hold a guess against what was found: a number, or one of several words.

    Example:
        >>> compare(10, 2.04)
        You guessed 10, and it is 2.04.
        >>> compare("left", "right")
        You guessed left, and it is right.
        >>> compare(2, 2.04)
        You guessed 2, and it is 2.04: well guessed.
    """
    if isinstance(truth, numbers.Real) and isinstance(guess, numbers.Real):
        close = abs(float(guess) - float(truth)) <= 0.1 * abs(float(truth))
    else:
        close = str(guess).strip().casefold() == str(truth).casefold()
    found = f"{truth:.3g}" if isinstance(truth, float) else truth
    print(f"You guessed {guess}, and it is {found}{': well guessed' if close else ''}.")
