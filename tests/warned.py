"""Warnings that tests make on purpose, as filters: ``pytestmark = pytest.mark.filterwarnings(…)``.

Every other warning is an error (``pyproject.toml``). The tables of the tests are small, and made to
be hard; what is said about them is tested where it is made.
"""

TEXT = "ignore:.* of text that looks? like numbers or dates"
LEAK = "ignore:.* explains? (nearly )?all of (the target|one of the targets)"
ONE_BIN = "ignore:.* ha(s|ve) one bin with more than 80% of the rows"
IDENTIFIER = "ignore:.* identif(y|ies) the rows"
REPEATED_ROWS = "ignore:.* rows repeat another row"
CLIPPED = "ignore:n_features_to_select is .*, but only"
GUESSED = "ignore:y has .* so it is treated as"
CONSTANT = "ignore:Every column has only one level"
NEW_LEVELS = "ignore:New levels and missing values"
FEW_GROUPS = "ignore:The rows are in .* groups"
PORT = "ignore:Port .* is already in use"
NOTHING_PREDICTS = "ignore:No number of columns predicts better"
NOTHING_SELECTED = "ignore:No features were selected"
