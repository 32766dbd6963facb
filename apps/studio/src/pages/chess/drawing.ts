/**
 * Draws boards on a canvas: the pieces of every square, each with its probability as opacity. The
 * style sheet draws the squares.
 */
import { CLASSES, EMPTY, pieceSvg, SQUARES, UNKNOWN } from "diffeo-chess";

/** The twelve pieces at one size, rasterised so that drawing them is fast. */
export type Pieces = readonly CanvasImageSource[];

const bySize = new Map<number, Promise<Pieces>>();

async function rasterised(k: number, size: number): Promise<CanvasImageSource> {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 100 ` +
    `100">${pieceSvg(k)}</svg>`;
  const image = new Image(size, size);
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  canvas.getContext("2d")?.drawImage(image, 0, 0, size, size);
  return canvas;
}

/**
 * The pieces at a size; each size is rasterised once.
 * @param size of a square, in pixels of the screen
 */
export function piecesAt(size: number): Promise<Pieces> {
  const made =
    bySize.get(size) ?? Promise.all(Array.from({ length: EMPTY }, (_, k) => rasterised(k, size)));
  bySize.set(size, made);
  return made;
}

/** A piece with a smaller byte is not drawn. */
const LEAST = 4;

/** The classes to draw on a square and their bytes, the most probable last; a known class alone. */
function shownAt(
  square: number,
  mixture: Uint8Array | undefined,
  known: number,
): [k: number, byte: number][] {
  if (known !== UNKNOWN) return known === EMPTY ? [] : [[known, 255]];
  const shown: [number, number][] = [];
  for (let k = 0; mixture && k < EMPTY; k++) {
    const byte = mixture[square * CLASSES + k];
    if (byte >= LEAST) shown.push([k, byte]);
  }
  return shown.sort((a, b) => a[1] - b[1]);
}

/**
 * Draws a board on a canvas of eight times the pieces' size.
 * @param mixture 64 × 13 bytes
 * @param known 64 classes
 * @param sure the probability to draw opaque
 */
export function drawBoard(
  canvas: HTMLCanvasElement,
  pieces: Pieces,
  size: number,
  mixture: Uint8Array | undefined,
  known: Uint8Array,
  sure: number,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  for (let square = 0; square < SQUARES; square++)
    for (const [k, byte] of shownAt(square, mixture, known[square])) {
      context.globalAlpha = Math.min(1, byte / (255 * sure));
      context.drawImage(pieces[k], (square & 7) * size, (square >> 3) * size);
    }
}
