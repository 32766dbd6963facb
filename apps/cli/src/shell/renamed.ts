/** Options that were renamed: the old name works for one release, with a notice on stderr. */
import type { EventEmitter } from "node:events";
import { type Command, Option } from "commander";
import type { Io } from "./io.ts";

/** The notice for an old name on the command line. */
export const renamedNotice = (old: string, now: string): string =>
  `${old} is now called ${now}; the old name will be removed in the next release\n`;

/**
 * Lets `old` (`--method`) stand for `now` (`--solver`), an option that the command has. The value
 * is parsed and checked as the new option's, after old values are replaced by their new names.
 */
export function acceptOldOption(
  command: Command,
  io: Io,
  old: string,
  now: string,
  values: Readonly<Record<string, string>> = {},
): Command {
  const option = new Option(`${old} <value>`).hideHelp();
  command.addOption(option);
  return command.on(`option:${option.name()}`, (value: string) => {
    io.stderr.write(renamedNotice(old, now));
    // A command is an EventEmitter, which its types do not say.
    (command as unknown as EventEmitter).emit(
      `option:${now.replace(/^--/, "")}`,
      Object.hasOwn(values, value) ? values[value] : value,
    );
  });
}

/** Accepts old names of an option's values. Call it after `choices`. */
export function acceptOldValue(
  option: Option,
  io: Io,
  values: Readonly<Record<string, string>>,
): Option {
  const parse = option.parseArg as (text: string, before: unknown) => unknown;
  return option.argParser((text, before) => {
    if (!Object.hasOwn(values, text)) return parse(text, before);
    io.stderr.write(renamedNotice(`${option.long} ${text}`, `${option.long} ${values[text]}`));
    return parse(values[text], before);
  });
}

/** `--method` as the old name of `--solver`, and the old names of two solvers. */
export const acceptMethod = (command: Command, io: Io): Command =>
  acceptOldOption(command, io, "--method", "--solver", {
    exponential: "dpmSolver2M",
    exponentialSde: "dpmSolver2MSde",
  });
