/**
 * diffeo as a function: run(["chess", "sample", "--count", "4"], io) does what the command does and
 * returns its exit code.
 */
import { Command, CommanderError } from "commander";
import { commands, type Group, type Leaf } from "./commands.ts";
import type { Io } from "./shell/io.ts";
import { renamedNotice } from "./shell/renamed.ts";
import { version } from "./shell/version.ts";
import { guardedIo } from "./shell/visible.ts";

export type { Io, Output } from "./shell/io.ts";

const isLeaf = (entry: Leaf | Group): entry is Leaf => "load" in entry;

const examplesText = (examples: readonly string[]): string =>
  [examples.length === 1 ? "Example:" : "Examples:", ...examples.map((one) => `  ${one}`)].join(
    "\n",
  );

/** Declares every command. Returns the command that the words name; only its own code is loaded. */
async function declare(
  parent: Command,
  group: Group,
  words: readonly string[],
  io: Io,
): Promise<Command> {
  let named = parent;
  for (const [name, entry] of Object.entries(group.commands)) {
    const command = parent.command(name).summary(entry.about).description(entry.about);
    const chosen = words[0] === name;
    if (!isLeaf(entry)) {
      const below = await declare(command, entry, chosen ? words.slice(1) : [], io);
      if (chosen) named = below;
    } else if (chosen) {
      (await entry.load()).declare(command, io);
      if (entry.examples) command.addHelpText("after", `\n${examplesText(entry.examples)}`);
      named = command;
    }
  }
  return named;
}

/** Replaces the old name of a command by its new one, and prints a notice. */
function withNewNames(argv: readonly string[], { stderr }: Io): readonly string[] {
  let group = commands;
  for (const [i, word] of argv.entries()) {
    if (word === "help") continue;
    const renamed = Object.entries(group.commands).find(
      ([, entry]) => isLeaf(entry) && entry.oldName === word,
    );
    if (renamed) {
      const path = ["diffeo", ...argv.slice(0, i)].join(" ");
      stderr.write(renamedNotice(`${path} ${word}`, `${path} ${renamed[0]}`));
      return argv.with(i, renamed[0]);
    }
    const entry = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
    if (!entry || isLeaf(entry)) break;
    group = entry;
  }
  return argv;
}

/** Maximum length of Commander's errors, which repeat the user's input in full. */
const MOST = 1000;

/** The text; if it is too long, its beginning and its end. */
const bounded = (text: string): string =>
  text.length <= MOST
    ? text
    : `${text.slice(0, MOST / 2)}… (${(text.length - MOST).toLocaleString("en")} characters) ` +
      `…${text.slice(-MOST / 2)}`;

/** @param words the words after `diffeo` */
export async function run(words: readonly string[], streams: Io): Promise<number> {
  const io = guardedIo(streams);
  const argv = withNewNames(words, io);
  const { stdout, stderr } = io;
  const width = (columns = 80): number => columns;
  const program = new Command("diffeo")
    .version(version)
    .showHelpAfterError("(add --help for the options)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: (text, write) => write(bounded(text)),
      getOutHelpWidth: () => width(stdout.columns),
      getErrHelpWidth: () => width(stderr.columns),
      getOutHasColors: () => stdout.isTTY === true,
      getErrHasColors: () => stderr.isTTY === true,
    });
  let named = program;
  try {
    named = await declare(
      program.description(commands.about),
      commands,
      argv.filter((word) => word !== "help"),
      io,
    );
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has reported the error; help and version are not errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { reportError } = await import("./shell/exit.ts");
    return reportError(error, stderr, named);
  }
}
