/** `diffeo queue` on a server whose failed jobs were written by somebody else. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addFailed } from "../../../../packages/queue/test/failed.ts";
import { hasServer, type Server, startServer } from "../../../../packages/queue/test/server.ts";
import { printed } from "../run.ts";

describe.runIf(hasServer)("diffeo queue", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
    await addFailed(server, {
      deep: {
        name: "deep",
        data: `{"parameters":${"[".repeat(1e5)}${"]".repeat(1e5)}}`,
        failedReason: "no",
      },
      title: {
        name: "\x1b]0;title\x07",
        data: '{"parameters":{"a":"\u009b2J\u202e"}}',
        failedReason: "\x1b[2Jgo\rne",
      },
    });
  });
  afterAll(() => server.stop());

  it("shows a job that is nested 100,000 levels deep, and control characters as their Unicode pictures", async () => {
    const text = await printed("queue", "--queue", server.url);

    expect(text).toContain('deep "(nested too deeply to be shown)"');
    expect(text).toContain('␛]0;title␇ {"a":"�2J�"}');
    expect(text).toMatch(/␛\[2Jgo␍ne/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    const { failures } = JSON.parse(await printed("queue", "--queue", server.url, "--json"));
    expect(failures).toHaveLength(2);
  });
});
