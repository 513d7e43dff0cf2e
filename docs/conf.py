"""How Sphinx builds the site of this folder: `make docs`."""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
os.environ["NUMBA_DISABLE_JIT"] = "1"  # rules as plain functions, whose docstrings autodoc finds
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
sys.path[:0] = [str(DOCS / "_extensions"), *(str(DOCS.parent / folder) for folder in ("", "agents", "train", "eval", "app"))]

from tetrarchia_env import __version__  # noqa: E402

project = "Tetrarchia"
author = "Tetrarchia RL contributors"
copyright = "the contributors; the game TETRARCHIA is its designer's, Miguel Marqués"
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "repository_files", "short_types"]
exclude_patterns = ["_extensions"]
nb_execution_mode = "off"  # the notebook's outputs are kept in its file
myst_heading_anchors = 3
myst_links_external_new_tab = True

default_role = "code"
napoleon_numpy_docstring = False
napoleon_attr_annotations = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
add_module_names = False
python_display_short_literal_types = True
# Other packages' names: looking them up would need the network.
nitpick_ignore_regex = [(r"py:.*", r"(?!tetrarchia_(env|agents|eval|train|app)\.).*")]
nitpick_ignore = [("py:class", f"tetrarchia_{name}") for name in ("agents.registry.Player", "eval.result_files.Content")]  # type variables

html_theme = "furo"
html_title = f"Tetrarchia {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"light_css_variables": {"color-brand-primary": "#6b1f4b", "color-brand-content": "#8a2a5f"}}
html_theme_options["dark_css_variables"] = {"color-brand-primary": "#e3a6c8", "color-brand-content": "#e3a6c8"}
