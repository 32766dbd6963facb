/** Example models with their data. */
export interface Example {
  readonly value: string;
  readonly label: string;
  readonly model: string;
  readonly data: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    value: "schools",
    label: "Eight schools",
    model: `export default model(({ parameter, observe }, { sigma }) => {
  const mu = parameter("mu", normal(0, 5));
  const tau = parameter("tau", halfCauchy(5));
  const theta = parameter("theta", normal(mu, tau), {
    shape: 8,
    centred: false,
  });
  observe("y", normal(theta, sigma));
});
`,
    data: `{ "y": [28, 8, -3, 7, -1, 1, 18, 12],
  "sigma": [15, 10, 16, 11, 9, 11, 10, 18] }
`,
  },
  {
    value: "line",
    label: "Robust regression",
    model: `export default model(({ parameter, observe }, { x }) => {
  const a = parameter("a", normal(0, 10));
  const b = parameter("b", normal(0, 5));
  const sigma = parameter("sigma", halfNormal(5));
  observe("y", studentT(4, add(a, mul(b, x)), sigma));
});
`,
    data: `x,y
-1.5,-2.1
-1.2,-1.3
-0.9,-1.2
-0.6,-0.1
-0.3,0.4
0,0.8
0.2,1.6
0.4,8.5
0.7,2.2
1,3.1
1.3,3.2
1.5,4.1
1.8,4.3
2.1,-3
2.4,5.6
`,
  },
  {
    value: "visits",
    label: "Zero-inflated counts",
    model: `export default model(({ parameter, observe }, { age }) => {
  const a = parameter("a", normal(0, 2));
  const b = parameter("b", normal(0, 1));
  const never = parameter("never", beta(1, 1));
  const logRate = add(a, mul(b, age));
  observe("visits", zeroInflated(never, poisson({ logRate })));
});
`,
    data: `{ "age": [-1.6, -1.4, -1.2, -1, -0.9, -0.7, -0.6, -0.4,
    -0.3, -0.1, 0, 0.1, 0.3, 0.4, 0.6, 0.7,
    0.9, 1, 1.2, 1.4, 1.6, 1.7, 1.9, 2],
  "visits": [1, 0, 0, 2, 1, 0, 2, 0,
    3, 1, 0, 4, 0, 3, 2, 0,
    5, 4, 0, 6, 3, 0, 8, 7] }
`,
  },
];
