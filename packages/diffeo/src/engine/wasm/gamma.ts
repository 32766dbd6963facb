/**
 * log Γ and its derivative ψ in float64 for x ≥ 0, one number at a time, within 2 units in the last
 * place, beside their zeros too.
 *
 *   log Γ x = (x − 1)(x − 2) R(x)                          ½ ≤ x < 3: R, a polynomial on each of five
 *                                                          intervals, has no zero, and the factors are exact
 *           = log Γ(1 + x) − log x                         below
 *           = log((x − 1) … (x − n)) + log Γ(x − n)        3 ≤ x < 8, x − n in [2, 3)
 *           = (x − ½)(log x − 1) + ½ log 2π − ½ + S(x)     from 8 on: Stirling, its product in two parts
 *   ψ x     = (x − x₀) Q(x)                                ½ ≤ x < 8: x₀ = 1.4616… in two parts
 *           = ψ(1 + x) − 1/x                               below
 *           = log x − 1/2x − T(1/x²)                       from 8 on
 *
 * R and Q are interpolated at Chebyshev points with errors below 2⁻⁵⁹, in x − the middle of their
 * interval; the first coefficient is in two parts.
 */
import { type Code, type Expr, f64, int, select } from "./code.ts";
import { horner } from "./exponential.ts";
import { lanes } from "./lanes.ts";
import { exactSum, logPair, type Pair, product } from "./special.ts";

const l = lanes.f64.one;

/** A polynomial on an interval. */
interface Fit {
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly c: readonly number[];
}

const logGammaFits: readonly Fit[] = [
  {
    from: 0.5,
    to: 0.75,
    low: 1.891897902264342e-17,
    c: [
      0.6997905367058234, -0.4423279036923648, 0.43971339316895464, -0.5164035011659978,
      0.6568740685606298, -0.8745863563238643, 1.1994434752403624, -1.679791402582678,
      2.389841913592302, -3.442227600645625, 5.00772747113732, -7.347950782666393,
      10.853046776004364, -15.950752767756718, 23.815776368154047, -42.089595014729134,
      63.44377166611912,
    ],
  },
  {
    from: 0.75,
    to: 1,
    low: 1.2324298132667123e-17,
    c: [
      0.6105508069357107, -0.2903364471328495, 0.20906035989821542, -0.17656397230596654,
      0.16134450059705824, -0.1542857709477574, 0.15191040120636823, -0.15265662967632007,
      0.15575097852171033, -0.1607967793354671, 0.16758334533323785, -0.1756935404454347,
      0.18575666267663446, -0.21174043359421707, 0.2263546174611897,
    ],
  },
  {
    from: 1,
    to: 1.5,
    low: -4.033604401731735e-17,
    c: [
      0.5241164609163369, -0.18455838443681608, 0.09456573803301091, -0.056273407273818285,
      0.03615879797542416, -0.024308805034753914, 0.01682767907679148, -0.011888238827465274,
      0.008525117919379873, -0.006183930152685169, 0.004526851789362695, -0.003339829864567926,
      0.002478654300849903, -0.00182908008305119, 0.0013707490482406425, -0.0012166344629023404,
      0.0009196654642302735,
    ],
  },
  {
    from: 1.5,
    to: 2,
    low: 1.4097142567474574e-17,
    c: [
      0.4501393121092563, -0.11948158662524276, 0.0445204471985097, -0.019053957830233514,
      0.00877637042524237, -0.004226194128338483, 0.0020955338816347592, -0.001060565891133046,
      0.0005448968809194371, -0.00028319780379355776, 0.00014852078889159766, -7.831227457341395e-5,
      4.162338844905075e-5, -2.3854570612650696e-5, 1.2807015979945507e-5,
    ],
  },
  {
    from: 2,
    to: 3,
    low: 2.7592977120495525e-17,
    c: [
      0.37957716063055885, -0.07466357415449941, 0.019905154304743208, -0.006018768527036914,
      0.0019490574889463365, -0.0006586397065650056, 0.00022905363747507287, -8.130229408034726e-5,
      2.929928312004998e-5, -1.0682259123883373e-5, 3.9305860909127655e-6, -1.4575541733757617e-6,
      5.436082854534496e-7, -2.015090104183497e-7, 7.585695078040205e-8, -3.385821013938236e-8,
      1.2848137769988069e-8,
    ],
  },
];
const digammaFits: readonly Fit[] = [
  {
    from: 0.5,
    to: 0.75,
    low: 6.675893901785186e-17,
    c: [
      1.7363769409451766, -1.9898903503859362, 2.9217145855498026, -4.55010757665239,
      7.2126692907173835, -11.501482671013473, 18.379405107186177, -29.3932265595348,
      47.020778358100884, -75.22812032925515, 120.35999400717365, -192.5740644012023,
      308.3192898281282, -493.3101364319761, 776.511740782484, -1242.418510208581,
      2424.2310127538667, -3878.7695134429046,
    ],
  },
  {
    from: 0.75,
    to: 1,
    low: 8.557523212122223e-17,
    c: [
      1.3705642939001523, -1.082751208696587, 1.1024326124709407, -1.2058407918925693,
      1.35325755298849, -1.5343979028861772, 1.7474151546095817, -1.9938465759831856,
      2.2770060030027732, -2.6014098375988297, 2.972723378546655, -3.397150106748813,
      3.8709148451615008, -4.4238324900349015, 5.505170741680759, -6.291603421271303,
    ],
  },
  {
    from: 1,
    to: 1.5,
    low: 3.635160452975802e-17,
    c: [
      1.0747589096650145, -0.5791664818235417, 0.40023923094282465, -0.2998194686573864,
      0.23226650153188502, -0.1827773492838793, 0.1449583674692417, -0.11542831205414934,
      0.09210990119870723, -0.07358634649164202, 0.058823576244651676, -0.04703920581273237,
      0.03764733288479069, -0.03011402042745277, 0.023699371042433547, -0.018958741550904424,
      0.018495857097213627, -0.014796528051356691,
    ],
  },
  {
    from: 1.5,
    to: 2,
    low: -7.080145499702322e-18,
    c: [
      0.8581832171262995, -0.3262546278681057, 0.15712011335204326, -0.08228558635577858,
      0.04479965445251827, -0.02489004848878596, 0.013985786218320424, -0.0079104688002991,
      0.004491811548923788, -0.002556685168883097, 0.0014574478762334245, -0.0008315404397966385,
      0.00047330940605914843, -0.00027029532745540235, 0.00016811214230985058,
      -9.604142607609597e-5,
    ],
  },
  {
    from: 2,
    to: 3,
    low: -2.226746947373195e-17,
    c: [
      0.677174892537307, -0.1799142139578079, 0.059528218094791106, -0.021389892336923913,
      0.008009421372740789, -0.0030702140247050656, 0.0011938447232211812, -0.0004684819130024272,
      0.00018494669121513901, -7.330815037677837e-5, 2.913706530466391e-5, -1.1602972867773437e-5,
      4.629644367968376e-6, -1.8477534821464932e-6, 7.260237263631117e-7, -2.9008168122009497e-7,
      1.4136235512712128e-7, -5.651580640702523e-8,
    ],
  },
  {
    from: 3,
    to: 5,
    low: -1.2753194843507187e-17,
    c: [
      0.4948524958436903, -0.08313591731327086, 0.016985737943871194, -0.0037457861854936483,
      0.0008601028315252528, -0.00020240681764919092, 4.840780125651293e-5, -1.1707284078823363e-5,
      2.8540862712121773e-6, -6.998774191813721e-7, 1.723764054704552e-7, -4.259596074795882e-8,
      1.0550647375129001e-8, -2.6188790003924302e-9, 6.537342809833902e-10, -1.627103061223676e-10,
      3.824734822660499e-11, -9.534219561122992e-12, 3.454618076045439e-12, -8.623018409317329e-13,
    ],
  },
  {
    from: 5,
    to: 8,
    low: 3.1409682799029904e-18,
    c: [
      0.3558516134564126, -0.03762469973627283, 0.004729854006002265, -0.0006366301245885721,
      8.892754739898582e-5, -1.2714905820387718e-5, 1.8472090322248885e-6, -2.714688614062579e-7,
      4.024147846727686e-8, -6.005076496925223e-9, 9.008176077066775e-10, -1.356893904536632e-10,
      2.050952567306766e-11, -3.114622138739735e-12, 4.731755706925304e-13, -6.959252929509597e-14,
      1.0607833131234708e-14, -2.1590050246176116e-15, 3.3009865314160643e-16,
    ],
  },
];

