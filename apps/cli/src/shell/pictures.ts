/** Pictures as files. The converter from SVG to PNG is loaded when a PNG is requested. */
import { writeFileAtomic } from "diffeo/node";
import type { Io } from "./io.ts";
import { type Planned, PNG, SVG } from "./outputs.ts";

/** The two files of a picture. */
export const pictureFiles = (name: string): Planned[] => [
  { path: `${name}.svg`, like: SVG },
  { path: `${name}.png`, like: PNG },
];

/**
 * An SVG as PNG. Warns if the machine has no font to write captions with: a figure without captions
 * looks complete.
 * @param name the picture's name in the warning
 */
export async function pngOf(io: Io, svg: string, name: string): Promise<Uint8Array> {
  const { hasFont, renderPng } = await import("diffeo-picture/node");
  if (!hasFont())
    io.stderr.write(
      `${name} has no captions because this machine has no font: install one (Debian: ` +
        `fonts-dejavu-core), or use the SVG\n`,
    );
  return renderPng(svg);
}

/** Writes `name.svg` and `name.png`. */
export async function writePicture(io: Io, name: string, svg: string): Promise<void> {
  await writeFileAtomic(`${name}.svg`, svg);
  await writeFileAtomic(`${name}.png`, await pngOf(io, svg, `${name}.png`));
}
