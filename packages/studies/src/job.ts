/** A task of a study as a job: the study's name and the task, to the task's result. */
import { fail } from "diffeo/graph";
import { type Input, type Job, jobOf, type Kind } from "diffeo/job";
import * as v from "valibot";
import { isStudy, type StudyName, studyNamed } from "./catalogue.ts";
import type { Study } from "./study/study.ts";

/** A task, and the study it is of. */
interface TaskParameters {
  readonly study: StudyName;
  /** Of the study: another one gives other records. */
  readonly version: number;
  readonly task: object;
}

/** The file that a task needs, where it does. */
interface TaskFile {
  readonly file?: Uint8Array;
}

const parameters = v.strictObject({
  study: v.custom<StudyName>((name) => typeof name === "string" && isStudy(name)),
  version: v.pipe(v.number(), v.safeInteger()),
  task: v.looseObject({}),
});

/** A task of a study as a kind of job. */
export const taskKind: Kind<TaskParameters, TaskFile, unknown> = {
  name: "study/task",
  version: 1,
  parameters,
  inputs: { file: (bytes) => bytes },
  run: async ({ study: name, version, task }, { device, input, report, signal }) => {
    const study = await studyNamed(name);
    if (study.version !== version)
      fail(
        "data",
        `this is version ${study.version} of the study ${name}, the job is of version ${version}`,
        "run the same release everywhere",
      );
    const file = async (): Promise<Uint8Array> =>
      (await input("file")) ?? fail("usage", `the task of ${name} has no file`, "give it one");
    return study.run(v.parse(study.task, task), { device, file, report, signal });
  },
  serialize: (result) => new TextEncoder().encode(`${JSON.stringify(result)}\n`),
  parse: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
  misfit: () => undefined,
};

/**
 * A task of a study as a job.
 *
 * @param file the file that the task needs, where it does
 * @param device where networks run; default `cpu`
 */
export const taskJob = (
  study: Study,
  task: object,
  file?: Input<Uint8Array>,
  device = "cpu",
): Job<TaskParameters, TaskFile, unknown> =>
  jobOf(
    taskKind,
    { study: study.name as StudyName, version: study.version, task },
    { inputs: file ? { file } : {}, device },
  );
