/**
 * Activation functions. Each is one operation of the runtime if it has one:
 *
 *   relu(x) = max(x, 0)      relu²(x) = max(x, 0)²
 *   silu(x) = x σ(x) = x/(1 + e⁻ˣ)
 *   gelu(x) = x Φ(x) = x (1 + erf(x/√2))/2, or with tanh(√(2/π)(x + 0.044715 x³)) for the erf
 *
 * relu² has the cheapest derivative, 2 max(x, 0): one pass over memory, compared with four for silu
 * and nine for gelu.
 */
import { add, mul, neg, sub } from "./arithmetic.ts";
import { unary } from "./elementwise.ts";
import { erf, erfValue } from "./erf.ts";
import { internal } from "./error.ts";
import { greater } from "./logic.ts";
import { mapUnary } from "./loops.ts";
import {
  asTensor,
  type Make,
  type Operand,
  primitive,
  rebuild,
  requireFloat,
  type Tensor,
} from "./tensor.ts";
import { exp, sigmoid, sigmoidValue, tanh } from "./transcendental.ts";
import { cast } from "./value.ts";

const float =
  (name: string) =>
  ([x]: readonly Tensor[]): Tensor => {
    requireFloat(x, name);
    return x;
  };

const reluNode: Make = primitive({
  name: "relu",
  infer: float("relu"),
  vjp: (g, { inputs: [x] }) => mul(g, cast(greater(x, 0), g.dtype)),
  batch: rebuild,
  emit: (_, inputs, emitter) => emitter.node("Relu", inputs),
  evaluate: (_, [x]) => mapUnary(x, (v) => (v > 0 || Number.isNaN(v) ? v : 0)),
});

/** The rectifier max(x, 0), element by element. Its derivative at 0 is 0. */
export const relu = (x: Operand): Tensor => reluNode([asTensor(x)], {});

const squaredReluNode: Make = primitive({
  name: "squaredRelu",
  infer: float("squaredRelu"),
  vjp: (g, { inputs: [x] }) => mul(mul(g, relu(x)), 2), // (max(x, 0)²)′ = 2 max(x, 0)
  lower: ({ inputs: [x] }) => mul(relu(x), relu(x)),
  batch: rebuild,
  emit: () => internal("squaredRelu is lowered before it is written"),
  evaluate: (_, [x]) => mapUnary(x, (v) => (v > 0 || Number.isNaN(v) ? v * v : 0)),
});

/** The squared rectifier max(x, 0)², element by element. */
export const squaredRelu = (x: Operand): Tensor => squaredReluNode([asTensor(x)], {});

/**
 * σ as the factor of an activation. In float32 its absolute error is a rounding of 1, as that of
 * the runtime's own operator on a CPU, where it is 0 below −18 and takes a third of the time of
 * `sigmoid`.
 */
const gateNode: Make = unary("gate", {
  f: sigmoidValue,
  vjp: (g, x, s) => mul(g, mul(s, gateNode([neg(x)], {}))), // σ′(x) = σ(x)σ(−x)
  lower: (x) => (x.dtype === "float32" ? undefined : sigmoid(x)),
  emit: (x, emitter) => emitter.node("Sigmoid", [x]),
});

const siluNode: Make = unary("silu", {
  f: (x) => x / (1 + Math.exp(-x)),
  // (xσ)′ = σ + xσ(1 − σ) = σ + y(1 − σ), without cancellation for σ → 0 and σ → 1.
  vjp: (g, x, y) => {
    const s = gateNode([x], {});
    return mul(g, add(s, mul(y, sub(1, s))));
  },
  // If nothing else uses σ, as without derivatives, the runtime fuses the two operators.
  lower: (x) => mul(x, gateNode([x], {})),
  emit: () => internal("silu is lowered before it is written"),
});

/** The sigmoid linear unit x σ(x), element by element. */
export const silu = (x: Operand): Tensor => siluNode([asTensor(x)], {});

const CUBE = 0.044715;
const SLOPE = Math.sqrt(2 / Math.PI);

/** The two forms: f, and gelu in primitives with its derivative. */
const forms = {
  none: {
    operator: "Gelu",
    f: (x: number) => (x / 2) * (1 + erfValue(x / Math.SQRT2)),
    value: (x: Tensor) => mul(mul(x, 0.5), add(erf(mul(x, Math.SQRT1_2)), 1)),
    // Φ(x) + x φ(x), φ(x) = exp(−x²/2)/√(2π)
    slope: (x: Tensor) =>
      add(
        mul(add(erf(mul(x, Math.SQRT1_2)), 1), 0.5),
        mul(mul(x, exp(neg(mul(mul(x, x), 0.5)))), 1 / Math.sqrt(2 * Math.PI)),
      ),
  },
  tanh: {
    operator: "FastGelu",
    f: (x: number) => (x / 2) * (1 + Math.tanh(SLOPE * (x + CUBE * x ** 3))),
    value: (x: Tensor) => mul(mul(x, 0.5), add(inner(x), 1)),
    // ½(1 + T) + ½x(1 − T²)·√(2/π)(1 + 3·0.044715x²)
    slope: (x: Tensor) => {
      const t = inner(x);
      const bend = mul(mul(x, 0.5 * SLOPE), add(mul(mul(x, x), 3 * CUBE), 1));
      return add(mul(add(t, 1), 0.5), mul(sub(1, mul(t, t)), bend));
    },
  },
} as const;

/** T = tanh(√(2/π)(x + 0.044715x³)) */
const inner = (x: Tensor): Tensor => tanh(mul(mul(x, SLOPE), add(mul(mul(x, x), CUBE), 1)));

type Gelu = { approximate: keyof typeof forms };

const geluNode: Make<Gelu> = primitive<Gelu>({
  name: "gelu",
  infer: float("gelu"),
  vjp: (g, { inputs: [x], attributes: { approximate } }) => mul(g, forms[approximate].slope(x)),
  // The runtime's operators are float32 only, and FastGelu takes no scalar.
  lower: ({ inputs: [x], attributes: { approximate } }) =>
    x.dtype === "float32" && x.shape.length > 0 ? undefined : forms[approximate].value(x),
  batch: rebuild,
  emit: ({ attributes: { approximate } }, inputs, emitter) =>
    emitter.node(forms[approximate].operator, inputs, {}, { domain: "com.microsoft" }),
  evaluate: ({ attributes: { approximate } }, [x]) => mapUnary(x, forms[approximate].f),
});

/**
 * The Gaussian error linear unit x Φ(x), element by element. `tanh` is its usual approximation,
 * with an error below 5·10⁻⁴.
 */
export const gelu = (x: Operand, approximate: Gelu["approximate"] = "none"): Tensor =>
  geluNode([asTensor(x)], { approximate });
