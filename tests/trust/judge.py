"""Judges what a call does with bad input: it works, or raises an error with a sentence."""

import faulthandler
import re
import signal
import time
import traceback
import unicodedata
import warnings
from contextlib import contextmanager

from sklearn.exceptions import DataConversionWarning, NotFittedError

from hocmim.errors import HocmimError, HocmimWarning

# Of processor time: nothing here needs half of it.
SECONDS = 120
# A call that waits takes no processor time. A busy machine is several times slower.
TIMES_LONGER = 5
# Of a command, which is run in this process: until it counts as a hang, because a busy machine is
# slower.
SECONDS_OF_A_COMMAND = 60
SECONDS_UNTIL_A_HANG = 600
# Every file that a command writes; after an error none of them exists.
WRITTEN = ("out.csv", "out.json", "out.model", "page.html", "applied.csv")
# Unicode categories of characters that move the cursor, change colours or hide text.
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# Words of other libraries and of Python that explain nothing to a user.
RAW = re.compile(
    r"unhashable|ambiguous|has no attribute|not subscriptable|NoneType|object at 0x|Traceback|"
    r"unexpected keyword|__\w+__|numpy\.core|must be real number|not supported between|not iterable"
)


class Hang(BaseException):
    """The call took too long."""


@contextmanager
def limited(seconds=SECONDS):
    """Raise Hang if the block takes longer: of processor time, or several times as long."""
    began, began_at = time.process_time(), time.monotonic()

    def stop(*_):
        used, passed = time.process_time() - began, time.monotonic() - began_at
        if used >= seconds or passed >= TIMES_LONGER * seconds:
            raise Hang(f"still running after {passed:.0f} seconds")
        signal.alarm(max(1, seconds // 10))

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def unsafe_characters(text, allowed="\n"):
    """Return the characters of a text that a terminal could obey, or that hide something."""
    return {
        character
        for character in text
        if character not in allowed and unicodedata.category(character) in INVISIBLE
    }


def fault_of_message(text):
    """Return what is wrong with the message of an error, or None."""
    is_of_scikit_learn = text.startswith("The feature names should match")
    ends = (".", "?", ")", "…", "'", "]")
    if not is_of_scikit_learn and (len(text) < 20 or not text.rstrip().endswith(ends)):
        return f"no sentence: {text!r}"
    if RAW.search(text):
        return f"words of another library: {text!r}"
    if unsafe_characters(text):
        return f"unsafe characters in {text!r}"
    if len(text) > 5000:
        return f"a message of {len(text)} characters"
    return None


def fault_of_error(error):
    """Return what is wrong with an error, or None if it is documented and has a sentence."""
    is_file_error = isinstance(error, OSError) and error.errno and error.filename
    if not isinstance(error, (HocmimError, NotFittedError, MemoryError)) and not is_file_error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:300]!r} ({last.filename}:{last.lineno})"
    if is_file_error or isinstance(error, MemoryError):
        return None
    return fault_of_message(str(error))


def judge(call, seconds=SECONDS):
    """Make a call; return ("works", …), ("error", message) or ("fault", what is wrong)."""
    began = time.process_time()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            with limited(seconds):
                call()
            verdict, text = "works", ""
        except Hang as error:
            return "fault", str(error), time.process_time() - began
        except Exception as error:
            fault = fault_of_error(error)
            verdict, text = ("fault", fault) if fault else ("error", str(error))
        except BaseException as error:  # a panic of Rust
            verdict, text = "fault", f"{type(error).__name__}: {error}"
    if verdict != "fault":
        for warning in given:
            fault = _fault_of_warning(warning)
            if fault:
                return "fault", fault, time.process_time() - began
    return verdict, text, time.process_time() - began


def _fault_of_warning(warning):
    text = str(warning.message)
    if issubclass(warning.category, DataConversionWarning) or "feature names, but" in text:
        return None  # scikit-learn demands them
    if not issubclass(warning.category, HocmimWarning):
        return f"{warning.category.__name__}: {text[:200]!r} ({warning.filename}:{warning.lineno})"
    fault = fault_of_message(text)
    return f"warning: {fault}" if fault else None


def fault_of_run(words, folder):
    """Run a command in this process; return (exit code, what is wrong or None)."""
    from click.testing import CliRunner

    from hocmim.cli import main

    began = time.process_time()
    faulthandler.dump_traceback_later(SECONDS_UNTIL_A_HANG, exit=True)
    result = CliRunner().invoke(main, [str(word) for word in words])
    faulthandler.cancel_dump_traceback_later()
    seconds = time.process_time() - began
    code, said = result.exit_code, result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return code, f"traceback: {result.exception!r}"
    if seconds > SECONDS_OF_A_COMMAND:
        return code, f"took {seconds:.0f} s"
    if code not in (0, 1, 2):
        return code, f"exit code {code}"
    if "Unexpected error" in said or "Traceback" in result.output:
        return code, said
    if unsafe_characters(result.output, allowed="\n\t"):
        return code, f"unsafe characters in {result.output!r}"
    if code:
        message = said.rpartition("Error: ")[2].strip()
        if not message or fault_of_message(message):
            return code, fault_of_message(message) or f"no error message: {said!r}"
        found = [name for name in WRITTEN if (folder / name).exists()]
        if found:
            return code, f"half written: {found}"
    if list(folder.rglob("*.part")):
        return code, "a temporary file is left"
    return code, None
