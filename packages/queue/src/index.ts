/**
 * diffeo-queue: jobs (`diffeo/job`) on processes of this machine, on a folder that machines share,
 * or on a queue of many machines.
 */
export * from "./node/index.ts";
