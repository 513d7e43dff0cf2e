"""The exception for everything that is refused on purpose."""


class TetrarchiaError(ValueError):
    """Invalid input: a wrong argument, option, file or action.

    The message names what was given and what is allowed. The command line prints it as one line and exits with code 2;
    any other exception is a bug and shows its traceback.
    """
