/** A process that runs jobs for a command on this machine, or for a worker of a queue. */
import { serveRunner } from "diffeo-queue";
import { version } from "../shell/version.ts";
import { kinds } from "./kinds.ts";

serveRunner({ kinds, release: version });
