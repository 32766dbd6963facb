/** A worker process of density study: fits of one dataset, loss and seed after another. */
import { serveParts } from "diffeo/node";
import type { Task } from "diffeo-tables";
import { runTask } from "diffeo-tables/node";

/** What a fit of a study needs: its name, where the data are, and the draws of the plain normaliser. */
export interface FitParameters {
  readonly task: Task;
  readonly folder: string;
  readonly samples: number;
}

/** Steps between two words of progress. */
const EVERY = 20;

serveParts({
  densityFit: ({ task, folder, samples }: FitParameters, report) =>
    runTask(task, {
      folder,
      samples,
      onStep: ({ step }) => {
        if (step % EVERY === 0) report(step);
      },
    }),
});
