/**
 * The six pieces, drawn for this project on a square of 100 × 100. A piece is the union of a few
 * simple shapes. They are drawn twice, wider in the colour of the outline and then in that of the
 * body, which gives them one common outline. White and black differ in lightness only, so that they
 * are distinct without colour vision.
 */
import { PIECES } from "./position.ts";

interface Drawing {
  /** Closed shapes whose union is the silhouette; all clockwise, so that overlaps stay filled. */
  readonly body: string;
  /** Lines upon it. */
  readonly lines?: string;
  /** Dots upon it. */
  readonly dots?: string;
}

const disc = (x: number, y: number, r: number, ry = r): string =>
  `M${x - r} ${y}a${r} ${ry} 0 1 1 ${2 * r} 0a${r} ${ry} 0 1 1 ${-2 * r} 0Z`;

const foot = (half: number): string =>
  `M${50 - half} 87V81Q${50 - half} 76 ${55 - half} 76H${45 + half}Q${50 + half} 76 ${50 + half} 81V87Z`;

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  P: {
    body: `${foot(22)}M35 77Q46 66 45 48H55Q54 66 65 77Z${disc(50, 50, 12.5, 4)}${disc(50, 35, 13)}`,
  },
  N: {
    body: `${foot(26)}M33 77C33 65 46 60 47 49C42 54 37 54 33 58.5C30 62 24 61 22 56C21 50 27 44 30 37C31.5 31 35 27 39 25L38 14L48.5 21.5C67 24 76 44 72 77Z`,
    lines: "M55 29C65 36 68 52 66.5 69",
    dots: `${disc(40, 36, 2.8)}${disc(27, 53.5, 1.7)}`,
  },
  B: {
    body: `${foot(26)}M33 77Q42 74 42 68H58Q58 74 67 77Z${disc(50, 67, 15, 4)}M50 20C63 29 70 43 65 55Q62 62 57 65H43Q38 62 35 55C30 43 37 29 50 20Z${disc(50, 17, 5)}`,
    lines: "M50 35V53M42 43H58",
  },
  R: {
    body: `${foot(26)}M33 77L37.5 42H62.5L67 77Z M30 43V21H40V28H45.5V21H54.5V28H60V21H70V43L64 48H36Z`,
    lines: "M37 47.5H63M35 68H65",
  },
  Q: {
    body: `${foot(28)}M30 77L28 70L18 36L33 53L33.5 26L44 50L50 22L56 50L66.5 26L67 53L82 36L72 70L70 77Z${disc(17, 33, 5)}${disc(33.5, 23, 5)}${disc(50, 18.5, 5)}${disc(66.5, 23, 5)}${disc(83, 33, 5)}`,
    lines: "M29.5 67.5Q50 61 70.5 67.5",
  },
  K: {
    body: `${foot(28)}M31 77C31 66 20 58 22 46C25 33 46 33 50 47C54 33 75 33 78 46C80 58 69 66 69 77Z M50 52C41 44 42 32 50 29C58 32 59 44 50 52Z M46.8 33V24.5H39V18H46.8V10H53.2V18H61V24.5H53.2V33Z`,
    lines: "M30.5 67.5Q50 61 69.5 67.5M50 50V62",
  },
};

/** Body and outline of white's pieces and of black's. */
const PAINT = {
  white: { body: "#ffffff", outline: "#1f2328", width: 6 },
  black: { body: "#262a30", outline: "#f6f6f4", width: 5 },
} as const;

/** An SVG group that shows a piece, by its class, on the square from (0, 0) to (100, 100). */
export function pieceSvg(k: number, id?: string): string {
  const letter = PIECES[k];
  const { body, lines, dots } = DRAWINGS[letter.toUpperCase()];
  const paint = k < 6 ? PAINT.white : PAINT.black;
  const parts = [
    `<path d="${body}" fill="${paint.outline}" stroke="${paint.outline}" stroke-width="${paint.width}" stroke-linejoin="round"/>`,
    `<path d="${body}" fill="${paint.body}"/>`,
  ];
  if (lines)
    parts.push(
      `<path d="${lines}" fill="none" stroke="${paint.outline}" stroke-width="3" stroke-linecap="round"/>`,
    );
  if (dots) parts.push(`<path d="${dots}" fill="${paint.outline}"/>`);
  return `<g${id ? ` id="${id}"` : ""} transform="translate(-4 -5) scale(1.08)">${parts.join("")}</g>`;
}
