/**
 * Graphs of a table, compiled when they are first needed and kept between calls. Keys, given
 * cells, levels and the directions of a pattern are inputs, so a call that differs only in these
 * compiles nothing. A graph is for one number of rows, since rounding depends on it. The memory of
 * all graphs is bounded: where there is no room for another, the least recently used are freed.
 */
import { fail } from "diffeo/graph";
import { type Engine, type EngineOptions, engineOf } from "./engine.ts";

/** Something that has sessions. */
interface Opened {
  dispose(): Promise<void>;
}

export interface Graphs {
  /**
   * `use` with what is open under a name for so many rows of a network, opened now if it is not.
   */
  readonly take: <T extends Opened, R>(
    name: string,
    rows: number,
    open: (engine: Engine) => T | Promise<T>,
    use: (opened: T) => Promise<R>,
  ) => Promise<R>;
  /** Frees all of them. Taking one afterwards is an error. */
  readonly dispose: () => Promise<void>;
}

interface Held {
  readonly opened: Promise<Opened>;
  readonly room: number;
  /** Calls that are using it. */
  users: number;
}

/**
 * Rows whose activations are held, and how many rows' worth the weights and plan of a graph are.
 */
const [ROOM, OWN] = [20_000, 1000];

/** What could not be opened has nothing to free. */
const free = ({ opened }: Held): Promise<void> =>
  opened.then(
    (one) => one.dispose(),
    () => undefined,
  );

export function openGraphs(options: EngineOptions = {}): Graphs {
  const engine = engineOf(options);
  // The one that was taken last is last.
  const held = new Map<string, Held>();
  let isOpen = true;
  const makeRoom = async (needed: number): Promise<void> => {
    const freed: Held[] = [];
    let taken = [...held.values()].reduce((sum, { room }) => sum + room, needed);
    for (const [name, one] of held) {
      if (taken <= ROOM) break;
      if (one.users > 0) continue;
      held.delete(name);
      freed.push(one);
      taken -= one.room;
    }
    await Promise.all(freed.map(free));
  };
  const open = (name: string, rows: number, from: () => Opened | Promise<Opened>): Held => {
    const room = OWN + rows;
    const opened = makeRoom(room).then(from);
    opened.catch(() => held.delete(name));
    return { opened, room, users: 0 };
  };
  return {
    take: async (kind, rows, from, use) => {
      if (!isOpen) fail("disposed", "this model was disposed", "read or fit it again");
      const name = `${kind}, ${rows} rows`;
      const one = held.get(name) ?? open(name, rows, () => from(engine));
      held.delete(name);
      held.set(name, one);
      one.users++;
      try {
        return await use((await one.opened) as Awaited<ReturnType<typeof from>>);
      } finally {
        one.users--;
      }
    },
    dispose: async () => {
      isOpen = false;
      const all = [...held.values()];
      held.clear();
      await Promise.all(all.map(free));
    },
  };
}

/** Work with graphs that nothing else uses. */
export async function withGraphs<R>(
  options: EngineOptions,
  use: (graphs: Graphs) => Promise<R>,
): Promise<R> {
  const graphs = openGraphs(options);
  return use(graphs).finally(() => graphs.dispose());
}
