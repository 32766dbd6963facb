/**
 * Pictures of a table compared with samples of a model. The drawing code is large and is loaded on
 * demand.
 */
import type { Product } from "diffeo/domain";
import { stackedFigures } from "diffeo-picture";
import type { Calibration } from "../measure/calibration.ts";
import type { TableEvaluation } from "../measure/evaluation.ts";
import type { PairOptions, PairPlots, PairSets } from "./pairs.ts";

export type { PairSets } from "./pairs.ts";

/**
 * The plots of a pair plot one by one, for a page that must stay responsive while it draws them.
 */
export const pairPlots = async (sets: PairSets): Promise<PairPlots> =>
  (await import("./pairs.ts")).pairPlots(sets);

/** The columns and rows of pictures of a table. */
export interface TablePictureOptions extends PairOptions {
  readonly domain: Product;
  readonly calibration?: Calibration;
}

/**
 * The figures: a pair plot, then triangles of three parts and likelihood ranks if there are any.
 */
async function tableFigures({
  calibration,
  ...options
}: TablePictureOptions): Promise<readonly string[]> {
  const [{ pairPlot }, { panelChart }] = await Promise.all([
    import("./pairs.ts"),
    import("./panels.ts"),
  ]);
  const more = panelChart(options.domain, options.data, options.samples, calibration);
  return [pairPlot(options), ...(more === undefined ? [] : [more])];
}

/** All figures as one SVG. */
export const tablePicture = async (options: TablePictureOptions): Promise<string> =>
  stackedFigures(await tableFigures(options));

/** The figures of a report: likelihoods compared with baselines, then those of the table. */
export async function reportFigures(
  evaluation: TableEvaluation,
  options: Omit<TablePictureOptions, "calibration">,
): Promise<readonly string[]> {
  const { evaluationChart } = await import("./evaluation.ts");
  return [
    evaluationChart(evaluation),
    ...(await tableFigures({ ...options, calibration: evaluation.calibration })),
  ];
}