/** ψ(x₀) = 0 */
const ZERO = 1.4616321449683622;
const ZERO_LOW = 9.549995429965697e-17;
const HALF_LOG_TAU = 0.9189385332046727;
const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798]; // biome-ignore format: B₂, B₄, …
/** Of S(x)·x in 1/x², and of T(1/x²)·x². */
const STIRLING = BERNOULLI.map((b, k) => b / (2 * (k + 1) * (2 * k + 1)));
const DERIVED = BERNOULLI.map((b, k) => b / (2 * k + 2));

/** From here on Stirling's series; from FAR on nothing but (x − ½)(log x − 1). */
const LARGE = 8;
const FAR = 2 ** 60;

/** The value of fits at x + shift, in two parts; x is below the end of the last. */
function fitted(code: Code, fits: readonly Fit[], x: Expr, shift = 0): Pair {
  const [high, low] = [code.local("f64"), code.local("f64")];
  const place = (at: number): void => {
    const { from, to, low: rest, c } = fits[at];
    const write = (): void => {
      const u = code.let(l.sub(x, f64((from + to) / 2 - shift)));
      const tail = code.let(l.add(l.mul(horner(l, c.slice(1), u), u), f64(rest)));
      code.set(high, l.add(f64(c[0]), tail));
      code.set(low, l.sub(tail, l.sub(high, f64(c[0]))));
    };
    if (at === fits.length - 1) write();
    else code.when(l.lt(x, f64(to - shift)), write, () => place(at + 1));
  };
  place(0);
  return { high, low };
}

