"""How the documentation is built: no network, warnings are errors."""

from probative._version import __version__

project = "probative"
author = "The probative developers"
copyright = "2026, the probative developers"
release = version = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = f"probative {version}"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
}
html_sidebars = {"**": ["globaltoc.html"]}  # all pages under their captions, on every page
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
