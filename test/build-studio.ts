/** The studio, built before the first test that opens it. */
import { builtStudio } from "./build.ts";

export default function setup(): void {
  builtStudio();
}