const times = (a: Expr, { high, low }: Pair): Expr => l.add(l.mul(a, high), l.mul(a, low));

/** log x of any positive number, in two parts. */
function wholeLog(code: Code, x: Expr): Pair {
  const tiny = code.let(l.lt(x, f64(2 ** -1022)));
  const normal = code.let(select(tiny, l.mul(x, f64(2 ** 54)), x));
  return logPair(code, normal, code.let(select(tiny, f64(54), f64(0))));
}

/** Where x is 0, negative, infinite or NaN. */
function edges(code: Code, x: Expr, at0: Expr, inside: (out: (value: Expr) => void) => void): Expr {
  const out = code.local("f64");
  const set = (value: Expr): void => code.set(out, value);
  const ordinary = int.and(l.lt(f64(0), x), l.lt(x, f64(Number.POSITIVE_INFINITY)));
  code.when(
    ordinary,
    () => inside(set),
    () => {
      const below = select(l.lt(x, f64(0)), f64(Number.NaN), x);
      set(select(l.eq(x, f64(0)), at0, below));
    },
  );
  return out;
}

/** (x − 1)(x − 2) R(x) for ½ ≤ x < 3, or that of 1 + x. */
function logGammaNear(code: Code, x: Expr, fits: readonly Fit[], shift = 0): Expr {
  const value = fitted(code, fits, x, shift);
  const [a, b] = [l.sub(x, f64(1 - shift)), l.sub(x, f64(2 - shift))];
  return times(code.let(l.mul(a, b)), value);
}

/** log((x − 1) … (x − n)) + log Γ(x − n), 2 ≤ x − n < 3. */
function logGammaMiddle(code: Code, x: Expr): Expr {
  const [rest, factors] = [code.local("f64"), code.local("f64")];
  code.set(rest, l.sub(x, f64(1)));
  code.set(factors, rest);
  code.while(
    () => l.le(f64(3), rest),
    () => {
      code.set(rest, l.sub(rest, f64(1)));
      code.set(factors, l.mul(factors, rest));
    },
  );
  const { high, low } = logPair(code, factors, f64(0));
  return l.add(high, l.add(low, logGammaNear(code, rest, logGammaFits.slice(-1))));
}

function logGammaLarge(code: Code, x: Expr): Expr {
  const { high, low } = logPair(code, x, f64(0));
  const size = code.let(l.sub(x, f64(0.5)));
  const main = product(code, size, high);
  const first = exactSum(code, main.high, code.let(l.neg(x)));
  const inverse = code.let(l.div(f64(1), x));
  const series = l.mul(horner(l, STIRLING, code.let(l.mul(inverse, inverse))), inverse);
  const rest = l.add(l.add(main.low, l.mul(size, low)), l.add(f64(HALF_LOG_TAU), series));
  return l.add(first.high, l.add(first.low, rest));
}

export function logGamma(code: Code, given: Expr): Expr {
  const x = code.let(given);
  return edges(code, x, f64(Number.POSITIVE_INFINITY), (set) =>
    code.when(
      l.lt(x, f64(0.5)),
      () => {
        const { high, low } = wholeLog(code, x);
        const next = logGammaNear(code, x, logGammaFits.slice(2, 3), 1);
        set(l.sub(l.sub(next, low), high));
      },
      () =>
        code.when(
          l.lt(x, f64(3)),
          () => set(logGammaNear(code, x, logGammaFits)),
          () =>
            code.when(
              l.lt(x, f64(LARGE)),
              () => set(logGammaMiddle(code, x)),
              () =>
                code.when(
                  l.lt(x, f64(FAR)),
                  () => set(logGammaLarge(code, x)),
                  () => set(l.mul(x, l.sub(logPair(code, x, f64(0)).high, f64(1)))),
                ),
            ),
        ),
    ),
  );
}

/** (x − x₀) Q(x) for ½ ≤ x < 8, or that of 1 + x. */
function digammaNear(code: Code, x: Expr, fits: readonly Fit[], shift = 0): Expr {
  const value = fitted(code, fits, x, shift);
  const off = code.let(l.sub(l.sub(x, f64(ZERO - shift)), f64(ZERO_LOW)));
  return times(off, value);
}

/** ψ, the derivative of log Γ. */
export function digamma(code: Code, given: Expr): Expr {
  const x = code.let(given);
  return edges(code, x, f64(Number.NEGATIVE_INFINITY), (set) =>
    code.when(
      l.lt(x, f64(0.5)),
      () => {
        const inverse = code.let(l.div(f64(1), x));
        set(l.sub(digammaNear(code, x, digammaFits.slice(2, 3), 1), inverse));
      },
      () =>
        code.when(
          l.lt(x, f64(LARGE)),
          () => set(digammaNear(code, x, digammaFits)),
          () => {
            const { high, low } = logPair(code, x, f64(0));
            const inverse = code.let(l.div(f64(1), x));
            const w = code.let(l.mul(inverse, inverse));
            const rest = l.add(l.mul(inverse, f64(0.5)), l.mul(horner(l, DERIVED, w), w));
            set(l.add(high, l.sub(low, rest)));
          },
        ),
    ),
  );
}
