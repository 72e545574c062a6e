// Lets the conformance suite start on Node 20, whose fs has no globSync. Only the
// suite's own tests of clients use it. Node 22 and later need nothing.
import * as fs from "node:fs";
import { register } from "node:module";

if (!fs.globSync) {
  register("data:text/javascript," + encodeURIComponent(`
    export async function load(url, context, next) {
      const loaded = await next(url, context);
      if (!url.endsWith("/conformance/dist/index.js")) return loaded;
      let name;
      const source = String(loaded.source).replace(/globSync as (\\w+),/, (_, given) => { name = given; return ""; });
      return name ? { ...loaded, source: source + "\\nfunction " + name + "() { return []; }" } : loaded;
    }`));
}
