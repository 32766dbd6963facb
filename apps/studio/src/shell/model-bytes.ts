/**
 * The bytes of a model that is served beside the page, with progress as they come. They are kept by the browser under their
 * address, which changes with their content, so that the next visit does not wait.
 */

const CACHE = "diffeo-models";

/** Where a page is not served securely the browser offers no cache. */
const openCache = (): Promise<Cache | undefined> =>
  "caches" in globalThis ? caches.open(CACHE).catch(() => undefined) : Promise.resolve(undefined);

async function read(response: Response, size: number, onProgress: (loaded: number) => void): Promise<Uint8Array> {
  if (!response.body) return new Uint8Array(await response.arrayBuffer());
  const parts: Uint8Array[] = [];
  let loaded = 0;
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    loaded += part.value.length;
    onProgress(Math.min(1, loaded / size));
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** @param onProgress the share that has come */
export async function modelBytes(url: string, onProgress: (share: number) => void): Promise<Uint8Array> {
  const cache = await openCache();
  const kept = await cache?.match(url);
  const response = kept ?? (await fetch(url).catch(() => undefined));
  if (!response?.ok)
    throw new Error(
      `The model did not arrive${response ? ` (status ${response.status})` : ""}. See that ${url} is served, and try again.`,
    );
  const size = Number(response.headers.get("content-length") ?? 0) || 2 ** 24;
  const bytes = await read(response, size, onProgress);
  if (cache && !kept) {
    const headers = { "content-length": String(bytes.length) };
    // No room is no trouble: it will be fetched again.
    await cache.put(url, new Response(bytes as BlobPart, { headers })).catch(() => undefined);
  }
  return bytes;
}
