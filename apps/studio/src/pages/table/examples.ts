/** Synthetic example tables, each a function of its name alone. */
import { fold, key, normal, uniform } from "diffeo/random";
import { serializeCells } from "diffeo-tables";
import { generate } from "diffeo-tables/density";

interface Example {
  readonly columns: readonly string[];
  readonly rows: number;
  /** A row from its uniform and its normal random numbers. */
  readonly row: (u: Float64Array, z: Float64Array) => readonly (string | number)[];
  readonly rules: readonly string[];
}

const rounded = (value: number, places: number): number => Number(value.toFixed(places));
const logistic = (v: number): number => 1 / (1 + Math.exp(-v));

/** Counts with the given mean and about the variance of a Poisson distribution. */
const counted = (mean: number, z: number): number =>
  Math.max(0, Math.round(mean + Math.sqrt(mean) * z));

/** Soil samples of three kinds of land: composition, acidity, carbon and earthworms. */
const soil: Example = {
  columns: ["use", "sand", "silt", "clay", "ph", "carbon", "worms"],
  rows: 1500,
  row: ([which, missing], [a, b, c, d, e]) => {
    const kind = which < 0.45 ? 0 : which < 0.75 ? 1 : 2;
    const weights = [
      Math.exp([0.3, 0.6, 1.1][kind] + 0.7 * a),
      Math.exp(0.5 * b),
      Math.exp(0.6 * c - 0.3 * a),
    ];
    const total = weights.reduce((sum, w) => sum + w, 0);
    const [sand, silt] = weights.map((w) => Math.max(0.1, rounded((100 * w) / total, 1)));
    const clay = Math.max(0.1, rounded(100 - sand - silt, 1));
    const ph = rounded(3.2 + 5 * logistic([0.9, 0.4, -1.2][kind] + 0.5 * d - 0.25 * a), 2);
    const carbon = rounded(Math.exp([0.9, 0.3, 1.3][kind] + 0.45 * e), 2);
    const worms = counted(
      30 * logistic(1.6 * (ph - 5.6)) * logistic(carbon - 2) + 1,
      0.8 * b + 0.6 * d,
    );
    return [
      ["meadow", "field", "forest"][kind],
      rounded(100 - silt - clay, 1),
      silt,
      clay,
      ph,
      carbon,
      missing < 0.04 ? "" : worms,
    ];
  },
  rules: ["ph=between:0:14"],
};

/**
 * Ferry crossings: two hours in order within a day, direction and speed of the wind, passengers.
 */
const ferry: Example = {
  columns: ["departure", "arrival", "wind", "speed", "aboard"],
  rows: 1500,
  row: ([which, share], [a, b, c, d]) => {
    const speed = Math.exp(1.9 + 0.5 * b);
    // Degrees clockwise from north, mostly west.
    const wind = (((((which < 0.6 ? 90 : 220) + 35 * c) % 360) + 360) % 360) - 180;
    const against = 0.5 + 0.5 * Math.cos(((wind + 90) * Math.PI) / 180);
    const departure = 24 * logistic((share < 0.5 ? -0.85 : 0.7) + 0.28 * a);
    const arrival =
      departure + (24 - departure) * logistic(-2.1 + 0.04 * speed * (0.4 + against) + 0.2 * d);
    const aboard = counted(
      12 + 70 * Math.exp(-((departure - 8) ** 2) / 6) + 50 * Math.exp(-((departure - 17) ** 2) / 8),
      d,
    );
    return [departure, arrival]
      .map((hour) => rounded(hour, 3))
      .concat(rounded(wind, 1), rounded(speed, 2), aboard);
  },
  rules: ["0<departure<arrival<24", "wind=angle:360"],
};

const made: Readonly<Record<string, Example>> = { soil, ferry };

export interface ExampleTable {
  readonly text: string;
  readonly rules: readonly string[];
}

/** An example by name: its CSV text and its rules; undefined for an unknown name. */
export function exampleTable(name: string): ExampleTable | undefined {
  const from = fold(key("example"), name);
  if (name === "moons") {
    const { columns, values, rows } = generate("two-moons", 1500, from);
    const row = (i: number): number[] =>
      columns.map((_, j) => rounded(values[i * columns.length + j], 4));
    return {
      text: serializeCells(
        columns,
        Array.from({ length: rows }, (_, i) => row(i)),
      ),
      rules: [],
    };
  }
  const example = Object.hasOwn(made, name) ? made[name] : undefined;
  if (!example) return undefined;
  const { columns, rows, row, rules } = example;
  const u = uniform(fold(from, "u"), [rows, 2], { dtype: "float64" }).data;
  const z = normal(fold(from, "z"), [rows, 5], { dtype: "float64" }).data;
  const cells = Array.from({ length: rows }, (_, i) =>
    row(u.subarray(2 * i, 2 * i + 2), z.subarray(5 * i, 5 * i + 5)),
  );
  return { text: serializeCells(columns, cells), rules };
}
