/** A process that does parts: of a command on this machine, or of a worker of a queue. */
import { serveRunner } from "diffeo-queue/node";
import { RELEASE } from "../shell/parts.ts";
import { kinds } from "./kinds.ts";

serveRunner({ kinds, release: RELEASE });
