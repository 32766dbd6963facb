/** Properties draw the same cases every time, so that a failure is a change; FC_SEED=NUMBER draws others. */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 2024) });
