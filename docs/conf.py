"""How the documentation is built: no network, warnings are errors."""

from sphinx.util.inspect import TypeAliasForwardRef

from probative._version import __version__

project = "probative"
author = "The probative developers"
copyright = "2026, the probative developers"
release = version = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

default_role = "autolink"  # `Name` in a docstring is a link where it names something
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "both"
autodoc_typehints_format = "short"
# types that the pages name as the source does, not by all that they stand for
_NAMED = "Array ArrayLike Input Instances Ints Labels NDArray Number RNG Rows Strata StrataLike"
autodoc_type_aliases = {name: name for name in f"{_NAMED} Systems Words".split()}
autodoc_type_aliases["UnitLabels"] = "Labels"
TypeAliasForwardRef.__repr__ = lambda self: self.name  # also in a union
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
napoleon_google_docstring = False
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = f"probative {version}"
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "collapse_navigation": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
}
# the four parts on every page, the front page included: its toctrees are the navigation
html_sidebars = {"**": ["sidebar-parts.html"]}
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
