/**
 * Distances to exact samples by number of steps, near the boundary: 10³ times the energy distance,
 * medians over five maps and ten seeds of the study sample-where (a = 4). A test compares the
 * numbers with its records.
 */
export const STEPPED = [25, 100, 400] as const;
/** Between two sets of exact samples: the fifth lowest and the fifth highest of 50. */
export const CHANCE = [0.321, 3.31] as const;
export const BY_STEPS = [
  { way: "Euler–Maruyama in x", colour: "var(--blue)", distances: [0.874, 0.9, 1.93] },
  { way: "Euler–Maruyama in y", colour: "var(--vermilion)", distances: [115, 61.4, 10.1] },
  { way: "Milstein in y", colour: "var(--orange)", distances: [59.4, 35, 10.2] },
] as const;
