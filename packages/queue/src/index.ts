/**
 * diffeo-queue: runs jobs (`diffeo/job`) in processes of this machine, in a folder that machines
 * share, or through a queue for many machines.
 */
export * from "./node/index.ts";
