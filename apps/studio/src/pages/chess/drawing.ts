/** Boards on a canvas: every square's pieces, each as opaque as it is probable. The squares under them are the page's style. */
import { CLASSES, EMPTY, pieceSvg, SQUARES } from "diffeo-chess";

/** The twelve pieces at one size, as pictures that are drawn fast. */
export type Pieces = readonly CanvasImageSource[];

const bySize = new Map<number, Promise<Pieces>>();

async function rasterised(k: number, size: number): Promise<CanvasImageSource> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 100 100">${pieceSvg(k)}</svg>`;
  const image = new Image(size, size);
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  canvas.getContext("2d")?.drawImage(image, 0, 0, size, size);
  return canvas;
}

/** @param size of a square in the screen's pixels */
export function piecesAt(size: number): Promise<Pieces> {
  const made = bySize.get(size) ?? Promise.all(Array.from({ length: EMPTY }, (_, k) => rasterised(k, size)));
  bySize.set(size, made);
  return made;
}

/** Below this a piece is invisible. */
const LEAST = 4;

/** Draws a mixture, 64 × 13 bytes, on a canvas of eight times the pieces' size. */
export function drawMixture(canvas: HTMLCanvasElement, pieces: Pieces, size: number, mixture: Uint8Array): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  for (let square = 0; square < SQUARES; square++) {
    const at = square * CLASSES;
    const shown: number[] = [];
    for (let k = 0; k < EMPTY; k++) if (mixture[at + k] >= LEAST) shown.push(k);
    // The likeliest is drawn last, on top.
    shown.sort((a, b) => mixture[at + a] - mixture[at + b]);
    for (const k of shown) {
      context.globalAlpha = mixture[at + k] / 255;
      context.drawImage(pieces[k], (square & 7) * size, (square >> 3) * size);
    }
  }
}
