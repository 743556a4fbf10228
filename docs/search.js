// Ask the search of the built documentation: node docs/search.js FOLDER QUERY...
// It runs Sphinx's own searchtools.js and prints the pages it lists, best first, one JSON per query.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, ...queries] = process.argv.slice(2);
const nothing = () => {};
const world = vm.createContext({
  document: { addEventListener: nothing, getElementById: () => ({}) },
  DOCUMENTATION_OPTIONS: {},
  SPHINX_HIGHLIGHT_ENABLED: false,
  _ready: nothing,
  _: (text) => text,
});
world.window = world;
const run = (text) => vm.runInContext(text, world);
const load = (name) => run(fs.readFileSync(path.join(folder, name), "utf8"));
load("_static/language_data.js");
load("_static/searchtools.js");
run("globalThis.Search = Search");
load("searchindex.js");
for (const query of queries) {
  world.query = query;
  const found = run("Search._performSearch(...Search._parseQuery(query))").reverse();
  const pages = found.map(([page, title, anchor]) => page + anchor);
  console.log(JSON.stringify({ query, pages }));
}
