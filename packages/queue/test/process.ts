/** A process that does jobs of the tests' kinds. */
import { serveRunner } from "diffeo-queue";
import { kinds, RELEASE } from "./kinds.ts";

serveRunner({ kinds, release: RELEASE });
