/** Nodes and weights of Gauss and Legendre on (−1, 1), by Newton's method. */
export function gaussLegendre(count: number): { readonly at: number; readonly weight: number }[] {
  return Array.from({ length: count }, (_, i) => {
    let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 1;
    for (let k = 0; k < 100; k++) {
      let [before, value] = [1, x];
      for (let j = 2; j <= count; j++)
        [before, value] = [value, ((2 * j - 1) * x * value - (j - 1) * before) / j];
      slope = (count * (x * value - before)) / (x * x - 1);
      const step = value / slope;
      x -= step;
      if (Math.abs(step) < 1e-15) break;
    }
    return { at: x, weight: 2 / ((1 - x * x) * slope ** 2) };
  });
}
