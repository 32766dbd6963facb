/** Documents of the repository outside `docs/`, as pages of the site. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryPages, root } from "../.vitepress/repository.ts";

export default {
  paths: () =>
    [...repositoryPages].map(([page, path]) => ({
      params: { page },
      content: readFileSync(join(root, path), "utf8"),
    })),
};
