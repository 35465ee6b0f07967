"""Judges what a call does with bad input: it works, or raises an error with a sentence."""

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
